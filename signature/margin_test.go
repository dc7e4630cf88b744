package signature

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// wrappings put in front of a line what surroundings put there. They are examples of
// shapes; the learner has none of them.
var wrappings = map[string]func(w *wrapping) string{
	"bar":              func(*wrapping) string { return "web-1  | " },
	"bar, right":       func(*wrapping) string { return "   e2e │ " },
	"bar, replica":     func(w *wrapping) string { return fmt.Sprintf("app_%d  | ", 1+w.run) },
	"swarm":            func(w *wrapping) string { return "api.1." + w.id + "@node1    | " },
	"bracket":          func(*wrapping) string { return "[api] " },
	"bracket, scope":   func(*wrapping) string { return "[@shop/util] " },
	"bracket, counter": func(*wrapping) string { return "[0] " },
	"colon":            func(*wrapping) string { return "api:test: " },
	"colon, two words": func(*wrapping) string { return "packages/util test: " },
	"colon, in":        func(*wrapping) string { return "    default: " },
	"colon, brackets":  func(*wrapping) string { return "null_resource.x (local-exec): " },
	"colon, quotes":    func(*wrapping) string { return `module.db["main"].null_resource.x (local-exec): ` },
	"colon, a step":    func(*wrapping) string { return `Step #2 - "test": ` },
	"stream, flag":     func(w *wrapping) string { return w.at("2006-01-02T15:04:05.000000000Z") + " stdout F " },
	"time, pieces": func(w *wrapping) string {
		w.line++
		return w.at("2006-01-02T15:04:05.000000Z") + " 01" + string("OE"[w.line%2]) + " "
	},
	"tabs": func(w *wrapping) string {
		return "build\tLook for errors\t" + w.at("2006-01-02T15:04:05.0000000Z") + " "
	},
	"one tab":      func(*wrapping) string { return "host-b\t" },
	"pod":          func(w *wrapping) string { return "[pod/api-" + w.pod + "/app] " },
	"pod and word": func(w *wrapping) string { return "api-" + w.pod + " app " },
	"pod, time":    func(w *wrapping) string { return w.at(time.RFC3339Nano) + " [pod/api-" + w.pod + "/app] " },
	"journal":      func(w *wrapping) string { return w.at(time.Stamp) + " " + w.host + " runner[" + w.pid + "]: " },
	"journal, iso": func(w *wrapping) string {
		return w.at("2006-01-02T15:04:05-0700") + " " + w.host + " runner[" + w.pid + "]: "
	},
	"syslog": func(w *wrapping) string {
		return "<14>1 " + w.at("2006-01-02T15:04:05.000000Z07:00") + " " + w.host + " runner " + w.pid + " - - "
	},
	"time": func(w *wrapping) string { return w.at("2006-01-02T15:04:05.0000000Z") + " " },
	"time, stream": func(w *wrapping) string {
		return w.at("2006-01-02T15:04:05.000000Z") + fmt.Sprintf(" 0%dO ", w.rnd.Intn(3))
	},
	"time in brackets": func(w *wrapping) string { return w.at("[2006-01-02 15:04:05.000] ") },
	"clock":            func(w *wrapping) string { return w.at("15:04:05.000000 ") },
	"clock and bar":    func(w *wrapping) string { return w.at("15:04:05 ") + "test.1   | " },
	"12 hours":         func(w *wrapping) string { return w.at("[03:04:05 PM] ") },
	"date and dash":    func(w *wrapping) string { return w.at("02/Jan/2006 15:04:05 -0700 - ") },
	"epoch":            func(w *wrapping) string { return fmt.Sprintf("%d.%03d ", w.now.Unix(), w.now.Nanosecond()/1e6) },
	"elapsed":          func(w *wrapping) string { return fmt.Sprintf("[%9.3f] ", w.elapsed) },
	"step, elapsed":    func(w *wrapping) string { return fmt.Sprintf("#9 %.3f ", w.elapsed) },
	"elapsed, suffix":  func(w *wrapping) string { return fmt.Sprintf("+%.2fs ", w.elapsed) },
	"bracket and bar":  func(*wrapping) string { return "[CI/test]   | " },
	"platform":         func(w *wrapping) string { return w.at("2006-01-02T15:04:05.000000+00:00") + " app[web.1]: " },
	"plus bar":         func(*wrapping) string { return "             +test | " },
	"quote":            func(*wrapping) string { return "> " },
	"bar alone":        func(*wrapping) string { return "| " },
	"box":              func(*wrapping) string { return "  │ " },
	"step, line, time": func(w *wrapping) string { w.line++; return fmt.Sprintf("[test:L%d:%ds] ", w.line, int(w.elapsed)) },
	"job, path":        func(*wrapping) string { return "services/api | " },
	"two bars":         func(*wrapping) string { return "0|api      | " },
	"names in one":     func(w *wrapping) string { return "default/api-" + w.pod + "[app]: " },
	"stream, level":    func(w *wrapping) string { return w.at("2006-01-02 15:04:05,000") + " DEBG 'api' stdout output: " },
	"level":            func(w *wrapping) string { return w.at("2006-01-02 15:04:05,000") + " [INFO] runner: " },
	"log, region":      func(w *wrapping) string { return w.at("2006-01-02T15:04:05Z") + " app[" + w.id[:14] + "] iad [info] " },
	"week day, month":  func(w *wrapping) string { return w.at("[Mon Jan 02 15:04:05.000000 2006] ") },
	"week day, comma":  func(w *wrapping) string { return w.at("Mon, 02 Jan 2006 15:04:05 MST: ") },
	"month":            func(w *wrapping) string { return w.at("Jan 02 15:04:05 ") },
	"clock, step":      func(w *wrapping) string { return w.at("[15:04:05]") + " :\t [Step 1/3] " },
	"clock, letter":    func(w *wrapping) string { return w.at("[15:04:05]") + "WEFi"[w.rnd.Intn(4):][:1] + ":\t [Step 1/3] " },
	"padded colon": func(w *wrapping) string {
		return w.at("2006-01-02T15:04:05.000Z") + "  INFO " + w.pid + " --- [           main] c.e.runner.Exec                          : "
	},
	"level, caller, tabs": func(w *wrapping) string { return w.at("2006-01-02T15:04:05.000Z") + "\tINFO\trunner/run.go:88\t" },
	"level, caller, bars": func(w *wrapping) string { return w.at("2006-01-02 15:04:05.000") + " | INFO     | runner:run:42 - " },
	"level, caller, dash": func(w *wrapping) string { return w.at("15:04:05.000") + " [pool-1-thread-2] INFO  c.e.Runner - " },
	"kitchen clock":       func(w *wrapping) string { return w.at("3:04PM") + " INF " },
	"clock, build":        func(w *wrapping) string { return w.at("15:04:05") + " build#" + w.pid + " " },
	"stamp of DJB":        func(w *wrapping) string { return fmt.Sprintf("@4%015x%08x ", w.now.Unix(), w.now.Nanosecond()) },
	"rank and stream":     func(*wrapping) string { return "[1,0]<stdout>:" },
	"rank":                func(*wrapping) string { return "3: " },
	"milliseconds":        func(w *wrapping) string { return fmt.Sprintf("%d ", w.now.UnixMilli()) },
	"project":             func(*wrapping) string { return "1:7>" },
	"level, clock":        func(w *wrapping) string { return fmt.Sprintf("INFO[%04d] ", int(w.elapsed)) },
	"labels":              func(w *wrapping) string { return w.at(time.RFC3339) + ` {app="api", pod="api-` + w.pod + `"} ` },
	"two pids, tag": func(w *wrapping) string {
		return w.at("01-02 15:04:05.000 ") + w.pid + fmt.Sprintf(" %d I Runner: ", 100+w.rnd.Intn(9))
	},
	"level, time, id": func(w *wrapping) string {
		return w.at("I, [2006-01-02T15:04:05.000000 #") + w.pid + "]  INFO -- : [" + w.uuid + "] "
	},
	"record": func(w *wrapping) string {
		return w.at(`{"time":"`+time.RFC3339Nano) + `","pid":` + w.pid + `,"msg":%q}`
	},
	"record, spaces": func(w *wrapping) string { return fmt.Sprintf(`{"msg": %%q, "ts": %f, "host": %q}`, w.elapsed, w.host) },
	"record, names":  func(w *wrapping) string { return w.at("ts="+time.RFC3339Nano) + " pid=" + w.pid + " msg=%q" },
}

// wrapping is one run in some surroundings.
type wrapping struct {
	rnd       *rand.Rand
	run, line int
	now       time.Time
	elapsed   float64
	id, pod   string
	uuid      string
	host, pid string
	wrap      func(w *wrapping) string
}

func newWrapping(run int, wrap func(w *wrapping) string) *wrapping {
	rnd := rand.New(rand.NewSource(int64(run)))
	draw := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[rnd.Intn(len(alphabet))]
		}
		return string(b)
	}
	const pods = "bcdfghjklmnpqrstvwxz2456789"
	return &wrapping{
		uuid: draw("0123456789abcdef", 8) + "-" + draw("0123456789abcdef", 4) + "-4a11-9c0d-" + draw("0123456789abcdef", 12),
		rnd:  rnd, run: run, wrap: wrap, now: time.Date(2026, 11, 1+run, rnd.Intn(24), rnd.Intn(60), rnd.Intn(60), rnd.Intn(1e9), time.UTC), elapsed: rnd.Float64(),
		id: draw("abcdefghijklmnopqrstuvwxyz0123456789", 25), pod: draw(pods, 9) + "-" + draw(pods, 5), host: fmt.Sprintf("ip-10-0-%d-%d", rnd.Intn(256), rnd.Intn(256)), pid: fmt.Sprint(1000 + rnd.Intn(90000)),
	}
}

func (w *wrapping) at(layout string) string { return w.now.Format(layout) }

// around is a text in its surroundings.
func (w *wrapping) around(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if record, rest, ok := strings.Cut(w.wrap(w), "%q"); ok {
			text, _ := json.Marshal(strings.TrimSuffix(line, "\n"))
			fmt.Fprintf(&b, "%s%s%s\n", record, text, rest)
		} else {
			b.WriteString(record)
			b.WriteString(line)
		}
		if w.rnd.Intn(3) == 0 {
			d := w.rnd.Float64()
			w.elapsed += d
			w.now = w.now.Add(time.Duration(d * 1e9))
		}
	}
	return b.String()
}

// What an output says does not depend on what stands in front of its lines, and in
// two runs the same stands there.
func TestBehindMargins(t *testing.T) {
	tools, _ := os.ReadDir(benchDir)
	for name, wrap := range wrappings {
		t.Run(name, func(t *testing.T) {
			for _, tool := range tools {
				texts := [2]string{}
				for i := range texts {
					text, err := os.ReadFile(filepath.Join(benchDir, tool.Name(), fmt.Sprintf("A-%d.txt", 1+i)))
					if err != nil {
						return
					}
					texts[i] = string(text)
				}
				bare, _ := signSources(texts[0])
				a, suites := signSources(newWrapping(1, wrap).around(texts[0]))
				b, _ := signSources(newWrapping(2, wrap).around(texts[1]))
				if a.Hash != b.Hash {
					d := Diff(a, b)
					t.Errorf("%s: two runs of the same failure differ: %q %q", tool.Name(), d.OnlyA, d.OnlyB)
				}
				if got, want := factsAlone(a, suites), bare.Facts; !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", tool.Name(), got, want)
				}
			}
		})
	}
}

// signSources signs an output and returns the sources that its margins name.
func signSources(text string) (Signature, []string) {
	s := New(Options{})
	s.Stdout().Write([]byte(text))
	sig := s.Sum(1)
	var suites []string
	for _, x := range s.out.texts[0].src.byName {
		suites = append(suites, x.suite)
	}
	return sig, suites
}

// factsAlone are the facts without the sources.
func factsAlone(sig Signature, suites []string) []string {
	var out []string
	for _, f := range sig.Facts {
		for _, s := range suites {
			f = strings.TrimSuffix(f, " ["+s+"]")
		}
		out = append(out, f)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Lines of several services that come mixed are told apart, and what takes several
// lines is read within one of them.
func TestMixedServices(t *testing.T) {
	const web = "web-1  | %s\n"
	test := []string{"--- FAIL: TestTotal (0.00s)", "    total_test.go:31: wrong total", "        Expected: 4", "        Actual: 5", "FAIL"}
	db := []string{"db-1   | checkpoint complete: wrote %d buffers", "cache-1  | error: connection %d reset", "db-1   | autovacuum: found %d dead rows"}
	mixed := func(seed int64) string {
		rnd := rand.New(rand.NewSource(seed))
		var b strings.Builder
		for _, l := range test {
			for range rnd.Intn(3) {
				fmt.Fprintf(&b, db[rnd.Intn(len(db))]+"\n", 1000+rnd.Intn(100000))
			}
			fmt.Fprintf(&b, web, l)
		}
		for _, l := range db {
			fmt.Fprintf(&b, l+"\n", 1000+rnd.Intn(100000))
		}
		return b.String()
	}
	want := sign(mixed(0), 1)
	for seed := range int64(30) {
		if got := sign(mixed(seed), 1); got.Hash != want.Hash {
			t.Fatalf("mixed otherwise it is another failure: %+v\n%s", Diff(want, got), mixed(seed))
		}
	}
	for _, name := range []string{"[api] ", "api:test: "} {
		other := strings.ReplaceAll(name, "api", "web")
		a, b := sign(strings.Repeat(name+"FAIL: test_a (m.T)\n", 3), 1), sign(strings.Repeat(other+"FAIL: test_a (m.T)\n", 3), 1)
		if a.Hash == b.Hash {
			t.Errorf("the same check fails in another service (%q), and it is the same failure", other)
		}
	}
}

// A line that stands above or below any failure does not say which it is.
func TestASummaryNeverDecidesAlone(t *testing.T) {
	for _, frame := range []string{
		"::group::Build\nok\n::endgroup::\n%s\n", "==> Build\n%s\n", "### Build\n%s\n", "> Task :app:build\n%s\n", "Step 1/5 : RUN make\n%s\n", "TASK [Build] ****\n%s\n",
		"%s\nmake: *** [Makefile:3: all] Error 1\n", "%s\nnpm ERR! code ELIFECYCLE\n", "%s\nexited with code 1\n", "%s\n1 failed, 3 passed\n", "%s\nFAILED\n", "%s\nBUILD FAILED in 2s\n",
		"web-1  | %s\nweb-1 exited with code 1\n", "==> One\nok\n==> Two\n%s\n",
	} {
		seen := map[Hash]string{}
		for _, said := range []string{"step alpha did not work", "step beta did not work", "the gamma is wrong", "no more delta"} {
			sig := sign(fmt.Sprintf(frame, said), 1)
			if old, ok := seen[sig.Hash]; ok {
				t.Errorf("%q: %q and %q are the same failure", frame, old, said)
			}
			seen[sig.Hash] = said
			if again := sign(fmt.Sprintf(frame, said), 1); again.Hash != sig.Hash {
				t.Errorf("%q: %q is not the same failure twice", frame, said)
			}
		}
	}
	if sig := sign("==> One\nok\n==> Two\nit did not work\n", 1); sig.Label != "error:two" {
		t.Errorf("label %q, want the step that did not get on", sig.Label)
	}
}

// What an agent's transcript or a log in JSON carries has the signature that it has
// alone. An agent's own words are no evidence, unless there is nothing else.
func TestCarriers(t *testing.T) {
	const text = "--- FAIL: TestLogin (0.00s)\n    a_test.go:1: got 401\nFAIL\n"
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	agent := func(printed, said string) string {
		return `{"type":"system","subtype":"init","session_id":"s","tools":[]}` + "\n" +
			`{"type":"assistant","session_id":"s","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"go test"}}]}}` + "\n" +
			`{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":` + quote(printed) + `}]}}` + "\n" +
			`{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":` + quote(said) + `}` + "\n"
	}
	log := ""
	for l := range strings.Lines(text) {
		log += `{"log":` + quote(l) + `,"stream":"stdout","time":"2026-11-03T01:10:43.962123123Z"}` + "\n"
	}
	bare := sign(text, 1)
	screen := func(seed int64) string { // a terminal's recording
		rnd := rand.New(rand.NewSource(seed))
		out := `{"version": 2, "width": 80, "timestamp": ` + fmt.Sprint(1700000000+seed) + "}\n"
		at := 0.0
		for rest := strings.ReplaceAll(text+text, "\n", "\r\n"); rest != ""; {
			n := min(len(rest), 20+rnd.Intn(30))
			at += rnd.Float64()
			out += fmt.Sprintf("[%f, \"o\", %s]\n", at, quote(rest[:n]))
			rest = rest[n:]
		}
		return out
	}
	stranger := func(thought string) string { // an agent that nobody knows
		return `{"id":1,"action":"run","args":{"thought":` + quote(thought) + `}}` + "\n" + `{"id":2,"observation":{"code":1,"content":` + quote(text) + `}}` + "\n"
	}
	for _, carried := range []string{agent(text, "Still failing"), agent(text, "I could not fix it: error: x"), log, screen(1), screen(2), stranger("hm"), stranger("why")} {
		if got := sign(carried, 1); got.Hash != bare.Hash {
			t.Errorf("%s\nhas the facts %q, want %q", carried, got.Facts, bare.Facts)
		}
	}
	if a, b := sign(agent("", "I am done with the first part"), 1), sign(agent("", "Nothing works"), 1); a.Hash == b.Hash {
		t.Error("two answers of an agent that printed nothing are the same")
	}
	s := New(Options{Explain: true})
	s.Stdout().Write([]byte(agent("[api] x\n[api] y\n[api] z\n", "done")))
	if why := s.Explain(s.Sum(1)); !slices.Equal(why.Carriers, []string{"claude"}) || !slices.Equal(why.Margins, []string{"[api]"}) {
		t.Errorf("carriers %q, margins %q", why.Carriers, why.Margins)
	}
	s.Reset()
	s.Stdout().Write([]byte(log))
	if why := s.Explain(s.Sum(1)); !slices.Equal(why.Carriers, []string{"log"}) || why.Margins != nil {
		t.Errorf("carriers %q, margins %q", why.Carriers, why.Margins)
	}
}

// What reads a source's lines holds nothing of the iteration before.
func TestSourcesBeginAnew(t *testing.T) {
	s := New(Options{})
	r := &s.out.texts[0].src
	before := r.of([]byte("web-1"))
	if r.of([]byte("web-1")) != before {
		t.Fatal("the lines of one source are read by two")
	}
	r.init(r.main.s, r.main.id)
	if r.of([]byte("web-1")) == before {
		t.Fatal("after reset a source is read on")
	}
}
