package many

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
)

// A loop that is active, or whose batch is, is not taken, and results of two repositories are
// not mixed.
func TestWhatIsNotTaken(t *testing.T) {
	m := batchOfOne(t)
	dir := journal(t, m.State, m.l.RunID, core.RunStarted{RunID: m.l.RunID, Repository: m.l.Repository, Checkpoint: m.l.Base})
	write(t, filepath.Join(m.l.Tree, "f"), "changed")
	refused := func(want string, names ...string) {
		t.Helper()
		taking, err := (&Removal{State: m.State}).Take(t.Context(), names, "b")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v; want %q", taking, err, want)
		}
	}
	for _, active := range []string{dir, m.p.dir()} {
		release, err := scratchpad.Hold(active)
		if err != nil {
			t.Fatal(err)
		}
		refused("a is active", "a")
		_ = release()
	}
	other := batchOfOne(t)
	second := *other.p
	second.State, second.Loops = m.State, slices.Clone(second.Loops)
	second.Loops[0].Name = "b"
	second.name(m.p.Started.Add(time.Hour))
	if err := second.write(nil); err != nil {
		t.Fatal(err)
	}
	refused("the loops work on two repositories", "a", "b")
	refused(`no loop of looprun many is called "nosuch"`, "nosuch")
	refused("fits 2 loops", "20")
	taking, err := (&Removal{State: m.State}).Take(t.Context(), []string{"a", m.l.RunID}, "b")
	if err != nil || len(taking.Left) != 1 {
		t.Errorf("it is named twice: %+v, %v", taking, err)
	}
	if taking, err = (&Removal{State: m.State}).Take(t.Context(), nil, "b"); err != nil || len(taking.Left) != 0 {
		t.Errorf("no loop is done: %+v, %v", taking, err)
	}
}

// conflict stops a taking: the loop and the user changed the same line.
func conflict(t *testing.T) (*oneLoop, *Taking) {
	t.Helper()
	m := batchOfOne(t)
	write(t, filepath.Join(m.l.Tree, "f"), "theirs")
	m.whole(t)
	write(t, filepath.Join(m.l.Repository, "f"), "ours")
	gitIn(t, m.l.Repository, "commit", "-q", "-a", "-m", "ours")
	taking, err := m.Take(t.Context(), []string{"a"}, "")
	if err != nil {
		t.Fatal(err)
	}
	err = taking.Run(t.Context())
	if _, ok := errors.AsType[*ConflictError](err); !ok {
		t.Fatalf("there is no conflict: %+v, %v", taking, err)
	}
	return m, m.stopped(t)
}

func (m *oneLoop) stopped(t *testing.T) *Taking {
	t.Helper()
	taking, err := (&Removal{State: m.State}).Stopped()
	if err != nil {
		t.Fatal(err)
	}
	return taking
}

// A taking that was stopped goes on once the conflict is resolved, however it was, and not on a
// branch that somebody moved.
func TestAConflictIsResolved(t *testing.T) {
	m, taking := conflict(t)
	f := filepath.Join(taking.Tree, "f")
	both, err := os.ReadFile(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := taking.Continue(t.Context()); err == nil || !strings.Contains(err.Error(), "still has conflict markers") {
		t.Errorf("nothing was resolved: %v", err)
	}
	head, _, _ := strings.Cut(string(both), "=======")
	write(t, f, head) // one mark alone may belong to the file
	gitIn(t, m.l.Repository, "update-ref", taking.ref(), m.l.Base)
	if err := taking.Continue(t.Context()); err == nil || !strings.Contains(err.Error(), "was moved since") {
		t.Errorf("the branch was moved: %v", err)
	}
	if err := taking.Abort(t.Context()); err == nil || !strings.Contains(err.Error(), "was moved since") {
		t.Errorf("the branch was moved: %v", err)
	}
	gitIn(t, m.l.Repository, "update-ref", taking.ref(), taking.Tip)
	if err := m.stopped(t).Continue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := gitIn(t, m.l.Repository, "show", taking.ref()+":f"); got != strings.TrimSpace(head) || m.stopped(t) != nil || remains(t, taking.Tree) {
		t.Errorf("it is %q", got)
	}
	if again, err := (&Removal{State: m.State}).Take(t.Context(), []string{"a"}, ""); err != nil || len(again.Left) != 0 {
		t.Errorf("it was taken: %+v, %v", again, err)
	}

	m, taking = conflict(t)
	if err := os.Remove(filepath.Join(taking.Tree, "f")); err != nil {
		t.Fatal(err)
	}
	if err := taking.Continue(t.Context()); err != nil {
		t.Errorf("the file was deleted: %v", err)
	}
	if got := gitIn(t, m.l.Repository, "ls-tree", "--name-only", taking.ref()); got != "" {
		t.Errorf("the branch has %q", got)
	}

	m, taking = conflict(t)
	gitIn(t, m.l.Repository, "update-ref", "-d", taking.ref())
	if err := taking.Abort(t.Context()); err != nil || m.stopped(t) != nil {
		t.Errorf("the branch is gone: %v", err)
	}
	m, taking = conflict(t)
	if err := taking.Abort(t.Context()); err != nil || m.stopped(t) != nil || gitIn(t, m.l.Repository, "for-each-ref", taking.ref()) != "" || remains(t, taking.Tree) {
		t.Errorf("nothing is to be left: %v", err)
	}
	taken, err := (&Removal{State: m.State}).Take(t.Context(), []string{"a"}, "")
	if err != nil || len(taken.Left) != 1 {
		t.Errorf("it was not taken: %+v, %v", taken, err)
	}
}

// The record of a taking that somebody planted names no folder but those of looprun.
func TestAPlantedTaking(t *testing.T) {
	m, taking := conflict(t)
	good := *taking
	for name, change := range map[string]func(*Taking){
		"nothing left":       func(x *Taking) { x.Left = nil },
		"another run":        func(x *Taking) { x.Left = []Taken{{RunID: "20260102-030405-0009"}} },
		"another repository": func(x *Taking) { x.Repository = t.TempDir() },
		"another tree":       func(x *Taking) { x.Tree = t.TempDir() },
	} {
		x := good
		change(&x)
		text, err := json.Marshal(&x)
		if err != nil {
			t.Fatal(err)
		}
		write(t, m.takingFile(), string(text))
		if got, err := (&Removal{State: m.State}).Stopped(); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	write(t, m.takingFile(), "x")
	if got, err := (&Removal{State: m.State}).Stopped(); err == nil {
		t.Errorf("no JSON: %+v", got)
	}
	if err := os.Remove(m.takingFile()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(m.takingFile(), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := (&Removal{State: m.State}).Stopped(); err == nil {
		t.Errorf("no file: %+v", got)
	}
}
