package ci

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

func environ(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want Provider
	}{
		{nil, Off},
		{[]string{"GITHUB_ACTIONS", "true", "CI", "true"}, GitHub},
		{[]string{"GITLAB_CI", "true", "CI", "true"}, GitLab},
		{[]string{"BUILDKITE", "true", "CI", "true"}, Buildkite},
		{[]string{"TF_BUILD", "True"}, Azure},
		{[]string{"CI", "1"}, Generic},
		{[]string{"CI", "woodpecker"}, Generic},
		{[]string{"CI", "0"}, Off},
		{[]string{"CI", "FALSE"}, Off},
		{[]string{"GITHUB_ACTIONS", "false", "CI", "true"}, Generic},
		{[]string{"GITHUB_ACTIONS", "true", "LOOPRUN_RUN_ID", "x"}, Off},
	} {
		if got := Detect(environ(c.env...)); got != c.want {
			t.Errorf("%q: %s, want %s", c.env, got, c.want)
		}
	}
	if got := New(Options{Getenv: environ("TF_BUILD", "True")}).Provider(); got != Azure {
		t.Errorf("the zero value stands for %s, want what the environment names", got)
	}
}

func TestParse(t *testing.T) {
	for _, p := range Providers() {
		if got, err := Parse(string(p)); got != p || err != nil {
			t.Errorf("%s: %s, %v", p, got, err)
		}
	}
	for text, want := range map[string]string{
		"gihub": `"gihub" is not a CI system; did you mean "github"?`,
		"":      `"" is not a CI system; use one of auto, github, gitlab, buildkite, azure, generic, off`,
	} {
		if got, err := Parse(text); err == nil || err.Error() != want || got != Off {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
}

// The whole of a log, byte for byte, so that the formats are the documented ones.
func TestLog(t *testing.T) {
	for _, c := range []struct {
		provider Provider
		want     string
	}{
		{GitHub, "\n::group::looprun: iteration 1 of 10\n::stop-commands::looprun-100\nout\nerr\n::looprun-100::\n::endgroup::\n" +
			"::group::looprun: iteration 2 of 10\n::endgroup::\n" +
			"::error title=looprun%3A tripped (loop_detected)::after 2 of 10 iterations, 1.5s: 1 test failing: auth; exit 111\n"},
		{GitLab, "\x1b[0Ksection_start:1700000000:looprun_r_1[collapsed=true]\r\x1b[0Klooprun: iteration 1 of 10\nout\nerr\n\x1b[0Ksection_end:1700000000:looprun_r_1\r\x1b[0K\n" +
			"\x1b[0Ksection_start:1700000000:looprun_r_2[collapsed=true]\r\x1b[0Klooprun: iteration 2 of 10\n\x1b[0Ksection_end:1700000000:looprun_r_2\r\x1b[0K\n"},
		{Azure, "##[group]looprun: iteration 1 of 10\nout\nerr\n##[endgroup]\n##[group]looprun: iteration 2 of 10\n##[endgroup]\n" +
			"##vso[task.logissue type=error]looprun: tripped (loop_detected) after 2 of 10 iterations, 1.5s: 1 test failing: auth; exit 111\n"},
		{Buildkite, "--- looprun: iteration 1 of 10\nout\nerr\n--- looprun: iteration 2 of 10\n" +
			"+++ looprun: tripped (loop_detected)\nlooprun: after 2 of 10 iterations, 1.5s: 1 test failing: auth; exit 111\n"},
		{Generic, "out\nerr"},
		{Off, "out\nerr"},
	} {
		t.Run(string(c.provider), func(t *testing.T) {
			t.Setenv("PATH", "") // no buildkite-agent
			var b bytes.Buffer
			if got := run(t, newTestLog(c.provider, &b), &b, [][]string{{"out\n", "err"}, nil}, whole); got != c.want {
				t.Errorf("got\n%q\nwant\n%q", got, c.want)
			}
		})
	}
}

// Output without anything that a CI system acts on is printed as it is.
func TestOutputPassesByteForByte(t *testing.T) {
	var text strings.Builder
	for c := range 256 {
		if c == 0x1b {
			continue // what follows it would be a part of an escape sequence
		}
		text.WriteString("x" + string([]byte{byte(c)}) + " -- a+b ~ ^ # section [")
	}
	text.WriteString("\r\n+1 -1\n- item\n\x1b[31mred\x1b[0m\n\u200b漢字\xff\xfe")
	plain := text.String()
	for _, p := range spoken {
		for _, cut := range []func(string) []string{whole, bytewise} {
			var b bytes.Buffer
			log := run(t, newTestLog(p, &b), &b, [][]string{{plain}}, cut)
			if !strings.Contains(log, plain) {
				t.Errorf("%s: changed to\n%q", p, log)
			}
		}
	}
}

// What is printed after the run, by a process that was left running, is fenced
// for itself.
func TestOutputAfterTheEnd(t *testing.T) {
	var b bytes.Buffer
	l := newTestLog(GitHub, &b)
	run(t, l, &b, [][]string{{"x"}}, whole)
	_, _ = io.WriteString(l.Output(&b), "::error::late")
	b.WriteString("::notice::of the step\n")
	r := &githubRunner{}
	r.read(b.String())
	if got := strings.Join(r.names(), " "); got != "group endgroup error notice" || r.stop != "" {
		t.Errorf("carried out: %s; the fence %q is open", got, r.stop)
	}
}

// Output before the first iteration and between two, as of a debug command.
func TestOutputOutsideAnIteration(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("a prompt without an end of line: ")
	l := newTestLog(GitHub, &b)
	out := l.Output(&b)
	_, _ = io.WriteString(out, "::error::before")
	run(t, l, &b, [][]string{{"::error::in"}, {"x"}}, whole)
	r := &githubRunner{}
	r.read(b.String())
	if got := strings.Join(r.names(), " "); got != "group endgroup group endgroup error" || r.stop != "" {
		t.Errorf("carried out: %s in\n%q", got, b.String())
	}
}

// A run that is done has no annotation, and its last output may have come after
// the last iteration: what the step prints next is not in the fence.
func TestTheFenceEndsWithTheRun(t *testing.T) {
	var b bytes.Buffer
	l := newTestLog(GitHub, &b)
	_, _ = io.WriteString(l.Output(&b), "x")
	if err := l.Finish(t.Context(), Verdict{Result: core.Result{Ending: core.Ending{Status: core.StatusDone}}}); err != nil {
		t.Fatal(err)
	}
	b.WriteString("::notice::of the step\n")
	r := &githubRunner{}
	r.read(b.String())
	if got := strings.Join(r.names(), " "); got != "notice" || r.stop != "" {
		t.Errorf("carried out: %s; the fence %q is open", got, r.stop)
	}
}

// Every fence has a token of its own, which is long enough not to be guessed.
func TestTokens(t *testing.T) {
	var b bytes.Buffer
	log := run(t, New(Options{Provider: GitHub, Log: &b, Getenv: nothing}), &b, [][]string{{"x\n"}, {"x\n"}, {"x\n"}}, whole)
	seen := map[string]bool{}
	for line := range strings.SplitSeq(log, "\n") {
		if token, ok := strings.CutPrefix(line, "::stop-commands::looprun-"); ok {
			// 26 characters of 5 bits are 130 bits.
			if seen[token] || len(token) < 26 || strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
				t.Errorf("token %q", token)
			}
			seen[token] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d fences, want 3:\n%s", len(seen), log)
	}
}

// An iteration that a pause, an interrupt or a crash cut off leaves no section open.
func TestSectionsAreClosedAndFlat(t *testing.T) {
	s := &core.State{RunID: "2026 a/b"}
	for _, end := range []core.Data{core.RunPaused{}, core.RunFinished{}, core.IterationStarted{Iteration: 1}} {
		for p, want := range map[Provider]string{GitHub: "::endgroup::\n", Azure: "##[endgroup]\n", GitLab: "section_end:-62135596800:looprun_2026_a_b_0\r\x1b[0K\n"} {
			var b bytes.Buffer
			l := newTestLog(p, &b)
			l.Observe(core.Event{Data: core.IterationStarted{}}, s)
			l.Observe(core.Event{Data: end}, s)
			if strings.Count(b.String(), want) != 1 {
				t.Errorf("%s, %s: %q has no %q", p, end.Type(), b.String(), want)
			}
			if !strings.Contains(b.String(), "looprun: check before the first iteration\n") {
				t.Errorf("%s: the precheck's title is not in %q", p, b.String())
			}
		}
	}
}

// A file that standard output was sent to is no log.
func TestAFileGetsTheOutputAsItIs(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range spoken {
		l := newTestLog(p, &bytes.Buffer{})
		if l.Output(f) != io.Writer(f) || l.Messages(f) != io.Writer(f) {
			t.Errorf("%s: a file is written to as if it were the log", p)
		}
	}
	var b bytes.Buffer
	if LogOf(f, &b) != io.Writer(&b) || LogOf(&b, f) != io.Writer(&b) {
		t.Error("a file was taken for the log")
	}
}

// looprun's own lines name commands and signatures, which may hold anything.
func TestMessages(t *testing.T) {
	for p, want := range map[Provider]string{
		GitHub:    "looprun: iteration 1: ## [error]x section_start:1:y ##vso[z]\n",
		Azure:     "looprun: iteration 1: ## [error]x section_start:1:y ##vso [z]\n",
		GitLab:    "looprun: iteration 1: ##[error]x section_start :1:y ##vso[z]\n",
		Buildkite: "looprun: iteration 1: ##[error]x section_start:1:y ##vso[z]\n",
		Off:       "looprun: iteration 1: ##[error]x section_start:1:y ##vso[z]\n",
	} {
		var b bytes.Buffer
		text := []byte("looprun: iteration 1: ##[error]x section_start:1:y ##vso[z]\n")
		n, err := newTestLog(p, &b).Messages(&b).Write(text)
		if b.String() != want || n != len(text) || err != nil {
			t.Errorf("%s: %q, %d, %v", p, b.String(), n, err)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

// A log that nobody reads ends nothing, and the writer of the output learns of it.
func TestALogThatIsGone(t *testing.T) {
	for _, p := range spoken {
		l := New(Options{Provider: p, Log: failing{}, Getenv: nothing})
		l.Observe(core.Event{Data: core.IterationStarted{Iteration: 1}}, &core.State{})
		if _, err := l.Output(failing{}).Write([]byte("x")); err == nil {
			t.Errorf("%s: a write that failed is no error", p)
		}
		if err := l.Finish(t.Context(), Verdict{}); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// Both streams and the events come from goroutines of their own.
func TestLogFromSeveralGoroutines(t *testing.T) {
	for _, p := range spoken {
		var b bytes.Buffer
		l := New(Options{Provider: p, Log: &b, Getenv: nothing})
		var all sync.WaitGroup
		for range 2 {
			out := l.Output(&b)
			all.Go(func() {
				for range 200 {
					_, _ = io.WriteString(out, "::error::x\n##[error]\n--- a\nsection_start:1:x\r\x1b[0K\n")
				}
			})
		}
		for n := range 20 {
			l.Observe(core.Event{Time: time.Unix(1, 0), Data: core.IterationStarted{Iteration: n + 1}}, &core.State{RunID: "r", Limits: core.Limits{Iterations: 10}})
		}
		all.Wait()
		_ = l.Finish(t.Context(), Verdict{Result: tripped, Limit: 10})
		only(t, p, b.String(), 20)
	}
}
