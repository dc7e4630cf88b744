package ci

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// step is the environment of a step with empty files.
func step(t *testing.T) (env func(string) string, outputs, summary string) {
	t.Helper()
	dir := t.TempDir()
	outputs, summary = filepath.Join(dir, "output"), filepath.Join(dir, "summary")
	for _, f := range []string{outputs, summary} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return environ("GITHUB_OUTPUT", outputs, "GITHUB_STEP_SUMMARY", summary), outputs, summary
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func report(text string) func(io.Writer, int) error {
	return func(w io.Writer, _ int) error { _, err := io.WriteString(w, text); return err }
}

func TestLevels(t *testing.T) {
	for status, want := range map[core.Status]level{
		core.StatusDone: silent, core.StatusAccepted: warning, core.StatusPaused: warning, core.StatusInterrupted: warning,
		core.StatusTripped: failure, core.StatusFailed: failure, core.StatusCancelled: failure, core.StatusRejected: failure,
		core.StatusCrashed: failure, core.StatusSuperseded: warning,
	} {
		var b bytes.Buffer
		l := newTestLog(GitHub, &b)
		if err := l.Finish(t.Context(), Verdict{Result: core.Result{Ending: core.Ending{Status: status}}}); err != nil {
			t.Error(err)
		}
		r := &githubRunner{}
		r.read(b.String())
		if got := strings.Join(r.names(), " "); got != string(want) {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
	}
}

// Warnings are annotations whatever the verdict is, few of them, and cannot end
// theirs or begin another.
func TestWarningsAreAnnotations(t *testing.T) {
	for _, status := range []core.Status{core.StatusDone, core.StatusTripped} {
		r := core.Result{Ending: core.Ending{Status: status}, Warnings: []string{"tests fail\r\n::error::x", "b", "c", "d", "e", "f"}}
		var b bytes.Buffer
		if err := newTestLog(GitHub, &b).Finish(t.Context(), Verdict{Result: r}); err != nil {
			t.Fatal(err)
		}
		runner := &githubRunner{}
		runner.read(b.String())
		want := strings.TrimSpace(strings.TrimSpace(string(levelOfStatus(status)) + strings.Repeat(" warning", 5)))
		if got := strings.Join(runner.names(), " "); got != want {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
		if text := runner.commands[len(runner.commands)-5].data; text != "tests fail ::error::x" {
			t.Errorf("the warning is %q", text)
		}
		b.Reset()
		if err := newTestLog(Azure, &b).Finish(t.Context(), Verdict{Result: r}); err != nil || strings.Count(b.String(), "##vso[task.logissue type=warning]looprun: warning ") != 5 {
			t.Errorf("%v: %q", err, b.String())
		}
	}
}

// How many iterations are used is said once.
func TestAVerdictRepeatsNoNumber(t *testing.T) {
	const used, why, rest = "2 of 2 iterations are used", "nobody answered", "after 2 of 2 iterations, 0s; exit 110"
	for reason, want := range map[string]string{
		used: rest, used + "; " + why: rest + ": " + why, why: rest + ": " + why, "1" + used: rest + ": 1" + used,
	} {
		r := core.Result{Ending: core.Ending{Status: core.StatusTripped, ExitCode: 110, Reason: reason}, Iterations: 2}
		if got := verdict(r, 2); got != want {
			t.Errorf("%q: %q, want %q", reason, got, want)
		}
	}
}

// The verdict's text cannot end the annotation, begin another or be one's title.
func TestAnnotationIsEscaped(t *testing.T) {
	reason := "100% sure,\nredrawn\r::error file=x::y ##[error]z ]a;b \x1b[31mred\x1b[0m\u202e"
	v := Verdict{Limit: 0, Result: core.Result{Ending: core.Ending{
		Status: core.StatusTripped, ExitCode: 115, Guard: "a,b:c%0A\nd", Decision: "cancel", Responder: "policy", Reason: reason,
	}}}
	const text = "after 0 iterations, 0s; exit 115; cancel by policy: 100% sure, ::error file=x::y ## [error]z ]a;b red"
	var b bytes.Buffer
	if err := newTestLog(GitHub, &b).Finish(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	r := &githubRunner{}
	r.read(b.String())
	if len(r.commands) != 1 || r.commands[0].data != text || len(r.commands[0].props) != 1 || r.commands[0].props["title"] != "looprun: tripped (a,b:c%0A\nd)" {
		t.Errorf("carried out: %+v", r.commands)
	}
	b.Reset()
	v.Result.Guard = "a]b%0A"
	if err := newTestLog(Azure, &b).Finish(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	want := "##vso[task.logissue type=error]looprun: tripped (a]b%AZP250A) " + strings.ReplaceAll(text, "%", "%AZP25") + "\n"
	if b.String() != want {
		t.Errorf("got\n%q\nwant\n%q", b.String(), want)
	}
}

// Nor can the name of a check, or of the file that it names.
func TestAnnotationsOfChecks(t *testing.T) {
	f := core.FailingCheck{Check: "a,file=b::c\n::error::d", Why: "x\n::error::y", File: "d;e]f,line=9:%0A.go", Line: 12}
	v := Verdict{Result: tripped, Failing: []core.FailingCheck{f, {Check: "b", Line: 3}, {}, f, f, f}}
	var b bytes.Buffer
	if err := newTestLog(GitHub, &b).Finish(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	r := &githubRunner{}
	r.read(b.String())
	if len(r.commands) != 5 { // nothing is said twice of what has no name and no place
		t.Fatalf("carried out: %+v", r.commands)
	}
	want := map[string]string{"title": "looprun: a,file=b::c ::error::d", "file": f.File, "line": "12"}
	if c := r.commands[1]; !maps.Equal(c.props, want) || c.data != "x ::error::y" {
		t.Errorf("carried out: %+v", c)
	}
	if c := r.commands[2]; len(c.props) != 1 || c.data != "it fails" {
		t.Errorf("without a file: %+v", c)
	}
	b.Reset()
	if err := newTestLog(Azure, &b).Finish(t.Context(), v); err != nil || !strings.Contains(b.String(), "##vso[task.logissue type=error;sourcepath=d%3Be%5Df,line=9:%AZP250A.go;linenumber=12]looprun: a,file=b::c") {
		t.Errorf("%v: %q", err, b.String())
	}
	b.Reset()
	v.Result.Status = core.StatusDone
	if err := newTestLog(GitHub, &b).Finish(t.Context(), v); err != nil || strings.Contains(b.String(), "::error") {
		t.Errorf("done: %v: %q", err, b.String())
	}
}

func TestAnnotationIsShort(t *testing.T) {
	for n, want := range map[int]int{annotationLimit - 30: annotationLimit, annotationLimit + 30: annotationLimit} {
		got := len([]rune(verdict(core.Result{Ending: core.Ending{Reason: strings.Repeat("ü", n)}}, 0)))
		if got > want {
			t.Errorf("a reason of %d characters: %d", n, got)
		}
	}
}

func TestOutputs(t *testing.T) {
	env, outputs, _ := step(t)
	// A value that looks like the end of itself and the beginning of another.
	dir := "/a\nstatus=done\nlooprun_0\nstatus<<x\ndone\nx\n"
	result := tripped
	result.Decision = "cancel"
	for range 2 { // twice in one step: the later one wins
		if err := New(Options{Provider: GitHub, Log: io.Discard, Getenv: env}).Finish(t.Context(), Verdict{Result: result, RunDir: dir, Failing: []core.FailingCheck{{Check: "A", Line: 3}}, Document: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := parseOutputs(read(t, outputs))
	want := map[string]string{
		"status": "tripped", "exit_code": "111", "total_attempts": "2", "guard": "loop_detected", "decision": "cancel", "run_dir": dir,
		"summary": "looprun: tripped (loop_detected) after 2 iterations, 1.5s: 1 test failing: auth; exit 111; cancel by", "failing": `[{"check":"A","line":3}]`, "result": "{}",
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
}

// With a source of random numbers that repeats itself, a value could end itself.
func TestADelimiterInItsValueIsRefused(t *testing.T) {
	env, outputs, _ := step(t)
	l := New(Options{Provider: GitHub, Log: io.Discard, Getenv: env, Random: func() string { return "same" }})
	err := l.Finish(t.Context(), Verdict{Result: tripped, RunDir: "/a\nlooprun_same\nstatus=done"})
	if err == nil || !strings.Contains(err.Error(), "GITHUB_OUTPUT was not written: the output run_dir holds its own delimiter") || read(t, outputs) != "" {
		t.Errorf("%v; outputs: %q", err, read(t, outputs))
	}
}

// A program that ran before may have left half a line.
func TestOutputsBeginALine(t *testing.T) {
	env, outputs, summary := step(t)
	for _, f := range []string{outputs, summary} {
		if err := os.WriteFile(f, []byte("mine=1"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := New(Options{Provider: GitHub, Log: io.Discard, Getenv: env}).Finish(t.Context(), Verdict{Result: tripped, Summary: report("# looprun\n")}); err != nil {
		t.Fatal(err)
	}
	got, err := parseOutputs(read(t, outputs))
	if err != nil || got["mine"] != "1" || got["status"] != "tripped" {
		t.Errorf("%v: %q", err, got)
	}
	if got := read(t, summary); got != "mine=1\n# looprun\n" {
		t.Errorf("the summary is %q", got)
	}
}

// The report is told how much room there is. One that takes more is not written: the runner
// would show nothing at all.
func TestSummaryFits(t *testing.T) {
	for name, c := range map[string]struct{ before, over int }{
		"an empty page": {0, 0}, "too long": {0, 1}, "something is there": {500_000, 0}, "too long beside it": {500_000, 1},
	} {
		t.Run(name, func(t *testing.T) {
			env, _, file := step(t)
			before := strings.Repeat("x", c.before)
			if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
			v := Verdict{Result: tripped, Summary: func(w io.Writer, limit int) error {
				_, err := io.WriteString(w, strings.Repeat("y", limit+c.over))
				return err
			}}
			err := New(Options{Provider: GitHub, Log: io.Discard, Getenv: env}).Finish(t.Context(), v)
			got := read(t, file)
			switch {
			case c.over > 0 && (err == nil || !strings.Contains(err.Error(), "there is room for") || got != before):
				t.Errorf("%v; the page has %d bytes", err, len(got))
			case c.over == 0 && (err != nil || len(got) > SummaryLimit || len(got) < SummaryLimit-2):
				t.Errorf("%v; the page has %d bytes of %d", err, len(got), SummaryLimit)
			}
		})
	}
}

// What cannot be written is told, and the rest is written all the same.
func TestFilesThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, file, want string }{
		{"not there", filepath.Join(dir, "none"), "no such file"},
		{"a folder", dir, "is not a regular file"},
		{"a device", os.DevNull, "is not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, outputs, summary := step(t)
			v := Verdict{Result: tripped, Summary: report("# looprun\n")}
			err := New(Options{Provider: GitHub, Log: io.Discard, Getenv: environ("GITHUB_OUTPUT", outputs, "GITHUB_STEP_SUMMARY", c.file)}).Finish(t.Context(), v)
			if err == nil || !strings.Contains(err.Error(), "GITHUB_STEP_SUMMARY was not written: ") || c.name != "not there" && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if got, err := parseOutputs(read(t, outputs)); err != nil || got["status"] != "tripped" {
				t.Errorf("the outputs were not written: %v", err)
			}
			err = New(Options{Provider: GitHub, Log: io.Discard, Getenv: environ("GITHUB_OUTPUT", c.file, "GITHUB_STEP_SUMMARY", summary)}).Finish(t.Context(), v)
			if err == nil || !strings.Contains(err.Error(), "GITHUB_OUTPUT was not written: ") || read(t, summary) != "# looprun\n" {
				t.Errorf("%v; the summary is %q", err, read(t, summary))
			}
			if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
				t.Error("a file that the runner did not make was made")
			}
		})
	}
}

func TestASummaryThatFails(t *testing.T) {
	env, outputs, summary := step(t)
	v := Verdict{Result: tripped, Summary: func(w io.Writer, _ int) error {
		fmt.Fprintln(w, "half of it")
		return errors.New("the journal cannot be read")
	}}
	err := New(Options{Provider: GitHub, Log: io.Discard, Getenv: env}).Finish(t.Context(), v)
	if err == nil || !strings.Contains(err.Error(), "GITHUB_STEP_SUMMARY was not written: the journal cannot be read") || read(t, summary) != "" {
		t.Errorf("%v; the summary is %q", err, read(t, summary))
	}
	if got, err := parseOutputs(read(t, outputs)); err != nil || got["status"] != "tripped" {
		t.Errorf("the outputs were not written: %v", err)
	}
}

// Without the variables, as in a job that runs elsewhere, there is nothing to say.
func TestNoFilesAreNamed(t *testing.T) {
	for _, p := range Providers() {
		t.Setenv("PATH", "")
		if err := New(Options{Provider: p, Log: io.Discard, Getenv: nothing}).Finish(t.Context(), Verdict{Result: tripped, Summary: report("x")}); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// FuzzOutputs holds for any values: the file reads back as what was written.
func FuzzOutputs(f *testing.F) {
	f.Add("cancel", "/a b/c")
	f.Add("looprun_x\n", "x\nstatus<<y\n=")
	f.Add("", "\r\n")
	env := map[string]string{}
	f.Fuzz(func(t *testing.T, decision, dir string) {
		if env["file"] == "" {
			env["file"] = filepath.Join(t.TempDir(), "output")
		}
		if err := os.WriteFile(env["file"], []byte("mine=1"), 0o600); err != nil {
			env["file"] = filepath.Join(t.TempDir(), "output")
			if err := os.WriteFile(env["file"], []byte("mine=1"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		result := tripped
		result.Decision = decision
		if err := New(Options{Provider: GitHub, Log: io.Discard, Getenv: environ("GITHUB_OUTPUT", env["file"])}).Finish(t.Context(), Verdict{Result: result, RunDir: dir}); err != nil {
			t.Fatal(err)
		}
		got, err := parseOutputs(read(t, env["file"]))
		want := map[string]string{"mine": "1", "status": "tripped", "exit_code": "111", "total_attempts": "2", "guard": "loop_detected", "decision": decision, "run_dir": dir, "failing": "[]", "result": "", "summary": headline(result) + " " + verdict(result, 0)}
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	})
}
