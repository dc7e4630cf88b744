package carrier

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write what comes out to testdata")

// opened is what comes out of a stream that is written in pieces of n bytes, 0: at
// once.
func opened(in []byte, n int) string {
	var out strings.Builder
	var role Role
	var source string
	line := false // the last part is in the middle of a line
	s := Stream{
		Part: func(p Part) {
			for text := range strings.Lines(string(p.Text)) {
				if !line || p.Role != role || p.Source != source {
					if line {
						out.WriteString("\\\n")
					}
					fmt.Fprintf(&out, "%-8s", p.Role)
					if p.Source != "" {
						fmt.Fprintf(&out, "[%s] ", p.Source)
					}
				}
				role, source, line = p.Role, p.Source, !strings.HasSuffix(text, "\n")
				out.WriteString(text)
			}
		},
		Fact: func(f Fact) {
			if line {
				out.WriteString("\\\n")
				line = false
			}
			switch f := f.(type) {
			case Call:
				fmt.Fprintf(&out, "! call %s %s %q -> %d bytes, failed %t\n", f.Agent, f.Name, f.Input, len(f.Output), f.Failed)
			case Trouble:
				fmt.Fprintf(&out, "! trouble %s %q", f.Agent, f.Text)
				if !f.Until.IsZero() {
					fmt.Fprintf(&out, " until %s", f.Until.UTC().Format(time.DateTime))
				}
				out.WriteString("\n")
			default:
				fmt.Fprintf(&out, "! %s %+v\n", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", f), "carrier.")), f)
			}
		},
	}
	if n == 0 {
		n = max(1, len(in))
	}
	for len(in) > 0 {
		piece := bytes.Clone(in[:min(n, len(in))])
		_, _ = s.Write(piece)
		clear(piece) // it is the caller's again
		in = in[min(n, len(in)):]
	}
	s.Flush()
	return out.String()
}

// What agents printed comes out as it was looked at once, wherever it is cut. The
// recordings are of Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0 and opencode
// 1.18.33, with a scripted model; those called documented are written from what the
// agents' documentation shows, and none of an agent that ran.
func TestRecordings(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.jsonl")
	if len(files) < 20 {
		t.Fatalf("%d recordings", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			in, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".jsonl") + ".txt"
			got := opened(in, 0)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, _ := os.ReadFile(golden)
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for _, n := range []int{1, 2, 7, 100, 4096} {
				if cut := opened(in, n); cut != got {
					t.Errorf("in pieces of %d bytes:\n%s\nat once\n%s", n, cut, got)
				}
			}
		})
	}
}

// All that Stream holds is let go of: what comes out of any input is the same wherever
// it is cut, and plain text is every byte of what is no carrier.
func FuzzStream(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.jsonl")
	for _, file := range files {
		in, _ := os.ReadFile(file)
		f.Add(in[:min(len(in), 8<<10)], 3)
	}
	for _, in := range []string{
		"", "{", "[", "{\n", "{\n}", "{\n\"response\":1,\n\"stats\":{\"models\":{}}\n}x\n{}\n", "[{\"type\":\"turn.started\"},3]\n", "[\n[{", "{\"a\":\"\\\n",
		`{"type":"assistant","session_id":"x","message":{"content":"\ud83d\ude00 \ud83d \u12"}}`, "{\n  \"session_id\": \"x\",\r\n}\r\nplain",
	} {
		f.Add([]byte(in), 1)
	}
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		if len(in) > 64<<10 {
			return
		}
		whole := opened(in, 0)
		if cut := opened(in, 1+int(uint(n)%uint(len(in)+1))); cut != whole {
			t.Errorf("%q\nin pieces of %d\n%s\nat once\n%s", in, n, cut, whole)
		}
		var plain []byte
		carried := false
		s := Stream{Part: func(p Part) {
			carried = carried || p.Role != Plain || p.Source != ""
			plain = append(plain, p.Text...)
		}, Fact: func(Fact) { carried = true }, Table: NewTable()}
		_, _ = s.Write(in)
		if s.Flush(); carried || !bytes.Equal(plain, in) {
			t.Errorf("with nothing known, %q came out as %q", in, plain)
		}
	})
}

const (
	delta   = `{"type":"stream_event","session_id":"s","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":%q}},"uuid":"u"}` + "\n"
	stop    = `{"type":"stream_event","session_id":"s","event":{"type":"content_block_stop"},"uuid":"u"}` + "\n"
	message = `{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":%q}]},"uuid":"u"}` + "\n"
	result  = `{"subtype":"success","is_error":false,"result":%q,"session_id":"s","type":"result"}` + "\n"
	other1  = `{"type":"user","session_id":"s","parent_tool_use_id":"t","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"uuid":"u"}` + "\n"
)

func TestWordsAreSaidOnce(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"pieces, whole and result": {
			fmt.Sprintf(delta, "all ") + fmt.Sprintf(delta, "done") + fmt.Sprintf(message, "all done") + stop + fmt.Sprintf(result, "all done"),
			"said    all done\n",
		},
		"the whole after the end of its pieces": {fmt.Sprintf(delta, "all done") + stop + fmt.Sprintf(message, "all done"), "said    all done\n"},
		"the same again":                        {fmt.Sprintf(message, "done") + fmt.Sprintf(message, "done"), "said    done\nsaid    done\n"},
		"the same again after pieces":           {fmt.Sprintf(delta, "done") + stop + fmt.Sprintf(message, "done") + fmt.Sprintf(message, "done"), "said    done\nsaid    done\n"},
		"a result of its own":                   {fmt.Sprintf(message, "one") + fmt.Sprintf(result, "two"), "said    one\nsaid    two\n"},
		"killed in a line":                      {fmt.Sprintf(delta, "one\nDONE"), "said    one\nnoise   DONE\n"},
		"killed in a long line of an object":    {strings.TrimSuffix(fmt.Sprintf(message, "one\nDONE"+strings.Repeat(".", longestPiece)), `"}]},"uuid":"u"}`+"\n"), "said    one\nnoise   DONE" + strings.Repeat(".", longestPiece) + "\n"},
		"killed in an object":                   {strings.TrimSuffix(fmt.Sprintf(message, "one\nDONE"), `"}]},"uuid":"u"}`+"\n"), "said    one\nnoise   DONE\n"},
		"half a line before something else": {
			fmt.Sprintf(delta, "DONE") + other1 + fmt.Sprintf(delta, " is not yet true") + stop,
			"printed x\n! call claude  \"\" -> 1 bytes, failed false\nsaid    DONE is not yet true\n",
		},
		"without the id of a session": {
			`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"done"}]}}` + "\n" + `{"type":"user","message":{"role":"user","content":"DONE"}}` + "\n" + `{"type":"result","is_error":false,"result":"done"}` + "\n",
			"said    done\nnoise   DONE\n",
		},
		"another agent's, that it started": {
			`{"type":"assistant","session_id":"s","parent_tool_use_id":"t","message":{"content":[{"type":"text","text":"DONE"}]},"uuid":"u"}` + "\n" +
				`{"type":"stream_event","session_id":"s","parent_tool_use_id":"t","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"DONE"}},"uuid":"u"}` + "\n",
			"noise   DONE\n",
		},
		"half a line before other words": {fmt.Sprintf(delta, "DONE") + fmt.Sprintf(message, "no"), "noise   DONE\nsaid    no\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var kept []string
			for line := range strings.Lines(opened([]byte(c.in), 0)) {
				if !strings.HasPrefix(line, "! ended") && !strings.HasPrefix(line, "! began") {
					kept = append(kept, line)
				}
			}
			if got := strings.Join(kept, ""); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// An agent's failure is read whatever is around the object that tells it, and however that
// is written; of two values the worse counts.
func TestFailureInAnySurroundings(t *testing.T) {
	const failed = `{"type":"result","subtype":"success","is_error":true,"result":"no credit","session_id":"s"}`
	pretty := func(text, indent string) string {
		var b bytes.Buffer
		_ = json.Indent(&b, []byte(text), "", indent)
		return b.String() + "\n"
	}
	long := strings.Repeat("word ", 300_000)
	for name, in := range map[string]string{
		"a line":           failed + "\n",
		"no line end":      failed,
		"jq":               pretty(failed, "  "),
		"json.tool":        pretty(failed, "    "),
		"jq -S":            pretty(`{"is_error":true,"result":"x","session_id":"s","subtype":"success","type":"result"}`, "  "),
		"jq -C":            "\x1b[1;39m{\x1b[0m\r\n  \x1b[34;1m\"type\"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[0;32m\"result\"\x1b[0m,\r\n  \x1b[34;1m\"session_id\"\x1b[0m: \"s\",\r\n  \"subtype\": \"success\",\r\n  \x1b[34;1m\"is_error\"\x1b[0m: \x1b[0;39mtrue\x1b[0m\r\n\x1b[1;39m}\x1b[0m\r\n",
		"a blank":          " " + failed + "\n",
		"a mark":           "\ufeff" + failed + "\n",
		"an escape":        "\x1b[0m" + failed + "\n",
		"a word":           "starting… " + failed + "\n",
		"a redraw":         "Loading…\r" + failed + "\n",
		"words after it":   failed + " and more\n",
		"two on a line":    failed + failed + "\n",
		"a list":           `[ {"type":"system","subtype":"init","session_id":"s"}, ` + failed + "]\n",
		"a pretty list":    pretty(`[{"type":"system","subtype":"init","session_id":"s"},`+failed+`]`, "  "),
		"an unknown entry": `[{"a":1},` + failed + "]\n",
		"keys turned":      `{"session_id":"s","result":"x","is_error":true,"subtype":"success","type":"result"}` + "\n",
		"a long result":    `{"type":"result","subtype":"success","session_id":"s","result":"` + long + `","is_error":true}` + "\n",
		"a long list":      `[{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":"` + long + `"}]}},` + failed + "]\n",
		"twice, bad first": `{"type":"result","subtype":"success","is_error":true,"is_error":false,"session_id":"s"}` + "\n",
		"twice, bad last":  `{"type":"result","subtype":"success","is_error":false,"is_error":true,"session_id":"s"}` + "\n",
		"a text":           `{"type":"result","subtype":"success","is_error":"yes","session_id":"s"}` + "\n",
		"gemini, twice":    `{"type":"result","timestamp":"t","status":"success","status":"error"}` + "\n",
		"copilot, twice":   `{"type":"result","sessionId":"s","exitCode":1,"exitCode":0}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{0, 1, 7, 4096} {
				if n == 1 && len(in) > 1<<20 {
					continue
				}
				if got := opened([]byte(in), n); strings.Count(got, "Failed:true") < 1 || strings.Contains(got, "Failed:false") {
					t.Errorf("in pieces of %d bytes: %.300q", n, got)
				}
			}
			good := strings.NewReplacer(`"is_error":true`, `"is_error":false`, `"is_error": true`, `"is_error": false`, `mtrue`, `mfalse`, `"yes"`, "false", `"error"`, `"success"`, `"exitCode":1`, `"exitCode":0`).Replace(in)
			if got := opened([]byte(good), 0); !strings.Contains(got, "Failed:false") || strings.Contains(got, "Failed:true") {
				t.Errorf("one that went well: %.300q", got)
			}
		})
	}
}

// The table says nothing that nobody reads, and each of its shapes can be met.
func TestKnown(t *testing.T) {
	for line := range bytes.Lines(known) {
		if line[0] != '{' {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		var s Shape
		if err := d.Decode(&s); err != nil || s.Wrong() != "" {
			t.Errorf("%s%v %s", line, err, s.Wrong())
		}
	}
	if len(KnownShapes()) < 50 {
		t.Errorf("%d shapes", len(KnownShapes()))
	}
}

// A table of somebody's own reads what it describes.
func TestOwnTable(t *testing.T) {
	var got strings.Builder
	s := Stream{
		Table: NewTable(Shape{Agent: "own", When: Match{"kind": "answer|reply"}, Read: []Reading{
			{When: Match{"code": "5*"}, Printed: "body.text", Turn: Failed},
			{Said: "body.text", Turn: Done},
		}}, Shape{Agent: "own", When: Match{"type": "!x", "note": "*"}, Read: []Reading{{Noise: "note"}}}),
		Part: func(p Part) { fmt.Fprintf(&got, "%s %s %s", p.Role, p.Agent, p.Text) },
		Fact: func(f Fact) { fmt.Fprintf(&got, "%+v\n", f) },
	}
	_, _ = s.Write([]byte(`{"kind":"reply","code":200,"body":{"text":"fine"}}` + "\n" + `{"kind":"answer","code":503,"body":{"text":"busy"}}` + "\n" + `{"kind":"x"}` + "\n" + `{"type":"y","note":"n"}` + "\n" + `{"type":"x","note":"n"}` + "\n"))
	s.Flush()
	want := "said own fine\n{Agent:own Failed:false Last:fine}\nprinted own busy\n{Agent:own Failed:true Last:busy}\nplain  {\"kind\":\"x\"}\nnoise own n\nplain  {\"type\":\"x\",\"note\":\"n\"}\n"
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// A shape that names the type of an object reads it rather than one that takes any type.
func TestATypeComesFirst(t *testing.T) {
	said := ""
	s := Stream{
		Table: NewTable(append(KnownShapes(), Shape{Agent: "own", When: Match{"type": "say", "uuid": "*"}, Read: []Reading{{Said: "text"}}})...),
		Part:  func(p Part) { said += p.Agent + " " + string(p.Text) },
	}
	_, _ = s.Write([]byte(`{"type":"say","session_id":"s","uuid":"u","text":"fine"}` + "\n"))
	if s.Flush(); said != "own fine\n" {
		t.Errorf("said %q", said)
	}
}

// What never ends takes no more memory than what does.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		head, again string
		plain       int // how much of again is plain, in bytes
	}{
		"one line":       {`{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":"`, "word ", 0},
		"no carrier":     {`{"a":"`, "word ", 5},
		"many values":    {`{"type":"assistant","session_id":"s","message":[`, "1,", 0},
		"deep":           {"", "[{", 2},
		"slashes":        {`{"a":"`, `\`, 1},
		"lines of none":  {"{", "\n", 1},
		"a document":     {"{\n \"response\": \"", "line\n", 5},
		"calls":          {"", `{"type":"assistant","session_id":"s","message":{"content":[{"type":"tool_use","id":"@","name":"n","input":{"command":"x"}}]},"uuid":"u"}` + "\n", 0},
		"pieces":         {"", fmt.Sprintf(delta, "word "), 0},
		"docker's parts": {"", `{"log":"{ word ","stream":"stdout","time":"t"}` + "\n", 7},
	} {
		t.Run(name, func(t *testing.T) {
			held, plain := 0, 0
			s := Stream{Part: func(p Part) {
				if held = max(held, len(p.Text)); p.Role == Plain {
					plain += len(p.Text)
				}
			}}
			_, _ = s.Write([]byte(c.head))
			var piece []byte // of some size: a byte a call takes minutes under the race detector
			times := 3 << 20 / len(c.again)
			for i := range times {
				text := c.again
				if strings.Contains(text, "@") {
					text = strings.ReplaceAll(text, "@", fmt.Sprint(i))
				}
				if piece = append(piece, text...); len(piece) > 1000 {
					_, _ = s.Write(piece)
					piece = piece[:0]
				}
			}
			_, _ = s.Write(piece)
			s.Flush()
			if got := cap(s.src) + cap(s.lead) + cap(s.words.line) + len(s.calls)*maxWords; got > 4<<20 || len(s.calls) > maxCalls || held > 2<<20 {
				t.Errorf("%d bytes kept, %d calls, parts of up to %d bytes", got, len(s.calls), held)
			}
			want := c.plain * times
			if want > 0 {
				want += len(c.head)
			}
			if plain != want {
				t.Errorf("%d bytes are plain, want %d", plain, want)
			}
		})
	}
}

// However many values an object has, it is read to its end, and what is in another's object is
// none of an agent's.
func TestManyValues(t *testing.T) {
	many := strings.Repeat("0,", 33_000)
	const done = `{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":"ok"}`
	for name, c := range map[string]struct{ in, want string }{
		"a tool's": {
			`[{"type":"user","session_id":"s","message":{"content":[]},"tool_use_result":[` + many + `0]},` + done + "]\n",
			"said    ok\n! ended {Agent:claude Failed:false Last:ok}\n",
		},
		"a turn's":          {strings.TrimSuffix(done, "}") + `,"rows":[` + many + "0]}\n", "said    ok\n! ended {Agent:claude Failed:false Last:ok}\n"},
		"around an agent's": {`{"report":[` + many + done + `],"x":1}` + "\n", "plain   {\"report\":[" + many + done + `],"x":1}` + "\n"},
		"around an error":   {`{"rows":[` + many + `{"session_id":"4","error":{"message":"no"}}],"x":1}` + "\n", `plain   {"rows":[` + many + `{"session_id":"4","error":{"message":"no"}}],"x":1}` + "\n"},
	} {
		for _, n := range []int{0, 7, 4096} {
			if got := opened([]byte(c.in), n); got != c.want {
				t.Errorf("%s, in pieces of %d bytes: %d bytes, want %d: %.300q", name, n, len(got), len(c.want), got)
			}
		}
	}
}

// Of two types the one that tells the worse outcome counts.
func TestTwoTypes(t *testing.T) {
	const failed, done = `"type":"turn.failed","error":{"message":"m"}`, `"type":"turn.completed","usage":{}`
	for in, want := range map[string]string{
		"{" + failed + "," + done + "}": "! ended {Agent:codex Failed:true",
		"{" + done + "," + failed + "}": "! ended {Agent:codex Failed:true",
		`{"type":"result","subtype":"success","is_error":true,"session_id":"s","type":"x"}`:  "! ended {Agent:claude Failed:true",
		`{"type":"x","subtype":"success","is_error":true,"session_id":"s","type":"result"}`:  "! ended {Agent:claude Failed:true",
		`{"type":"result","subtype":"success","is_error":false,"session_id":"s","type":"x"}`: "! began {Agent:claude}",
		`{"type":"x","subtype":"success","is_error":false,"session_id":"s","type":"result"}`: "! began {Agent:claude}",
	} {
		if got := opened([]byte(in+"\n"), 0); !strings.Contains(got, want) || strings.Contains(got, "Failed:false") {
			t.Errorf("%s\n%s", in, got)
		}
	}
}

// Of two types of which none tells a failure the first in the object counts, and a shape of any
// type counts only if no shape has the type.
func TestTwoTypesOfAnOwnAgent(t *testing.T) {
	table := NewTable(
		Shape{Agent: "any", When: Match{"type": "!x"}, Read: []Reading{{Turn: Failed}}},
		Shape{Agent: "one", When: Match{"type": "one"}, Read: []Reading{{Said: "text"}}},
		Shape{Agent: "two", When: Match{"type": "two"}, Read: []Reading{{Said: "text"}}},
		Shape{Agent: "list", When: Match{"type": "list"}, Each: "of", Read: []Reading{{Turn: Failed}}},
		Shape{Agent: "note", When: Match{"note": "*"}},
		Shape{Agent: "last", When: Match{"last": "*"}},
	)
	for in, want := range map[string]string{
		`{"type":"two","type":"one","text":"t"}`: "two", `{"type":"one","type":"two","text":"t"}`: "one",
		`{"text":"t","type":"two"}`: "two", `{"type":"three","text":"t"}`: "any",
		`{"type":"one","type":"list","of":[]}`: "one", `{"note":1,"type":"two"}`: "two", `{"last":1,"note":1}`: "note",
	} {
		if got := table.of(value{raw: []byte(in)}, ""); got == nil || got.Agent != want {
			t.Errorf("%s is read by %+v, want %s", in, got, want)
		}
	}
}

// An object that repeats a name is looked at once, however often it does so.
func TestARepeatedTypeIsJudgedOnce(t *testing.T) {
	for _, in := range []string{"{" + strings.Repeat(`"type":"assistant",`, 40_000) + `"x":1}`, "{" + strings.Repeat(`"uuid":1,`, 80_000) + `"x":1}`} {
		if got := opened([]byte(in), 0); got != "plain   "+in {
			t.Errorf("%.100q", got)
		}
	}
}

// An agent's long object is read also if the name that tells whose it is comes behind a long text.
func TestALongObjectThatIsKnownLate(t *testing.T) {
	for in, want := range map[string]string{
		`{"session_id":"s","response":"` + strings.Repeat("word ", 186_000) + `\nDONE","stats":{"models":{}}}`:                                                                "DONE\n! ended {Agent:gemini Failed:false",
		`{"a":"` + strings.Repeat("word ", 190_000) + `","type":"result","session_id":"s","subtype":"x","result":"` + strings.Repeat("word ", 190_000) + `","is_error":true}`: "! ended {Agent:claude Failed:true",
		`{"a":"` + strings.Repeat("word ", 220_000) + `","type":"result","session_id":"s","subtype":"x","is_error":true}`:                                                     "plain   {\"a\":",
	} {
		for _, n := range []int{0, 4096} {
			if got := opened([]byte(in+"\n"), n); !strings.Contains(got, want) {
				t.Errorf("%.60s… in pieces of %d: %.200q…", in, n, got)
			}
		}
	}
}

// Of a long object's texts only those are cut that are not held to their end.
func TestWhatIsCutInALongObject(t *testing.T) {
	long, line := strings.Repeat("word ", 190_000), strings.Repeat(".", 250)
	for in, want := range map[string]string{
		`"result":"` + strings.Repeat("w ", 150) + `\nDONE","x":"` + long + `"`: "said    " + strings.Repeat("w ", 150) + "\nsaid    DONE\n",
		`"x":"` + long + `","result":"` + line + `\nDONE"`:                      "said    " + line + "\nsaid    DONE\n",
		`"x":"` + long + `","result":"` + line + `\nDONEX"`:                     "said    " + line + "\nnoise   DONE\n",
		`"x":"` + long + `","result":"` + line + `.....\t"`:                     "said    " + line + ".....\t\n",
		`"x":"` + long + `","result":"` + line + `......\""`:                    "noise   " + line + "......\n",
		`"result":"one\n` + long + `"`:                                          "said    one\nnoise   word",
	} {
		for _, n := range []int{0, 1000} {
			if got := opened([]byte(`{"type":"result","subtype":"success","is_error":false,"session_id":"s",`+in+"}\n"), n); !strings.HasPrefix(got, want) {
				t.Errorf("%.60s… in pieces of %d: %.700q…", in, n, got)
			}
		}
	}
	got := opened([]byte(`{"type":"assistant","session_id":"s","x":"`+long+`","message":{"content":[{"type":"text","text":"`+line+line+`"},{"type":"text","text":"two"}]}}`), 0)
	if !strings.HasSuffix(got, "said    two\n") {
		t.Errorf("behind a text that is cut: %.700q…", got)
	}
}

// If more calls are open than are kept, the oldest is forgotten; one without an id is not kept.
func TestTheOldestCallIsForgotten(t *testing.T) {
	in, names := "", map[string]int{}
	begin := func(id string) {
		in += fmt.Sprintf(`{"type":"assistant","session_id":"s","message":{"content":[{"type":"tool_use","id":%q,"name":"Read","input":{"path":"x"}}]}}`+"\n", id)
	}
	for i := range maxCalls + 1 {
		begin(fmt.Sprint(i))
		begin("")
	}
	for i := range maxCalls + 1 {
		in += fmt.Sprintf(`{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"%d","content":"x"}]}}`+"\n", i)
	}
	s := Stream{Part: func(Part) {}, Fact: func(f Fact) {
		if c, ok := f.(Call); ok {
			names[c.Name]++
		}
	}}
	_, _ = s.Write([]byte(in))
	if s.Flush(); names["Read"] != maxCalls || names[""] != 1 {
		t.Errorf("%v", names)
	}
}

// What an unknown object that was cut off has in it is none of an agent's.
func TestInAnUnknownObjectThatWasCutOff(t *testing.T) {
	const in = `{"events":[{"a":1},{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":"ok"},{"type":"x"`
	for _, n := range []int{0, 1, 7} {
		if got := opened([]byte(in), n); got != "plain   "+in {
			t.Errorf("in pieces of %d bytes: %s", n, got)
		}
	}
}

// Another program's object on several lines comes out as it is printed, and an agent's objects
// within it are read; one that may be an agent's comes when it is whole.
func TestAnObjectOnSeveralLines(t *testing.T) {
	for begins, held := range map[string]bool{
		"{\n  \"total\": 3,\n  \"rows\": [\n": false, "{\"total\": 3,\n": false, "{\"total\":\n": false, "{ \"total\"\n : 3\n, \"rows\": [\n": false,
		"{\n  \"is_error\": false,\n  \"a\": [\n": true, "{\n  \"duration_ms\": 3,\n  \"a\": [\n": true, "{ \"type\"\n : 3\n, \"rows\": [\n": true,
	} {
		shown := ""
		s := Stream{Part: func(p Part) { shown += string(p.Text) }}
		if _, _ = s.Write([]byte(begins)); shown != "" && held || shown != begins && !held {
			t.Errorf("of %q %q is shown", begins, shown)
		}
	}
	const failed = `{"type":"result","subtype":"success","is_error":true,"result":"no credit","session_id":"s"}`
	if got := opened([]byte("{\n  \"events\": [\n    "+failed+"\n  ]\n}\n"), 0); !strings.Contains(got, "Failed:true") {
		t.Errorf("an agent's object in another's:\n%s", got)
	}
}

// A log's line within two others is plain text, and takes no stream of its own.
func TestLogsWithinLogs(t *testing.T) {
	text := `{"log":"x\n","stream":"stdout"}` + "\n"
	for range 8 {
		quoted, _ := json.Marshal(text)
		text = `{"log":` + string(quoted) + `,"stream":"stdout"}` + "\n"
	}
	streams, got := 0, ""
	s := Stream{Part: func(p Part) { got += string(p.Text) }}
	_, _ = s.Write([]byte(text))
	s.Flush()
	for inner := &s; inner != nil; inner = inner.inner {
		streams++
	}
	if streams != nested || !strings.HasPrefix(got, `{"log":`) {
		t.Errorf("%d streams: %s", streams, got)
	}
}

func BenchmarkStream(b *testing.B) {
	stream, _ := os.ReadFile("testdata/claude-stream.jsonl")
	for name, in := range map[string][]byte{
		"plain":      bytes.Repeat([]byte("ok  \tgithub.com/looprun/looprun/cost\t0.021s\n"), 1000),
		"json":       bytes.Repeat([]byte(`{"Time":"2026-11-03T01:10:43Z","Action":"output","Package":"m","Test":"TestA","Output":"ok\n"}`+"\n"), 1000),
		"transcript": bytes.Repeat(stream, 10),
	} {
		b.Run(name, func(b *testing.B) {
			s := Stream{Part: func(Part) {}}
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				_, _ = s.Write(in)
			}
		})
	}
}

// Calls are known on lines that have neither a uuid nor a model, as those of wrappers do.
func TestCallsWithoutIDsOfLines(t *testing.T) {
	var calls []Call
	s := Stream{Part: func(Part) {}, Fact: func(f Fact) {
		if c, ok := f.(Call); ok {
			calls = append(calls, c)
		}
	}}
	for range 3 {
		_, _ = s.Write([]byte(`{"type":"assistant","session_id":"s","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}}` + "\n" +
			`{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x","is_error":true}]}}` + "\n"))
	}
	s.Flush()
	if len(calls) != 3 {
		t.Fatalf("%d calls, want 3", len(calls))
	}
	for _, c := range calls {
		if c.Name != "Bash" || c.InputHash == 0 || c.InputHash != calls[0].InputHash || !c.Failed {
			t.Errorf("call %+v", c)
		}
	}
}

// An agent that prints its objects as a list prints no text with the brackets and commas.
func TestListsAreNoText(t *testing.T) {
	const said = `{"type":"assistant","session_id":"x","message":{"content":[{"type":"text","text":"hello"}]}}`
	for _, in := range []string{"[" + said + "," + said + "]\n", "[\n  " + said + ",\n  " + said + "\n]\n", "\ufeff " + said + "\n"} {
		if got := opened([]byte(in), 0); strings.Contains(got, Plain.String()) || !strings.Contains(got, "hello") {
			t.Errorf("%q:\n%s", in, got)
		}
	}
}

// Text around an object is no part of it: a line before it ends, and the next is indented as
// it was. Brackets and commas belong to it only in a list that began in front of an object.
func TestTextBesideAnObject(t *testing.T) {
	const said = `{"type":"assistant","session_id":"x","message":{"content":[{"type":"text","text":"hello"}]}}`
	for in, want := range map[string]string{
		"one " + said + "\n\n    two\n":                            "one \n\n    two\n",
		said + "],\n\ttwo\n":                                       "],\n\ttwo\n",
		"[" + said + ",\n\n " + said + "]\n\ttwo\n":                "\ttwo\n",
		"\x1b[0m" + said + ",\n":                                   ",\n",
		"[" + said + "] ]\n" + said + ", two\n":                    " ]\n, two\n",
		said + "\n[\n  [\n 1,\n],\n]\nx\n":                         "[\n  [\n 1,\n],\n]\nx\n",
		"[" + said + "]\n[\n  1,\n]\n":                             "[\n  1,\n]\n",
		said + strings.Repeat("\n", 300) + "x\n":                   strings.Repeat("\n", 299) + "x\n",
		"[" + said + strings.Repeat("\n", 300) + "x\n":             "x\n",
		said + " {\"log\":\"x\",\"time\":\"t\"}\n":                 "x\n",
		said + "\n {\"log\":\"x\",\"time\":\"t\"}\n":               " {\"log\":\"x\",\"time\":\"t\"}\n",
		said + " two\n  [x]\n":                                     " two\n  [x]\n",
		"[\n" + said + "\n]\n{\"log\":\"[ 3 ]\",\"time\":\"t\"}\n": "[ 3 ]\n",
		"[" + said + " x\n" + said + "]\n":                         " x\n]\n",
		"]" + said + "\n":                                          "]\n",
		"  [1]\n":                                                  "  [1]\n",
		"\n[\n":                                                    "\n[\n",
	} {
		for _, n := range []int{1, 3, 1000} {
			plain := ""
			s := Stream{Part: func(p Part) {
				if p.Role == Plain {
					plain += string(p.Text)
				}
			}}
			for rest := in; rest != ""; rest = rest[min(n, len(rest)):] {
				_, _ = s.Write([]byte(rest[:min(n, len(rest))]))
			}
			if s.Flush(); plain != want {
				t.Errorf("%q in pieces of %d is %q, want %q", in, n, plain, want)
			}
		}
	}
}

// A turn has not ended well if the object that says so was cut off.
func TestAnObjectThatWasCutOffEndsNothing(t *testing.T) {
	const end = `{"type":"result","subtype":"success","is_error":false,"session_id":"x","result":"done"`
	if got := opened([]byte(end+"}\n"), 0); !strings.Contains(got, "! ended") {
		t.Errorf("the whole object:\n%s", got)
	}
	if got := opened([]byte(end), 0); strings.Contains(got, "! ended") || !strings.Contains(got, "! began") {
		t.Errorf("the object that was cut off:\n%s", got)
	}
}

// Only an object that may be an agent's shows, where its end is missing, that a turn was cut off.
func TestOtherObjectsThatWereCutOffBeginNothing(t *testing.T) {
	for _, in := range []string{
		`{"a":"b`, `{"a":{"type":"result","b":"c`, `{"name":"x","type":"module","files":["a",`, `{"type":7,"a":"b`, `{"type":null,"a":"b`, `{"type":"","a":"b`,
		"{\n  \"name\": \"x\",\n  \"type\": \"error\",\n  \"files\": [\n",
		`{"log":"{\"a\":\"b`, `{"log":"{\"a\":\"b\n","stream":"stdout"}` + "\n",
	} {
		for _, n := range []int{0, 1, 7} {
			if got := opened([]byte(in), n); strings.Contains(got, "!") {
				t.Errorf("%q:\n%s", in, got)
			}
		}
	}
}

// A turn that failed has failed whatever wraps the agent's lines.
func TestAFailedTurnInALog(t *testing.T) {
	const failed = `{"type":"result","subtype":"success","is_error":true,"result":"no credit","session_id":"s"}`
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for _, wrapped := range []string{
		`{"log":` + quote(failed+"\n") + `,"stream":"stdout","time":"t"}`,
		`{"log":` + quote(failed[:40]) + `,"stream":"stdout"}` + "\n" + `{"log":` + quote(failed[40:]+"\n") + `,"stream":"stdout"}`,
		`{"log":` + quote(failed) + `,"time":"t"}`,
		`{"__REALTIME_TIMESTAMP":"1","MESSAGE":` + quote(failed) + `}`,
		`{"textPayload":` + quote(failed) + `,"timestamp":"t"}`,
		`{"labels":{"app":"a"},"line":` + quote(failed) + `,"timestamp":"t"}`,
		`{"Log":` + quote(failed) + `,"TimeStamp":"t"}`,
		`{"ingestionTime":1,"message":` + quote(failed) + `,"timestamp":1}`,
		`{"container_name":"c","log":` + quote(failed) + `}`,
		`{"@timestamp":"t","message":` + quote(failed) + `}`,
		`{"kubernetes":{"pod_name":"p"},"log":` + quote(failed) + `}`,
		`{"kubernetes":{"pod_name":"p"},"message":` + quote(failed) + `}`,
		`{"message":` + quote(failed) + `,"source_type":"s","timestamp":"t"}`,
		`{"Source":"s","event":` + quote(failed) + `,"sourcetype":"t"}`,
		`{"container_name":"c","log":` + quote(`{"log":`+quote(failed+"\n")+`,"stream":"stdout"}`) + `}`,
	} {
		for _, n := range []int{0, 1, 7} {
			if got := opened([]byte("started\n"+wrapped+"\n"), n); !strings.Contains(got, "Failed:true") || strings.Contains(got, "Failed:false") {
				t.Errorf("%s\nin pieces of %d:\n%s", wrapped, n, got)
			}
		}
	}
}

// What an agent says of a tool that printed nothing is no output of it.
func TestASilentToolPrintsNothing(t *testing.T) {
	const called = `{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":%q}]}}` + "\n"
	for output, silent := range map[string]bool{"(Bash completed with no output)": true, " \n": true, "Exit code 1": true, "Exit code 1\nFAIL": false, "x": false} {
		s := Stream{
			Part: func(p Part) {
				if (p.Role == Noise) != silent {
					t.Errorf("%q is %s", output, p.Role)
				}
			},
			Fact: func(f Fact) {
				if c, ok := f.(Call); ok && c.Silent != silent {
					t.Errorf("%q is silent: %t", output, c.Silent)
				}
			},
		}
		_, _ = fmt.Fprintf(&s, called, output)
		s.Flush()
	}
}

// A message of which the end is not known is the last message all the same.
func TestAMessageThatWasCutOffBegins(t *testing.T) {
	for _, rest := range []string{fmt.Sprintf(delta, "not yet"), `{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":"not`} {
		said := 0
		s := Stream{Part: func(p Part) {
			if p.Begins {
				said++
			}
		}}
		_, _ = fmt.Fprintf(&s, message+"%s", "DONE", rest)
		if s.Flush(); said != 2 {
			t.Errorf("%d messages begin with %q, want 2", said, rest)
		}
	}
}

// Of an agent's own shapes the first that matches counts, also before one of a turn that failed.
func TestTheFirstShapeCounts(t *testing.T) {
	table := NewTable(
		Shape{Agent: "mine", When: Match{"event": "end", "ok": "true"}, Read: []Reading{{Turn: Done}}},
		Shape{Agent: "mine", When: Match{"event": "end"}, Read: []Reading{{Turn: Failed}}},
	)
	for in, want := range map[string]string{
		`{"event":"end","ok":true}`:              "{mine false",
		`{"event":"end","ok":false}`:             "{mine true",
		`{"ok":false,"event":"end","ok":true}`:   "",
		`{"type":"x","event":"end","ok":"true"}`: "{mine false",
	} {
		var facts []string
		s := Stream{Table: table, Part: func(Part) {}, Fact: func(f Fact) {
			if of, ended := f.(Ended); ended {
				facts = append(facts, fmt.Sprint(of))
			}
		}}
		_, _ = s.Write([]byte(in + "\n"))
		s.Flush()
		if got := strings.Join(facts, "; "); !strings.HasPrefix(got, want) || want == "" && strings.Contains(got, "mine false") {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// A value is one of several texts, or none of them; an empty one is a text too, and & is a part
// of any.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		want, value string
		held        bool
	}{
		{"!failed|error", "failed", false},
		{"!failed|error", "error", false},
		{"!failed|error", "ok", true},
		{"failed|error", "failed", true},
		{"failed|error", "error", true},
		{"failed|error", "ok", false},
		{"", "", true},
		{"", "x", false},
		{"x|", "", true},
		{"!", "x", true},
		{"!", "", false},
		{"a&b", "a&b", true},
		{"a&b", "a", false},
		{"!a&b", "a", true},
		{"!a&b", "a&b", false},
		{"!-", "-", false},
		{"!-", "x", true},
	} {
		for _, name := range []string{"status", "type"} {
			table := NewTable(Shape{Agent: "own", When: Match{"event": "end", name: c.want}, Read: []Reading{{Turn: Done}}})
			ended := false
			s := Stream{Table: table, Part: func(Part) {}, Fact: func(f Fact) { _, ended = f.(Ended) }}
			_, _ = fmt.Fprintf(&s, `{"event":"end",%q:%q}`+"\n", name, c.value)
			if s.Flush(); ended != c.held {
				t.Errorf("%s %q is %q: %t", name, c.value, c.want, ended)
			}
		}
	}
}
