package cost

import (
	"math"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/lines"
)

// What the agents print, shortened; the package documentation says where the
// formats come from.
const (
	claudeJSON = `{"type":"result","subtype":"success","is_error":false,"duration_ms":5210,"duration_api_ms":4890,"num_turns":3,` +
		`"result":"The tests pass now. {\"type\":\"result\",\"total_cost_usd\":99}","session_id":"s-1","total_cost_usd":0.125,` +
		`"usage":{"input_tokens":10,"cache_creation_input_tokens":2000,"cache_read_input_tokens":30000,"output_tokens":400,"service_tier":"standard"},` +
		`"modelUsage":{"opus":{"inputTokens":10,"outputTokens":400,"costUSD":0.12},"haiku":{"outputTokens":5,"costUSD":0.005}},"uuid":"u"}` + "\n"
	claudeStream = `{"type":"system","subtype":"init","session_id":"s-1","tools":["Bash"]}
{"type":"assistant","message":{"id":"m","usage":{"input_tokens":5,"output_tokens":1}},"session_id":"s-1"}
{"type":"user","message":{"content":[{"type":"tool_result","content":"\"result\" {"}]},"session_id":"s-1"}
` + claudeJSON
	// The second result of the same process: dollars and models are totals.
	claudeAgain = `{"type":"result","subtype":"success","session_id":"s-1","total_cost_usd":0.175,"usage":{"input_tokens":1,"output_tokens":100},` +
		`"modelUsage":{"opus":{"outputTokens":500},"haiku":{"outputTokens":5}}}` + "\n"
	// Another process that went on with the session: nothing of before is in it.
	claudeResumed = `{"type":"result","subtype":"success","session_id":"s-1","total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":900},` +
		`"modelUsage":{"opus":{"outputTokens":900},"haiku":{"outputTokens":6}}}` + "\n"
	codexJSON = `{"type":"thread.started","thread_id":"t-1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"turn.completed {"}}
{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":800,"output_tokens":50}}
`
	codexMore = `{"type":"thread.started","thread_id":"t-1"}
{"type":"turn.completed","usage":{"input_tokens":1500,"cached_input_tokens":800,"output_tokens":60,"reasoning_output_tokens":10}}
`
	geminiJSON = `{
  "session_id": "g",
  "response": "Done.",
  "stats": {
    "models": {
      "gemini-2.5-pro": {"api": {"totalRequests": 2}, "tokens": {"prompt": 900, "candidates": 20, "total": 940, "cached": 10}},
      "gemini-2.5-flash": {"tokens": {"total": 60}}
    },
    "tools": {"totalCalls": 1}
  }
}
`
	geminiStream = `{"type":"init","timestamp":"t","session_id":"g","model":"gemini-2.5-pro"}
{"type":"message","timestamp":"t","role":"assistant","content":"stats","delta":true}
{"type":"result","timestamp":"t","status":"success","stats":{"total_tokens":450,"input_tokens":150,"output_tokens":300,"tool_calls":3}}
`
)

// read is a reader and what gives it the transcripts of one stream.
type read struct {
	*Reader
	open carrier.Stream
	text lines.Shown
}

func (r *read) Write(p []byte) (int, error) {
	if r.text.To != nil {
		return r.text.Write(p)
	}
	return len(p), nil
}

func (r *read) Reset() {
	r.Reader.Reset()
	r.open.Reset()
	r.text.Reset()
}

func (r *read) Report() (usd float64, tokens int64, found bool) {
	r.open.Flush()
	if r.text.To != nil {
		r.text.End()
	}
	return r.Reader.Report()
}

// report reads the output cut into pieces of that many bytes.
func report(t testing.TB, spec, output string, piece int) *read {
	t.Helper()
	made, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	r := &read{Reader: made}
	if to := made.Line(); to != nil {
		r.text.To = func(line []byte, _ bool) { to(line) }
	}
	r.open.Part = func(carrier.Part) {}
	r.open.Fact = func(f carrier.Fact) {
		if u, ok := f.(carrier.Usage); ok {
			r.Used(u)
		}
	}
	feed(r, output, piece)
	return r
}

func feed(r *read, output string, piece int) {
	for len(output) > 0 {
		n := min(piece, len(output))
		_, _ = r.Write([]byte(output[:n]))
		_, _ = r.open.Write([]byte(output[:n]))
		output = output[n:]
	}
}

// As opencode run --format json prints it.
const opencodeSteps = `{"type":"step_finish","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_1","reason":"tool-calls","sessionID":"ses_1","type":"step-finish","tokens":{"total":1106,"input":1000,"output":100,"reasoning":1,"cache":{"write":2,"read":3}},"cost":0.25}}
{"type":"step_finish","timestamp":2,"sessionID":"ses_1","part":{"id":"prt_2","reason":"stop","sessionID":"ses_1","type":"step-finish","tokens":{"total":1200,"input":1100,"output":100,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0.5}}
`

func TestReader(t *testing.T) {
	const big = "noise { and [{ more\n"
	for _, c := range []struct {
		name, spec, output string
		usd                float64
		tokens             int64
		found              bool
	}{
		{"nothing", Claude, "", 0, 0, false},
		{"opencode", OpenCode, opencodeSteps, 0.75, 2306, true},
		{"opencode, restated", Auto, opencodeSteps + opencodeSteps[strings.Index(opencodeSteps, "\n")+1:], 0.75, 2306, true},
		{"opencode, of a model without a price", OpenCode, strings.ReplaceAll(strings.ReplaceAll(opencodeSteps, "0.25", "0"), "0.5", "0"), 0, 2306, true},
		{"opencode's steps are not Claude's", Claude, opencodeSteps, 0, 0, false},
		{"text only", Claude, "all done, cost $5\n", 0, 0, false},
		{"claude json", Claude, claudeJSON, 0.125, 32410, true},
		{"no line break", Claude, strings.TrimSpace(claudeJSON), 0.125, 32410, true},
		{"crlf", Claude, strings.ReplaceAll(claudeStream, "\n", "\r\n"), 0.125, 32410, true},
		{"claude stream", Claude, claudeStream, 0.125, 32410, true},
		{"claude in between", Claude, big + claudeJSON + big, 0.125, 32410, true},
		{"claude list", Claude, "[" + strings.ReplaceAll(strings.TrimSpace(claudeStream), "\n", ",") + "]\n", 0.125, 32410, true},
		{"claude list with blanks", Claude, "[" + strings.ReplaceAll(strings.TrimSpace(claudeStream), "\n", ", ") + "]\n", 0.125, 32410, true},
		{"pretty", Claude, "{\n  \"type\": \"result\",\n  \"subtype\": \"success\",\n  \"session_id\": \"s\",\n  \"total_cost_usd\": 0.5,\n  \"usage\": {\n    \"output_tokens\": 3\n  }\n}\n", 0.5, 3, true},
		{"two sessions", Claude, claudeJSON + strings.ReplaceAll(claudeJSON, "s-1", "s-2"), 0.25, 64820, true},
		{"one process, two results", Claude, claudeStream + claudeAgain, 0.175, 32511, true},
		{"a second process", Claude, claudeJSON + claudeResumed, 0.625, 33311, true},
		{"the same session, old format", Claude, strings.Repeat(`{"type":"result","subtype":"success","session_id":"s","total_cost_usd":0.1}`+"\n", 2), 0.2, 0, true},
		{"models were not told before", Claude, `{"type":"result","subtype":"success","session_id":"s-1","total_cost_usd":0.1}` + "\n" + claudeAgain, 0.275, 101, true},
		{"fewer dollars than before", Claude, strings.Replace(claudeJSON, "0.125", "0.5", 1) + claudeAgain, 0.675, 32511, true},
		{"zero is a report", Claude, `{"type":"result","subtype":"success","session_id":"","total_cost_usd":0}`, 0, 0, true},
		{"no session", Claude, strings.Repeat(`{"type":"result","subtype":"success","session_id":"","total_cost_usd":0.25}`+"\n", 2), 0.5, 0, true},
		{"no numbers", Claude, `{"type":"result","subtype":"success","session_id":"s","result":"x"}`, 0, 0, false},
		{"in the middle of a line", Claude, "x " + claudeJSON, 0.125, 32410, true},
		{"after a broken object", Claude, "{\"a\": [\n" + claudeJSON, 0.125, 32410, true},
		{"after a broken string", Claude, "{ don\"t\n" + claudeJSON, 0.125, 32410, true},
		{"another's", Claude, codexJSON + geminiJSON + geminiStream, 0, 0, false},
		{"codex json", Codex, codexJSON, 0, 1050, true},
		{"codex, the same thread", Codex, codexJSON + codexMore, 0, 1560, true},
		{"codex, two threads", Codex, codexJSON + strings.ReplaceAll(codexMore, "t-1", "t-2"), 0, 2610, true},
		{"codex text", Codex, "done\ntokens used\n1,234\n", 0, 1234, true},
		{"codex text, coloured", Codex, "\x1b[35mtokens used\x1b[0m\r\n\x1b[2m12,345\x1b[0m\r\n", 0, 12345, true},
		{"codex text, one line", Codex, "[2025-08-21T09:00:00] tokens used: 5,100\n", 0, 5100, true},
		{"codex text, twice", Codex, "tokens used\n1,234\nx\ntokens used\n6", 0, 1240, true},
		{"tokens in a sentence", Codex, "many tokens used\n1,234\n", 0, 0, false},
		{"tokens used, then words", Codex, "tokens used\nby whom?\n1,234\n", 0, 0, false},
		{"codex, another's", Codex, claudeJSON + geminiJSON, 0, 0, false},
		{"gemini json", Gemini, geminiJSON, 0, 1000, true},
		{"gemini stream", Gemini, geminiStream, 0, 450, true},
		{"gemini, another's", Gemini, claudeJSON + codexJSON, 0, 0, false},
		{"auto", Auto, claudeJSON + codexJSON + geminiJSON + geminiStream + "tokens used\n10\n", 0.125, 32410 + 1050 + 1000 + 450 + 10, true},
		{"gemini twice, behind a thread of codex", Auto, codexJSON + geminiStream + geminiStream, 0, 1050 + 900, true},
		{"dollars", `cost: \$(?P<usd>[0-9.]+)`, "cost: $0.25\nx\ncost: $0.5", 0.75, 0, true},
		{"both", `(?P<tokens>\S+) tokens, (?P<usd>\S+) USD`, "2.3k tokens, 0.25 USD\n1,000 tokens, $1 USD\n", 1.25, 3300, true},
		{"twice in a line", `t=(?P<tokens>\d+)`, "t=1 t=2\n", 0, 3, true},
		{"other name", `t=(?<tokens>\d+)`, "\x1b[1mt=\x1b[0m7\r\n", 0, 7, true},
		{"group without a match", `a(?P<usd>\d+)?`, "a\n", 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, piece := range []int{1, 2, 7, 64, 1 << 20} {
				r := report(t, c.spec, c.output, piece)
				for range 2 { // asking twice counts nothing twice
					usd, tokens, found := r.Report()
					if math.Abs(usd-c.usd) > 1e-9 || tokens != c.tokens || found != c.found || r.Problem() != "" {
						t.Errorf("pieces of %d: %g dollars, %d tokens, %v, %q; want %g, %d, %v", piece, usd, tokens, found, r.Problem(), c.usd, c.tokens, c.found)
					}
				}
			}
		})
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct{ spec, output, want string }{
		{Claude, `{"type":"result","subtype":"success","session_id":"","total_cost_usd":-1}`, "negative: -1 dollars"},
		{Claude, `{"type":"result","subtype":"success","session_id":"","usage":{"output_tokens":-1}}`, "negative: 0 dollars, -1 tokens"},
		{Claude, `{"type":"result","subtype":"success","session_id":"","total_cost_usd":10000.5}`, "more than the 10000"},
		{Claude, `{"type":"result","subtype":"success","session_id":"","total_cost_usd":1e999}`, "not a number"},
		{Claude, `{"type":"result","subtype":"success","session_id":"","total_cost_usd":"0.1"}`, "not a number"},
		{Claude, `{"type":"result","subtype":"success","session_id":"s","total_cost_usd":12`, "not a number"}, // killed as it was written
		{Codex, `{"type":"turn.completed","usage":{"input_tokens":10000000001}}`, "more than the 10000000000"},
		{`(?P<usd>\S+) USD`, "NaN USD\n", `"NaN" is not a number`},
		{`(?P<usd>\S+) USD`, "0,12 USD\n", `"0,12" is not a number`},
		{`(?P<usd>\S+) USD`, "-1 USD\n", "negative"},
		{`(?P<usd>\S+) USD`, "1e999 USD\n", "not a number"},
		{`(?P<tokens>\S+) tokens`, "many tokens\n", `tokens "many" is not a number`},
	} {
		r := report(t, c.spec, c.output, 1000)
		if usd, tokens, found := r.Report(); found || usd != 0 || tokens != 0 || !strings.Contains(r.Problem(), c.want) {
			t.Errorf("%.60s: %g %d %v %q, want %s", c.output, usd, tokens, found, r.Problem(), c.want)
		}
		r.Reset()
		if r.Problem() != "" {
			t.Error("the problem outlives the iteration")
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		r := &Reader{}
		r.add(bad, 0)
		r.add(0, bad)
		if r.found || r.Problem() == "" {
			t.Errorf("%g is counted", bad)
		}
	}
	// At the limits, and a good report beside a bad one.
	for output, want := range map[string]float64{
		`{"type":"result","subtype":"success","session_id":"","total_cost_usd":10000}`:                                                                                  10000,
		`{"type":"result","subtype":"success","session_id":"","total_cost_usd":-1}` + "\n" + `{"type":"result","subtype":"success","session_id":"","total_cost_usd":2}`: 2,
	} {
		if usd, _, found := report(t, Claude, output, 1000).Report(); usd != want || !found {
			t.Errorf("%s: %g %v", output, usd, found)
		}
	}
	if _, n, _ := report(t, Codex, "tokens used: 10,000,000,000\n", 1000).Report(); n != MaxTokens {
		t.Error(n)
	}
}

// A thread that a later iteration resumes counts only what it adds; sessions
// and everything else begin anew.
func TestReset(t *testing.T) {
	r := report(t, Auto, codexJSON+claudeJSON, 100)
	if usd, tokens, _ := r.Report(); usd != 0.125 || tokens != 33460 {
		t.Error(usd, tokens)
	}
	r.Reset()
	if usd, tokens, found := r.Report(); usd != 0 || tokens != 0 || found {
		t.Error(usd, tokens, found)
	}
	feed(r, "{\"type\": \"unfinished", 100)
	r.Reset()
	feed(r, codexMore+claudeJSON, 100)
	if usd, tokens, _ := r.Report(); usd != 0.125 || tokens != 510+32410 {
		t.Error(usd, tokens)
	}
	// A process is not older than its iteration.
	r.Reset()
	feed(r, claudeAgain, 100)
	if usd, _, _ := r.Report(); usd != 0.175 {
		t.Error(usd)
	}
	// Less than before is no total of before.
	r.Reset()
	feed(r, codexJSON, 100)
	if _, tokens, _ := r.Report(); tokens != 1050 {
		t.Error(tokens)
	}
}

func TestNewRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"":          "no cost format is named",
		"cluade":    `did you mean "claude"?`,
		"CLAUDE":    `did you mean "claude"?`,
		`\$(\d+)`:   "neither a group usd nor a group tokens",
		"(?P<usd>(": "is not a regular expression",
	} {
		if _, err := New(spec); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "(?P<usd>") {
			t.Errorf("%q: %v, want %s", spec, err, want)
		}
	}
	for _, spec := range Presets() {
		if _, err := New(spec); err != nil {
			t.Error(err)
		}
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]float64{
		"1": 1, "1,234": 1234, "1,234,567.5": 1234567.5, "1_000": 1000, ".5": 0.5, "0.12": 0.12, "2.3k": 2300, "1M": 1e6, "2B": 2e9,
		" 7 ": 7, "$3": 3, "-2": -2, "-$2": -2, "1e3": 1000, "2.5e-2": 0.025, "007": 7,
	} {
		if got, err := number(text); err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%q: %g %v, want %g", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "1,23", "1,2345", "0,12", "1.2.3", "NaN", "Inf", "0x10", "1 2", "--1", "e5", "1e999"} {
		if got, err := number(text); err == nil {
			t.Errorf("%q: %g", text, got)
		}
	}
}

// Memory is bounded whatever is printed.
func TestReaderIsBounded(t *testing.T) {
	r := Of("codex")
	for i := range 1000 {
		r.Used(carrier.Usage{Agent: "codex", Session: strings.Repeat("t", i+1), Tokens: 1})
	}
	if len(r.before) > remembered {
		t.Errorf("%d sessions are kept", len(r.before))
	}
}

// FuzzReader: cutting the output does not matter, and what is reported is never
// negative, infinite or not a number; where nothing was found it is zero.
func FuzzReader(f *testing.F) {
	for _, s := range []string{claudeStream + claudeAgain, codexJSON + codexMore, geminiJSON, geminiStream, "tokens used\n1,234\n", "[{},{\"type\":\"result\",\"subtype\":\"success\",\"session_id\":\"\",\"total_cost_usd\":1e300}]", "{\"a\":\"\n{[[\"\\", "cost 1e308 -5k"} {
		f.Add(s, uint8(3))
	}
	specs := []string{Auto, `cost (?P<usd>\S+)(?: (?P<tokens>\S+))?`}
	f.Fuzz(func(t *testing.T, output string, piece uint8) {
		for _, spec := range specs {
			whole := report(t, spec, output, len(output)+1)
			cut := report(t, spec, output, int(piece)+1)
			usd, tokens, found := whole.Report()
			usd2, tokens2, found2 := cut.Report()
			if usd != usd2 || tokens != tokens2 || found != found2 || whole.Problem() != cut.Problem() {
				t.Fatalf("%s: %g %d %v %q, in pieces %g %d %v %q", spec, usd, tokens, found, whole.Problem(), usd2, tokens2, found2, cut.Problem())
			}
			if !(usd >= 0) || math.IsInf(usd, 0) || tokens < 0 || !found && (usd != 0 || tokens != 0) {
				t.Fatalf("%g %d %v", usd, tokens, found)
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	log := strings.Repeat("2026-11-21T09:00:01Z INFO  worker 7 took 12ms for request 00ab {id: 7} of tokens\n", 100_000)
	stream := strings.Repeat(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"Reading the file now, and then the test."}]},"session_id":"s-1"}`+"\n", 50_000)
	for _, c := range []struct{ name, spec, text string }{{"claude", Claude, log}, {"auto", Auto, log}, {"stream", Auto, stream}, {"regexp", `cost: \$(?P<usd>[0-9.]+)`, log}} {
		b.Run(c.name, func(b *testing.B) {
			r := report(b, c.spec, "", 1)
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			text := []byte(c.text)
			for b.Loop() {
				r.Reset()
				for rest := text; len(rest) > 0; {
					n := min(len(rest), 32<<10)
					_, _ = r.Write(rest[:n])
					rest = rest[n:]
				}
			}
		})
	}
}
