package scratchpad

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// TestResult has every field, also those that are empty.
func TestResult(t *testing.T) {
	r := newRun(t, SyncOff)
	s := appendAll(t, r, numbered(story()...))
	file := filepath.Join(t.TempDir(), "copy.json")
	if err := r.WriteResult(s.Result(), file); err != nil {
		t.Fatal(err)
	}
	text := readFile(t, filepath.Join(r.Dir, resultName))
	if readFile(t, file) != text {
		t.Error("the copy differs")
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"schema": "looprun.dev/result/v1", "run_id": "20260102-150405-3f9a", "status": "tripped", "exit_code": 111.0,
		"guard": "loop_detected", "decision": "", "responder": "", "reason": "nobody answered", "rule": "", "iterations": 1.0,
		"runtime_seconds": 28.382, "signature": "test-fail:2-auth,login", "says": "2 of 5 tests failing: auth, login", "trips": 2.0, "cost_usd": 0.0, "tokens": 0.0, "pending": false,
		"progress": map[string]any{"checks": []string{"auth", "login"}, "failing": 2, "passed": 3, "tests": true, "total": 5},
	}
	if asJSON(got) != asJSON(want) {
		t.Errorf("got  %s\nwant %s", asJSON(got), asJSON(want))
	}
	s.Warnings = []string{"one", "two"}
	if err := r.WriteResult(s.Result(), ""); err != nil || !strings.Contains(readFile(t, filepath.Join(r.Dir, resultName)), `"warnings": [
    "one",
    "two"
  ]`) {
		t.Errorf("no warnings: %v", err)
	}
	if err := r.WriteResult(s.Result(), filepath.Join(t.TempDir(), "none", "x")); err == nil {
		t.Error("a copy into no directory")
	}
}

// TestVerdictGoesWithTheFirstEvent of the next life, not before: a run that is
// only opened and refused keeps it.
func TestVerdictGoesWithTheFirstEvent(t *testing.T) {
	r := newRun(t, SyncOff)
	s := appendAll(t, r, numbered(story()...))
	if err := errors.Join(r.WriteResult(s.Result(), ""), r.Close()); err != nil {
		t.Fatal(err)
	}
	again, s, _, err := Open(r.Dir, SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, ok := readResult(r.Dir); !ok {
		t.Error("the verdict went when the run was opened")
	}
	if err := again.Journal.Append(core.Event{Seq: s.Seq + 1, Time: day, Data: core.RunResumed{}}); err != nil {
		t.Fatal(err)
	}
	if _, ok := readResult(r.Dir); ok {
		t.Error("the verdict is still there though the run goes on")
	}
}

func TestFind(t *testing.T) {
	state := t.TempDir()
	for _, name := range []string{
		"20260102-150405-3f9a", "20260102-150405-aaaa", "20260103-000000-3f9a", "20251231-235959-0001",
		"templates", "20260104-000000-3f9", "20260104-000000-3F9A", "20260104_000000-3f9a",
	} {
		if err := os.Mkdir(filepath.Join(state, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(state, "20260105-000000-0000"), "a file")
	ids, err := IDs(state)
	want := []string{"20260103-000000-3f9a", "20260102-150405-aaaa", "20260102-150405-3f9a", "20251231-235959-0001"}
	if err != nil || !slices.Equal(ids, want) {
		t.Errorf("%v, %v", ids, err)
	}
	// The latest has just been created, and nothing is on record of it yet.
	writeFile(t, journalOf(filepath.Join(state, want[2])), readFile(t, journalOf(written(t, iterations(1)))))
	for _, c := range []struct{ text, id, problem string }{
		{"", want[2], ""},
		{want[2], want[2], ""},
		{"20251231", want[3], ""},
		{"0001", want[3], ""},
		{"-aaaa", want[1], ""},
		{"3f9a", "", `"3f9a" fits 2 runs: 20260103-000000-3f9a, 20260102-150405-3f9a; give more`},
		{"nothing", "", `no run "nothing" in ` + state + "; looprun list"},
		{"..", "", `no run ".."`},
		{"templates", "", `no run "templates"`},
	} {
		dir, err := Find(state, c.text)
		if c.id != "" && (err != nil || dir != filepath.Join(state, c.id)) {
			t.Errorf("%q: %s, %v", c.text, dir, err)
		}
		if c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)) {
			t.Errorf("%q: %s, %v", c.text, dir, err)
		}
	}
	none := filepath.Join(state, "none")
	if ids, err := IDs(none); ids != nil || err != nil {
		t.Errorf("no state directory: %v, %v", ids, err)
	}
	if _, err := Find(none, ""); err == nil || !strings.Contains(err.Error(), "no runs in "+none) {
		t.Errorf("no state directory: %v", err)
	}
	if _, err := IDs(filepath.Join(state, "20260105-000000-0000")); err == nil {
		t.Error("a file was listed")
	}
}

func TestSummarize(t *testing.T) {
	base := story()
	summary := func(data []core.Data, open, verdict bool) Summary {
		r := newRun(t, SyncOff)
		s := appendAll(t, r, numbered(data...))
		if verdict {
			if err := r.WriteResult(s.Result(), ""); err != nil {
				t.Fatal(err)
			}
		}
		if !open {
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return Summarize(r.Dir)
	}
	done := append(slices.Clone(base[:15]), core.IterationStarted{Iteration: 2},
		core.IterationFinished{Iteration: 2, Outcome: core.OutcomeDone}, core.RunFinished{Ending: core.Ending{Status: core.StatusDone}})
	for _, c := range []struct {
		name       string
		data       []core.Data
		open       bool
		status     core.Status
		iterations int
	}{
		{"running", base[:6], true, core.StatusRunning, 1},
		{"awaiting", base[:8], true, core.StatusAwaiting, 1},
		{"crashed", base[:6], false, core.StatusCrashed, 1},
		{"crashed while asking", base[:8], false, core.StatusCrashed, 1},
		{"interrupted", base[:19], false, core.StatusInterrupted, 1},
		{"tripped", base, false, core.StatusTripped, 1},
		{"tripped, still open", base, true, core.StatusRunning, 1},
		{"done", done, false, core.StatusDone, 2},
	} {
		for _, verdict := range []bool{false, true} {
			if verdict && c.status == core.StatusCrashed {
				continue // it had no time to write one
			}
			got := summary(c.data, c.open, verdict)
			if got.Status != c.status || got.Iterations != c.iterations || got.Problem != "" || got.Name != "make the tests pass" || !got.Started.Equal(day) {
				t.Errorf("%s, verdict %v: %+v", c.name, verdict, got)
			}
		}
	}
}

// TestSummarizeWhatCannotBeRead gives the reason and never fails.
func TestSummarizeWhatCannotBeRead(t *testing.T) {
	dir := written(t, iterations(2))
	good := readFile(t, journalOf(dir))
	for name, c := range map[string]struct{ text, want string }{
		"damaged":     {strings.Replace(good, "iteration.started", "iteration.stranded", 1), ":2:"},
		"first line":  {strings.Replace(good, "run.started", "run.stranded", 1), "check sum"},
		"empty":       {"", "holds no events"},
		"torn at one": {good[:20], "holds no events"},
		"no journal":  {"", "no such file"},
	} {
		writeFile(t, journalOf(dir), c.text)
		if name == "no journal" {
			if err := os.Remove(journalOf(dir)); err != nil {
				t.Fatal(err)
			}
			c.want = journalName
		}
		if got := Summarize(dir); !strings.Contains(got.Problem, c.want) || got.Status != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestSummarizeReadsLittle: of a run with a verdict it reads the first line.
func TestSummarizeReadsLittle(t *testing.T) {
	r := newRun(t, SyncOff)
	s := appendAll(t, r, numbered(story()...))
	if err := errors.Join(r.WriteResult(s.Result(), ""), r.Close()); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(readFile(t, journalOf(r.Dir)), "\n")
	writeFile(t, journalOf(r.Dir), first+"\ngarbage\nand more\n")
	if got := Summarize(r.Dir); got.Problem != "" || got.Status != core.StatusTripped || got.ExitCode != 111 || got.Guard != "loop_detected" {
		t.Errorf("%+v", got)
	}
}

// TestManyRuns are listed by their names alone: they hold nothing to read.
func TestManyRuns(t *testing.T) {
	state := t.TempDir()
	runs := 10_000
	if testing.Short() {
		runs = 1000
	}
	for n := range runs {
		if err := os.Mkdir(filepath.Join(state, fmt.Sprintf("20260102-%06d-3f9a", n)), 0); err != nil {
			t.Fatal(err)
		}
	}
	ids, err := IDs(state)
	if err != nil || len(ids) != runs || ids[0] != fmt.Sprintf("20260102-%06d-3f9a", runs-1) || !slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("%d runs, %v", len(ids), err)
	}
	if dir, err := Find(state, "000942"); err != nil || filepath.Base(dir) != "20260102-000942-3f9a" {
		t.Errorf("%s, %v", dir, err)
	}
}
