package many

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/scratchpad"
)

// remains reports whether something with that name exists.
func remains(t *testing.T, name string) bool {
	t.Helper()
	_, err := os.Lstat(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// What was taken is that commit: what the loop made after it is not taken.
func TestALaterCommitIsNotTaken(t *testing.T) {
	top := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		out, err := git.Run(t.Context(), top, nil, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	commit := func(text string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(top, "f"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		run("add", "-A")
		run("-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", text)
		return run("rev-parse", "HEAD")
	}
	run("init", "-q")
	base := commit("base")
	run("checkout", "-q", "--detach")
	first, second := commit("first"), commit("second")
	p := &Plan{ID: "20260102-030405-0001", State: t.TempDir()}
	m := &result{Loop: &Loop{RunID: "20260102-030405-0002", Base: base}, plan: p, repo: &repository{top: top}}
	taken := func(commit string) bool {
		t.Helper()
		is, err := m.taken(t.Context(), new(branches), commit)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if taken(first) || taken(second) || !taken(base) {
		t.Error("before anything was taken: only the start has nothing to take")
	}
	if err := p.took(m.RunID, first); err != nil {
		t.Fatal(err)
	}
	if !taken(first) || taken(second) {
		t.Errorf("the first commit was taken: %v, and the second: %v", taken(first), taken(second))
	}
}

// A run that is active is not removed, whether the list or the lock says so.
func TestAnActiveRunIsNotRemoved(t *testing.T) {
	r := &Removal{State: t.TempDir(), Untaken: true}
	run, err := scratchpad.CreateAs(r.State, "20260102-030405-0001", scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	s := scratchpad.Summary{Dir: run.Dir, Status: core.StatusDone}
	const active = "it is active"
	if why := r.Why(s, ByName); why != active {
		t.Errorf("it began after it was listed: %q", why)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	if why := r.Why(s, ByName); why != "" {
		t.Errorf("it has ended: %q", why)
	}
	s.Alive = true
	if why := r.Why(s, ByName); why != active {
		t.Errorf("it ended after it was listed: %q", why)
	}
}

// A plan that is only being made stays, and one that never began goes after an hour.
func TestAPlanThatIsBeingMade(t *testing.T) {
	r := &Removal{State: t.TempDir()}
	dir := filepath.Join(folder(r.State), "20260102-030405-0001")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Expire(time.Now())
	if !remains(t, dir) {
		t.Error("it was removed while somebody made it")
	}
	broken := filepath.Join(dir, planName)
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Expire(time.Now().Add(2 * time.Hour))
	if !remains(t, dir) {
		t.Error("a plan that cannot be read was removed")
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	r.Expire(time.Now().Add(2 * time.Hour))
	if remains(t, dir) {
		t.Error("it never began, and stays")
	}
}

// A loop that is active for longer than its tree is kept has its tree, and one that is to be
// started by --resume has it for that time.
func TestWhoseTreeExpires(t *testing.T) {
	began := time.Now()
	state := t.TempDir()
	p := &Plan{Schema: planSchema, ID: "20260102-030405-0001", State: state, Trees: t.TempDir(), Started: began, Limits: Limits{Keep: time.Hour}, Loops: []Loop{{Name: "a", RunID: "20260102-030405-0002", Repository: t.TempDir()}}}
	l := &p.Loops[0]
	l.Tree = p.treeOf(0)
	r := &Removal{State: state}
	expired := func(after time.Duration) bool {
		t.Helper()
		if err := os.MkdirAll(l.Tree, 0o700); err != nil {
			t.Fatal(err)
		}
		done := r.expired(planned{p, l}, began.Add(after))
		if there := remains(t, l.Tree); there == done {
			t.Errorf("after %s: expired %v, and its tree is there: %v", after, done, there)
		}
		return done
	}
	if expired(time.Minute) {
		t.Error("it is to be started yet")
	}
	if !expired(2 * time.Hour) {
		t.Error("nobody started it in its time, and its mirror is gone")
	}
	if _, err := git.Run(t.Context(), p.Trees, nil, "init", "-q", "--bare", repositoryOf(p.Trees, l.Repository).mirror); err != nil {
		t.Fatal(err)
	}
	if !expired(2 * time.Hour) {
		t.Error("nobody started it in its time")
	}
	if err := p.write(nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir(), resultName), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !expired(time.Minute) {
		t.Error("its run was removed, and its tree stays")
	}
	run, err := scratchpad.CreateAs(state, l.RunID, scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if expired(time.Minute) {
		t.Error("its run is being made")
	}
	if err := run.Journal.Append(core.Event{Seq: 1, Time: began, Data: core.RunStarted{RunID: l.RunID, Command: []string{"true"}, Dir: l.Tree}}); err != nil {
		t.Fatal(err)
	}
	if expired(2 * time.Hour) {
		t.Error("it is active")
	}
}

// A plan that somebody planted names no folder but those of looprun.
func TestAPlantedPlan(t *testing.T) {
	const run = "20260102-030405-0002"
	trees := t.TempDir()
	for name, c := range map[string]struct {
		trees, run, tree string
		ok               bool
	}{
		"good":             {trees, run, "", true},
		"another tree":     {trees, run, t.TempDir(), false},
		"a relative place": {"trees", run, "", false},
		"another run":      {trees, "../../home", "", false},
	} {
		p := &Plan{ID: "20260102-030405-0001", Trees: c.trees, Loops: []Loop{{Name: "a", RunID: c.run, Repository: trees}}}
		if p.Loops[0].Tree = p.treeOf(0); c.tree != "" {
			p.Loops[0].Tree = c.tree
		}
		if p.form() != c.ok {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
