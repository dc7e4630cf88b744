package scratchpad

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// oddRun is a run in a state that a list can meet: a status, or the problem that is said.
type oddRun struct {
	name string
	open bool // somebody has it open
	end  bool // its journal has an end
	// result is what stands in the place of result.json: its own, none, or this text.
	result string
	change func(t *testing.T, dir string)
	want   string
}

const (
	ownResult = "own"
	putThere  = `{"schema":"looprun.dev/result/v1","run_id":"20260102-150405-ffff","status":"done","exit_code":0,"iterations":7}`
)

func odd() []oddRun {
	replace := func(name, old, with string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			file := filepath.Join(dir, name)
			writeFile(t, file, strings.Replace(readFile(t, file), old, with, 1))
		}
	}
	without := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { remove(t, filepath.Join(dir, name)) }
	}
	linked := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := errors.Join(os.Rename(filepath.Join(dir, name), filepath.Join(dir, "elsewhere")), os.Symlink("elsewhere", filepath.Join(dir, name))); err != nil {
				t.Skip(err)
			}
		}
	}
	folder := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, name))
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	return []oddRun{
		{name: "ended", end: true, result: ownResult, want: "failed"},
		{name: "ended without a result", end: true, want: "failed"},
		{name: "ended and not closed yet, or opened again", open: true, end: true, result: ownResult, want: "running"},
		{name: "going on", open: true, want: "running"},
		{name: "going on, with a result that somebody put there", open: true, result: putThere, want: "running"},
		{name: "killed", want: "crashed"},
		{name: "killed, with a result that somebody put there", result: putThere, want: "done"},
		{name: "the result of another", end: true, result: putThere, want: "done"},
		{name: "no result", end: true, result: "{", want: "failed"},
		{name: "a result in an odd form", end: true, result: strings.Replace(putThere, "done", `d\u006fne`, 1), want: "done"},
		{name: "a link to a result", end: true, result: ownResult, change: linked(resultName), want: "failed"},
		{name: "a folder as result", end: true, result: ownResult, change: folder(resultName), want: "failed"},
		{name: "a changed beginning", end: true, result: ownResult, change: replace(journalName, "fix.sh", "mix.sh"), want: "check sum"},
		{name: "a changed line", end: true, result: ownResult, change: replace(journalName, "iteration.started", "iteration.stranded"), want: "failed"},
		{name: "a changed line and no result", end: true, change: replace(journalName, "iteration.started", "iteration.stranded"), want: ":2:"},
		{name: "no journal", result: ownResult, change: without(journalName), want: "no such file"},
		{name: "an empty journal", result: ownResult, change: func(t *testing.T, dir string) { writeFile(t, journalOf(dir), "") }, want: "holds no events"},
		{name: "a link to a journal", end: true, result: ownResult, change: linked(journalName), want: journalName},
		{name: "a folder as journal", end: true, result: ownResult, change: folder(journalName), want: "not a regular file"},
		{name: "no lock", end: true, result: ownResult, change: without(lockName), want: "failed"},
		{name: "a folder as lock", end: true, result: ownResult, change: folder(lockName), want: "failed"},
		{name: "a link to a lock", open: true, end: true, result: ownResult, change: linked(lockName), want: "failed"},
		{name: "nothing", change: func(t *testing.T, dir string) {
			if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, want: "no such file"},
		{name: "gone", change: func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}, want: "no such file"},
	}
}

// make makes the run, in the state directory.
func (o oddRun) make(t *testing.T, state string, at time.Time) (dir string) {
	t.Helper()
	r, err := Create(state, at, SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	events := iterations(2)
	if o.end {
		events = append(events, ending(events[len(events)-1].Seq+1, "x"))
	}
	s := appendAll(t, r, events)
	switch o.result {
	case "":
	case ownResult:
		err = r.WriteResult(s.Result(), "")
	default:
		writeFile(t, filepath.Join(r.Dir, resultName), o.result)
	}
	if !o.open {
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if o.change != nil {
		o.change(t, r.Dir)
	}
	return r.Dir
}

// TestSummarizeOddRuns: a list shows a run in any state, one that goes on as going on whatever
// result lies beside it, and what cannot be read with the reason.
func TestSummarizeOddRuns(t *testing.T) {
	if !modesHold {
		t.Skip("an open file cannot be replaced here")
	}
	state := filepath.Join(t.TempDir(), StateDirName)
	for i, o := range odd() {
		dir := o.make(t, state, made.Add(time.Duration(i)*time.Minute))
		if s := Summarize(dir); string(s.Status) != o.want && (s.Status != "" || !strings.Contains(s.Problem, o.want)) {
			t.Errorf("%s: %+v", o.name, s)
		}
	}
}
