package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/loops"
	"github.com/looprun/looprun/scratchpad"
)

// A list that cannot be read, or that others could change, allows nothing.
func TestAListMustBeReliable(t *testing.T) {
	name := filepath.Join(t.TempDir(), "allow.yaml")
	if a, err := ReadAllow(name); err == nil {
		t.Errorf("a list that is missing: %+v", a)
	}
	if err := os.WriteFile(name, []byte("commands: [make]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := ReadAllow(name); err != nil || len(a.Commands) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	for _, open := range []struct {
		name string
		mode os.FileMode
	}{{name, 0o666}, {filepath.Dir(name), 0o777}} {
		info, err := os.Stat(open.name)
		if err = errors.Join(err, os.Chmod(open.name, open.mode)); err != nil {
			t.Fatal(err)
		}
		if a, err := ReadAllow(name); err == nil || a != nil || !strings.Contains(err.Error(), "can write to") {
			t.Errorf("others can write to %s: %+v, %v", open.name, a, err)
		}
		if err := os.Chmod(open.name, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
}

// What git would take for an option, or for another place, is refused.
func TestWhatGitWouldMisread(t *testing.T) {
	for name, c := range map[string]struct {
		in   Prepare
		want string
	}{
		"good":           {Prepare{Work: Work{Repo: "https://example.com/a", Ref: "main", Dir: "a/b"}, Commit: "0123abc"}, ""},
		"repository":     {Prepare{Work: Work{Repo: "--upload-pack=x"}}, "is not a repository"},
		"branch":         {Prepare{Work: Work{Ref: "--exec=x"}}, "is no branch"},
		"forced":         {Prepare{Work: Work{Ref: "+main"}}, "is no branch"},
		"to":             {Prepare{Work: Work{Ref: "main:main"}}, "is no branch"},
		"checkpoint":     {Prepare{Commit: "HEAD"}, "is no checkpoint"},
		"up":             {Prepare{Work: Work{Dir: "../x"}}, "leads out"},
		"somewhere else": {Prepare{Work: Work{Dir: "/x"}}, "leads out"},
	} {
		if err := c.in.wrong(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// placed is a worker with a loop that has a place and a slot there.
func placed(t *testing.T) (*Worker, *place, Prepare) { return placedLine(t, "true") }

// placedLine is placed, with a loop of that line, whose processes have the time that they take.
func placedLine(t *testing.T, line string) (*Worker, *place, Prepare) {
	t.Helper()
	w := newBench(t, nil).worker
	l := submitted(t, line, func(l *loops.Loop) { l.Options["kill_after"] = "1h" })
	in := Prepare{Started: l.Started, Work: l.Work}
	p, err := w.place(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(p.tree, 0o700); err != nil {
		t.Fatal(err)
	}
	w.held[p.id] = time.Now()
	return w, p, in
}

// The id of a loop is the name of its folder, and of none elsewhere.
func TestAnIDLeadsNowhere(t *testing.T) {
	w, _, in := placed(t)
	for _, id := range []string{"..", "../x", "a/b", "/x", ""} {
		in.Started.RunID = id
		if _, err := w.place(in); typeOf(err) != errRefused {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// waiting is a context that says that somebody waits for it.
type waiting struct {
	context.Context
	said chan struct{}
}

func (w waiting) Done() <-chan struct{} {
	select {
	case w.said <- struct{}{}:
	default:
	}
	return w.Context.Done()
}

// A loop has a slot once. One that is back gets a free one, also beside a poll, waits for one that
// loops have, and gets none where there is none.
func TestAFullWorker(t *testing.T) {
	w := &Worker{Name: "w1", Root: t.TempDir(), Slots: 3}
	w.prepare(nil)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.slots.take(t.Context()); err != nil { // of a poll
		t.Fatal(err)
	}
	for range 2 {
		if err := w.hold(t.Context(), "a", again); err != nil || len(w.slots.used) != 2 {
			t.Fatalf("%v, %d slots in use", err, len(w.slots.used))
		}
	}
	if err := w.hold(t.Context(), "b", again); err != nil {
		t.Errorf("with a free slot: %v", err)
	}
	if err := w.hold(over, "c", again); typeOf(err) != errGone || len(w.held) != 2 {
		t.Errorf("a poll has the last one: %v", err)
	}
	w.slots.give()
	if err := w.hold(t.Context(), "c", again); err != nil {
		t.Errorf("the poll has ended: %v", err)
	}
	if err := w.hold(over, "d", again); typeOf(err) != errGone {
		t.Errorf("loops have all slots: %v", err)
	}
	ctx := waiting{t.Context(), make(chan struct{}, 1)}
	given := make(chan error, 1)
	go func() { given <- w.hold(ctx, "d", again) }()
	eventually.Receive(t, "it waits", ctx.said)
	w.unhold("a")
	if err := eventually.Receive(t, "it has a slot", given); err != nil || len(w.slots.used) != 3 {
		t.Errorf("one of three has left: %v", err)
	}
}

// The server keeps the end of what an iteration printed.
func TestTheEndOfAnOutputIsKept(t *testing.T) {
	dir := t.TempDir()
	p := &place{run: &scratchpad.Run{Dir: dir}}
	name := scratchpad.OutputFile(dir, 2)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("0123456789", kept/10+1)
	for _, c := range []struct {
		text, want string
		before     int64
	}{{"in 2\n", "in 2\n", 0}, {long, long[len(long)-kept:], int64(len(long) - kept)}} {
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, before := p.printed(2); string(text) != c.want || before != c.before {
			t.Errorf("%d bytes, and %d before; want %d and %d", len(text), before, len(c.want), c.before)
		}
	}
	if text, before := p.printed(1); text != nil || before != 0 {
		t.Errorf("an iteration that printed nothing: %q, %d", text, before)
	}
}

// A loop that is in another queue than the polls waits for a slot that a poll has, and not for a
// worker that stops.
func TestAWaitForASlot(t *testing.T) {
	w := &Worker{Name: "w1", Root: t.TempDir(), Slots: 1}
	w.prepare(nil)
	if err := w.slots.take(t.Context()); err != nil { // of a poll
		t.Fatal(err)
	}
	given := make(chan error, 1)
	wait := func(id string) {
		ctx := waiting{t.Context(), make(chan struct{}, 1)}
		go func() { given <- w.hold(ctx, id, turn) }()
		eventually.Receive(t, "it waits", ctx.said)
	}
	wait("a")
	w.slots.give()
	if err := eventually.Receive(t, "it has a slot", given); err != nil || len(w.held) != 1 {
		t.Errorf("the poll has ended: %v", err)
	}
	wait("b")
	w.leave()
	if err := eventually.Receive(t, "it has none", given); typeOf(err) != errGone || len(w.held) != 1 {
		t.Errorf("the worker stops: %v", err)
	}
}

// Only a loop with a slot runs anything. What ended well counts, though the worker stops; what
// the worker ended is withdrawn.
func TestWhatRunsAtAPlace(t *testing.T) {
	w, p, in := placed(t)
	broken := errors.New("broken")
	work := func(ctx context.Context, id string, cut, fail bool) (int, error) {
		return at(w, ctx, id, func(context.Context, *place) (int, error) {
			if cut {
				w.cut(w.stopped())
			}
			if fail {
				return 0, broken
			}
			return 7, nil
		})
	}
	for _, c := range []struct {
		name, id  string
		cut, fail bool
		want      string // the type of the error
		ok        bool
	}{
		{"no loop of this worker", "other", false, false, errGone, false},
		{"well", p.id, false, false, "", true},
		{"broken", p.id, false, true, "", false},
		{"well, and cut", p.id, true, false, "", true},
		{"cut", p.id, true, true, errStopped, false},
	} {
		env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
		env.RegisterActivity(work)
		v, err := env.ExecuteActivity(work, c.id, c.cut, c.fail)
		n := 0
		if err == nil {
			err = v.Get(&n)
		}
		if (n == 7) != c.ok || (err == nil) != c.ok || c.want != "" && typeOf(err) != c.want || c.want == "" && typeOf(err) == errStopped {
			t.Errorf("%s: %d, %v", c.name, n, err)
		}
	}
	delete(w.held, p.id)
	if _, err := w.here(p.id); typeOf(err) != errGone {
		t.Errorf("a loop without a slot: %v", err)
	}
	w.held["swept"] = time.Now()
	if _, err := w.here("swept"); typeOf(err) != errGone {
		t.Errorf("a loop without a place: %v", err)
	}
	w.leave()
	if err := w.begin(); typeOf(err) != errGone {
		t.Errorf("a worker that leaves: %v", err)
	}
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	env.RegisterActivity(w)
	if _, err := env.ExecuteActivity(w.Place, in); typeOf(err) != errGone {
		t.Errorf("a worker that leaves takes a loop: %v", err)
	}
}

// A loop that returns its slot keeps its place, one that has ended does not, and what is still
// ending there is not taken away from it. A loop that is back finds its folder.
func TestWhoLeavesAPlace(t *testing.T) {
	w, p, in := placed(t)
	leave := func(status core.Status) {
		t.Helper()
		if err := w.Leave(t.Context(), Leave{Loop: p.id, Status: status}); err != nil {
			t.Error(err)
		}
	}
	there := func() (place, tree bool) {
		_, err := os.Stat(p.tree)
		return w.places[p.id] != nil, err == nil
	}
	leave("")
	if place, tree := there(); !place || !tree || len(w.held) > 0 {
		t.Errorf("without a slot: place %v, tree %v, slots %v", place, tree, w.held)
	}
	p.busy.Lock()
	leave(core.StatusDone)
	if place, tree := there(); !place || !tree {
		t.Errorf("still ending: place %v, tree %v", place, tree)
	}
	p.busy.Unlock()
	leave(core.StatusFailed)
	if place, tree := there(); place || !tree {
		t.Errorf("failed: place %v, tree %v", place, tree)
	}
	p, err := w.place(in)
	if err != nil {
		t.Fatal(err)
	}
	leave(core.StatusDone)
	if place, tree := there(); place || tree {
		t.Errorf("done: place %v, tree %v", place, tree)
	}
	leave(core.StatusDone) // it is gone
}

// A repository around the worker's folder keeps what it knows of its own work trees.
func TestAnotherRepositoryIsLeftAlone(t *testing.T) {
	around := repo(t)
	away := filepath.Join(t.TempDir(), "away")
	git1(t, around, "worktree", "add", "-q", "--detach", away)
	if err := os.RemoveAll(away); err != nil { // its disk is not mounted
		t.Fatal(err)
	}
	w := &Worker{Name: "w1", Root: filepath.Join(around, "worker")}
	tree := filepath.Join(w.Root, "trees", "20260102-030405-0001")
	if err := os.MkdirAll(tree, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.removeTree(t.Context(), filepath.Base(tree)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(tree); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the tree stays: %v", err)
	}
	if got := git1(t, around, "worktree", "list", "--porcelain"); !strings.Contains(got, away) {
		t.Errorf("it has forgotten a work tree: %s", got)
	}
}

// A sweep removes what is old, and nothing that is used or that is no loop's.
func TestWhatASweepRemoves(t *testing.T) {
	w, p, _ := placed(t)
	now := time.Now()
	old := now.Add(-73 * time.Hour)
	for _, kind := range []string{"trees", "runs"} {
		for name, at := range map[string]time.Time{"old": old, "young": now.Add(-71 * time.Hour), ".other": old, p.id: old} {
			dir := filepath.Join(w.Root, kind, name)
			if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chtimes(dir, at, at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.sweep(now)
	for _, kind := range []string{"trees", "runs"} {
		for name, want := range map[string]bool{"old": false, "young": true, ".other": true, p.id: true} {
			if _, err := os.Stat(filepath.Join(w.Root, kind, name)); (err == nil) != want {
				t.Errorf("%s/%s: %v", kind, name, err)
			}
		}
	}
	w.Keep = time.Hour
	w.sweep(now)
	if _, err := os.Stat(filepath.Join(w.Root, "trees", "young")); err == nil {
		t.Error("it is kept for longer than the worker was told")
	}
	p.busy.Lock()
	w.sweep(now.Add(2 * time.Hour))
	if w.places[p.id] == nil || len(w.held) == 0 {
		t.Error("a place was closed while something ran there")
	}
	p.busy.Unlock()
	w.sweep(now.Add(2 * time.Hour))
	if w.places[p.id] != nil || len(w.held) > 0 {
		t.Error("a place that nobody uses stays open")
	}
}

// An iteration that the workflow cancelled has its end on record: no other worker runs it again.
func TestACancelledIterationIsReported(t *testing.T) {
	w, p, in := placedLine(t, "touch begun; exec sleep 100000")
	out, err := iterated(t, w, p, in, 0, func(cancel context.CancelCauseFunc) {
		exists(t, p, "begun")
		cancel(temporal.NewCanceledError())
	})
	if err != nil || out.Result.Outcome != core.OutcomeInterrupted {
		t.Errorf("%+v, %v", out, err)
	}
}

// remains is a line whose command ends with that code, and whose background does not end before it
// is killed; told is there once it was asked to.
func remains(code int) string {
	return fmt.Sprintf("(trap ': >told' TERM; : >ready; while :; do sleep 0.01; done) & until test -e ready; do sleep 0.01; done; exit %d", code)
}

// iterated is what becomes of an iteration that ends beside what do does.
func iterated(t *testing.T, w *Worker, p *place, in Prepare, left time.Duration, do func(context.CancelCauseFunc)) (out Iterated, err error) {
	t.Helper()
	s := new(core.State)
	if err := s.Apply(core.Event{Seq: 1, Time: time.Now(), Data: in.Started}); err != nil {
		t.Fatal(err)
	}
	iterate := func(ctx context.Context) (Iterated, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		go do(cancel)
		return w.Iterate(ctx, Iterate{Loop: p.id, State: *s, Iteration: core.Iteration{Number: 1}, Left: left})
	}
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	env.SetTestTimeout(eventually.Patience)
	env.RegisterActivity(iterate)
	v, err := env.ExecuteActivity(iterate)
	if err == nil {
		err = v.Get(&out)
	}
	return out, err
}

// exists waits for a file in the tree of a loop.
func exists(t *testing.T, p *place, name string) {
	t.Helper()
	eventually.Holds(t, name, func() bool {
		_, err := os.Stat(filepath.Join(p.tree, name))
		return err == nil
	})
}

// An iteration whose command was done before the worker stopped is done, and does not run again;
// what the worker has stopped does.
func TestAnIterationIsDoneBeforeTheWorkerStops(t *testing.T) {
	for line, done := range map[string]bool{remains(0): true, "touch told; exec sleep 100000": false} {
		w, p, in := placedLine(t, line)
		out, err := iterated(t, w, p, in, 0, func(context.CancelCauseFunc) {
			exists(t, p, "told")
			w.cut(w.stopped())
		})
		if (err == nil) != done || (out.Result.Outcome == core.OutcomeDone) != done || !done && typeOf(err) != errStopped {
			t.Errorf("%s: %+v, %v", line, out, err)
		}
	}
}

// The time of a loop may be over once the command of an iteration has ended: what is done is done,
// and what is not has no time left.
func TestTheTimeIsOverAfterTheCommand(t *testing.T) {
	within := 500 * time.Millisecond
	for code, want := range []core.IterationFinished{{Outcome: core.OutcomeDone, Cause: core.CauseExited}, {Outcome: core.OutcomeError, Cause: core.CauseMaxRuntime}} {
		for {
			w, p, in := placedLine(t, remains(code))
			out, err := iterated(t, w, p, in, within, func(context.CancelCauseFunc) {})
			if err != nil {
				t.Fatal(err)
			}
			if code == 0 && out.Result.Cause == core.CauseMaxRuntime && within < 30*time.Second {
				within *= 8 // the machine is slow
				continue
			}
			if out.Result.Outcome != want.Outcome || out.Result.Cause != want.Cause {
				t.Fatalf("exit code %d: %+v", code, out)
			}
			break
		}
	}
}

// An iteration whose checkpoint cannot be kept is not done; one that runs again anyhow does so.
func TestACheckpointThatCannotBeKept(t *testing.T) {
	for line, want := range map[string]core.Outcome{"touch begun": core.OutcomeError, "touch begun; exec sleep 100000": core.OutcomeInterrupted} {
		w, p, in := placedLine(t, line)
		p.repo = p.tree
		if err := os.MkdirAll(w.index(p), 0o700); err != nil { // where git wants a file
			t.Fatal(err)
		}
		out, err := iterated(t, w, p, in, 0, func(cancel context.CancelCauseFunc) {
			if exists(t, p, "begun"); want == core.OutcomeInterrupted {
				cancel(temporal.NewCanceledError())
			}
		})
		if err != nil || out.Result.Outcome != want || !strings.Contains(out.Result.Detail, "cannot keep a checkpoint") {
			t.Errorf("%s: %+v, %v", line, out, err)
		}
	}
}

// A loop that is back gets no slot beside those that there are.
func TestALoopThatIsBackNeedsASlot(t *testing.T) {
	w, _, in := placed(t)
	for range w.Slots { // one of a loop, the other of a poll
		if err := w.slots.take(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	in.Started.RunID, in.Back = scratchpad.NewIDs("", time.Now(), 1)[0], true
	env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
	env.RegisterActivity(w)
	if _, err := env.ExecuteActivity(w.Place, in); typeOf(err) != errGone || len(w.held) != 1 {
		t.Errorf("%v, slots of %v", err, w.held)
	}
}

// A loop that has moved goes on from its checkpoint, which its new worker does not have yet.
func TestACheckpointIsFetched(t *testing.T) {
	from, at := repo(t), ""
	for _, name := range []string{"w1", "w2"} {
		w := &Worker{Name: name, Root: t.TempDir()}
		p := &place{id: "20260102-030405-0001", repo: from}
		p.tree = filepath.Join(w.Root, "trees", p.id)
		if err := os.MkdirAll(filepath.Dir(w.index(p)), 0o700); err != nil {
			t.Fatal(err)
		}
		last, _, err := w.checkOut(t.Context(), p, at)
		if err != nil {
			t.Fatal(err)
		}
		if head, want := git1(t, p.tree, "rev-parse", "HEAD"), git1(t, from, "rev-parse", "HEAD"); head != want {
			t.Errorf("%s works on %s, not on the repository's %s", name, head, want)
		}
		work := filepath.Join(p.tree, "work")
		if _, err := os.Stat(work); (err == nil) != (at != "") {
			t.Errorf("%s, at %q: %v", name, at, err)
		}
		if err := os.WriteFile(work, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if at, err = w.checkpoint(t.Context(), p, 1); err == nil {
			err = w.push(t.Context(), p, at, last)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A tree is not set up where that cannot be noted, nor over half of one that cannot be removed.
func TestATreeThatCannotBeSetUp(t *testing.T) {
	w := &Worker{Name: "w1", Root: t.TempDir()}
	p := &place{id: "20260102-030405-0001"}
	p.tree = filepath.Join(w.Root, "trees", p.id)
	if _, _, err := w.checkOut(t.Context(), p, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder for the note: %v", err)
	}
	elsewhere := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Dir(w.unready(p)), 0o700), os.WriteFile(w.unready(p), nil, 0o600),
		os.Mkdir(filepath.Join(elsewhere, p.id), 0o700), os.Symlink(elsewhere, filepath.Join(w.Root, "trees"))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.checkOut(t.Context(), p, ""); err == nil {
		t.Error("set up over a half that stays")
	}
}

// A worker that has lost a loop cannot store a checkpoint of it, and does not try again.
func TestAPushIsRejected(t *testing.T) {
	w := &Worker{Name: "w1", Root: t.TempDir()}
	p := &place{id: "20260102-030405-0001", repo: repo(t)}
	p.tree = filepath.Join(w.Root, "trees", p.id)
	if err := os.MkdirAll(filepath.Dir(w.index(p)), 0o700); err != nil {
		t.Fatal(err)
	}
	first, _, err := w.checkOut(t.Context(), p, "")
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := w.checkOut(t.Context(), p, first)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.push(t.Context(), p, first, first); typeOf(err) != errRejected {
		t.Errorf("another worker has it: %v", err)
	}
	if got := git1(t, p.repo, "rev-parse", checkpoint.Ref(p.id)); got != second {
		t.Errorf("the repository has %s, not %s", got, second)
	}
}

// A checkpoint that cannot be pushed is tried for its time, and so is the loop after that.
func TestAPushIsGivenUp(t *testing.T) {
	b := newBench(t, nil)
	from := repo(t)
	l := submitted(t, "mv "+from+" "+from+".away", func(l *loops.Loop) { l.Repo = from })
	l.Work.RetryFor = time.Hour
	began := b.Now()
	r := b.run(l)
	if took := b.Now().Sub(began); r.Status != core.StatusFailed || r.Iterations > 1 || took < time.Hour || took > 3*time.Hour {
		t.Errorf("%+v after %s", r, took)
	}
}

// A tree whose placement failed before its setup ran is set up by the next one.
func TestASetupIsNotSkipped(t *testing.T) {
	b := newBench(t, nil)
	from := repo(t)
	first := filepath.Join(from, "first")
	hook := "#!/bin/sh\ntest -e " + first + " || { : > " + first + "; exit 1; }\n"
	if err := os.WriteFile(filepath.Join(from, ".git", "hooks", "pre-receive"), []byte(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	r := b.run(submitted(t, "test -e up", func(l *loops.Loop) { l.Repo, l.Setup = from, "echo set > up" }))
	if _, err := os.Stat(first); r.Status != core.StatusDone || r.Iterations != 1 || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// A preparation that is cut short is handed back and makes no worker sick: it says nothing about
// the loop, whose setup was killed.
func TestAPreparationIsCutShort(t *testing.T) {
	for _, tt := range []struct {
		name  string
		setup bool  // it is cut while its setup runs, not its clone
		cause error // why the server ends it; nil: the worker stops
	}{
		{"the worker stops", false, nil},
		{"the worker stops", true, nil},
		{"the loop is cancelled", false, temporal.NewCanceledError()},
		{"the server is away", true, serviceerror.NewUnavailable("away")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, p, in := placed(t)
			w.unhold(p.id)
			at, begun, end := hang(t)
			in.Started.RunID, in.Work.Repo = scratchpad.NewIDs("", time.Now(), 1)[0], at
			if tt.setup {
				in.Work.Repo, in.Work.Setup = "", "git ls-remote "+at
			}
			place := func(ctx context.Context) (Placed, error) {
				ctx, cancel := context.WithCancelCause(ctx)
				go func() {
					<-begun
					if tt.cause == nil {
						w.cut(errors.New("it stops"))
					} else {
						cancel(tt.cause)
					}
					end()
				}()
				return w.Place(ctx, in)
			}
			env := new(testsuite.WorkflowTestSuite).NewTestActivityEnvironment()
			env.SetTestTimeout(eventually.Patience)
			env.RegisterActivity(place)
			if _, err := env.ExecuteActivity(place); typeOf(err) != errStopped || w.slots.failed != 0 || len(w.held) != 0 {
				t.Errorf("%v, failed %d, held %v", err, w.slots.failed, w.held)
			}
		})
	}
}

// Each line that a worker logs names it, its queue and the loop.
func TestAWorkerLogsForPrograms(t *testing.T) {
	for line, want := range map[string][]string{
		"true":    {"loop placed", "iteration ended", "loop left"},
		"setup":   {"loop not placed"},
		"refused": {"loop refused"},
		"misread": {"loop refused"},
	} {
		var said bytes.Buffer
		b := newBench(t, func(w *Worker) {
			w.Log = slog.New(slog.NewJSONHandler(&said, nil))
			if w.prepare(nil); line == "refused" {
				w.Allow = new(Allow)
			}
		})
		l := submitted(t, "true", func(l *loops.Loop) {
			if line == "setup" {
				l.Setup = "exit 1"
			}
		})
		if line == "misread" {
			l.Work.Ref = "main:main"
		}
		b.run(l)
		var got []string
		for each := json.NewDecoder(&said); ; {
			var r struct {
				Message             string `json:"msg"`
				Worker, Queue, Loop string
				Outcome             core.Outcome
			}
			if err := each.Decode(&r); errors.Is(err, io.EOF) {
				break
			} else if err != nil || r.Worker != "w1" || r.Queue != "looprun" || r.Loop != l.Started.RunID || (r.Message == "iteration ended") != (r.Outcome == core.OutcomeDone) {
				t.Fatalf("%s: %+v, %v", line, r, err)
			}
			got = append(got, r.Message)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// A poll has a slot until it is released, or until the loop that it brought ends. A worker that fails
// to place loops rests, and one that stops takes none, however long it lives.
func TestSlotsArePassedOn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // without it a worker that never takes would hang here
	defer cancel()
	if _, err := newSlots(1).ReserveSlot(ctx, nil); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		takes := func(want bool, when string) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), rest/2)
			defer cancel()
			if _, err := s.ReserveSlot(ctx, nil); (err == nil) != want {
				t.Fatalf("%s: %v", when, err)
			}
		}
		fails := func() {
			for i := range sickAfter {
				if s.placed(errors.New("the disk is full")) != (i == sickAfter-1) {
					t.Errorf("after %d failures", i+1)
				}
			}
		}
		takes(true, "a free slot")
		takes(false, "a slot in use")
		s.ReleaseSlot(nil)
		takes(true, "a slot that was released")
		s.keep()
		s.ReleaseSlot(nil)
		takes(false, "a slot that a loop keeps")
		s.give()
		fails()
		takes(false, "a worker that rests")
		time.Sleep(rest)
		takes(true, "a worker that has rested")
		s.ReleaseSlot(nil)
		s.close()
		fails()
		time.Sleep(2 * rest)
		takes(false, "a worker that stops")

		// A loop that comes back waits for a slot, unless a poll has the one that becomes free.
		w := &Worker{Name: "w1", Slots: 1}
		w.prepare(nil)
		comesBack := func(wait, want time.Duration, when string) {
			t.Helper()
			began := time.Now()
			if err := w.hold(t.Context(), "back", wait); err == nil || time.Since(began) != want {
				t.Errorf("%s: after %s: %v", when, time.Since(began), err)
			}
		}
		if err := w.slots.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		comesBack(again, 0, "a poll has the slot")
		comesBack(turn, turn, "a poll has the slot, and the loop waits in its own queue")
		w.held["other"] = time.Now()
		comesBack(again, again, "a loop has the slot")
		w.Slots = 2
		w.prepare(nil)
		if err := errors.Join(w.slots.take(t.Context()), w.hold(t.Context(), "back", again)); err != nil {
			t.Errorf("of two slots a poll has one: %v", err)
		}
	})
}
