package scratchpad

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
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

// TestEachSeesWhatOneLookSees of runs in all states, also where others are locked.
func TestEachSeesWhatOneLookSees(t *testing.T) {
	if !modesHold {
		t.Skip("an open file cannot be replaced here")
	}
	for _, busy := range []bool{false, true} {
		state := filepath.Join(t.TempDir(), StateDirName)
		var runs []oddRun
		var dirs []string
		for i, o := range odd() {
			if o.open && !busy {
				continue
			}
			runs, dirs = append(runs, o), append(dirs, o.make(t, state, made.Add(time.Duration(i)*time.Minute)))
		}
		link := filepath.Join(state, "20270102-150405-3f9a")
		if err := os.Symlink(dirs[0], link); err != nil {
			t.Fatal(err)
		}
		runs, dirs = append(runs, oddRun{name: "a link to a run", want: "failed"}), append(dirs, link)
		type look struct {
			Summary Summary
			bytes   int64
			last    time.Time
		}
		got := make([]look, len(dirs))
		Each(dirs, func(i int, run *Look) {
			got[i].Summary = run.Summarize()
			got[i].bytes, got[i].last = run.Weigh()
		})
		for i, dir := range dirs {
			want := look{Summary: Summarize(dir)}
			want.bytes, want.last = Weigh(dir)
			if !reflect.DeepEqual(got[i], want) {
				t.Errorf("%s: %+v\nof one look: %+v", runs[i].name, got[i], want)
			}
			if s := got[i].Summary; string(s.Status) != runs[i].want && (s.Status != "" || !strings.Contains(s.Problem, runs[i].want)) {
				t.Errorf("%s: %+v", runs[i].name, s)
			}
		}
	}
}

// TestEachSeesWhoComes after it began to look.
func TestEachSeesWhoComes(t *testing.T) {
	dir := written(t, iterations(1))
	Each([]string{dir}, func(_ int, run *Look) {
		r, _, _, err := Open(dir, SyncOff)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if got := run.Summarize(); got.Status != core.StatusRunning || !got.Alive {
			t.Errorf("%+v", got)
		}
	})
}

// TestEachOfOddPaths looks at the run that the path names.
func TestEachOfOddPaths(t *testing.T) {
	dir := written(t, iterations(1))
	t.Chdir(filepath.Dir(dir))
	id := filepath.Base(dir)
	for _, path := range []string{id, "./" + id, id + "/", dir + "/", filepath.Dir(dir) + "//" + id, id + "/../" + id, dir + "/.", "none/" + id} {
		want := Summarize(path)
		Each([]string{path}, func(_ int, run *Look) {
			if got := run.Summarize(); !reflect.DeepEqual(got, want) || (got.Problem == "") == strings.HasPrefix(path, "none") {
				t.Errorf("%s: %+v\nof one look: %+v", path, got, want)
			}
		})
	}
}
