package many

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/internal/rounds"
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
	if err := os.Mkdir(p.runDir(l), 0o700); err != nil {
		t.Fatal(err)
	}
	if expired(time.Minute) {
		t.Error("its run has a folder")
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

// journal writes the run of a loop with these events.
func journal(t *testing.T, state, id string, events ...core.Data) string {
	t.Helper()
	run, err := scratchpad.CreateAs(state, id, scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range events {
		if err := run.Journal.Append(core.Event{Seq: int64(i + 1), Time: time.Now(), Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	return run.Dir
}

// Whoever names a run has looked at it. A choice keeps what waits for somebody, and a rule
// whatever may be needed.
func TestWhatIsKept(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	started := core.RunStarted{RunID: "r", Dir: t.TempDir()}
	asks := []core.Data{started, looptest.First, looptest.Ended1, looptest.Tripped, looptest.Question}
	named := json.RawMessage(`{"options": {"result": "result.json"}}`)
	const unread, answered, paused, waits = "it cannot be read", "it is answered; looprun resume continues it", "it is paused", "it waits for an answer"
	for name, c := range map[string]struct {
		s            scratchpad.Summary
		events       []core.Data
		choice, rule string
	}{
		"done":                    {scratchpad.Summary{Status: core.StatusDone}, asks[:1], "", ""},
		"unreadable":              {scratchpad.Summary{Problem: "damaged"}, asks[:1], unread, unread},
		"answered":                {scratchpad.Summary{Status: core.StatusInterrupted, Answered: "yes"}, asks[:1], answered, answered},
		"paused":                  {scratchpad.Summary{Status: core.StatusPaused}, asks[:1], paused, paused},
		"crashed while asking":    {scratchpad.Summary{Status: core.StatusCrashed}, asks, waits, waits},
		"ended while asking":      {scratchpad.Summary{Status: core.StatusInterrupted}, asks, waits, waits},
		"ended, and asks nothing": {scratchpad.Summary{Status: core.StatusInterrupted}, asks[:1], "", "it can be resumed"},
		"tripped while asking":    {scratchpad.Summary{Status: core.StatusTripped}, asks, "", ""},
		"failed":                  {scratchpad.Summary{Status: core.StatusFailed}, asks[:1], "", ""},
		"named by --result":       {scratchpad.Summary{Status: core.StatusDone}, []core.Data{core.RunStarted{Config: named}}, "", "it ran with --result"},
		"named when resumed":      {scratchpad.Summary{Status: core.StatusDone}, []core.Data{started, core.RunResumed{Config: named}}, "", "it ran with --result"},
		"with a rejection":        {scratchpad.Summary{Status: core.StatusDone}, []core.Data{started, core.RejectionInvalid{}}, "", "it holds a rejection"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Removal{State: t.TempDir()}
			c.s.Dir = journal(t, r.State, "20260102-030405-0001", c.events...)
			for asked, want := range map[Asked]string{ByName: "", ByChoice: c.choice, ByRule: c.rule} {
				if why := r.Why(c.s, asked); why != want {
					t.Errorf("chosen as %d: %q, want %q", asked, why, want)
				}
			}
		})
	}
	r := &Removal{State: t.TempDir()}
	empty := scratchpad.Summary{Problem: "it holds no events", Dir: journal(t, r.State, "20260102-030405-0001")}
	if why := r.Why(empty, ByChoice); why != "" {
		t.Errorf("it never began: %q", why)
	}
	begun := scratchpad.Summary{Status: core.StatusDone, Dir: journal(t, r.State, "20260102-030405-0002", asks[:1]...)}
	damaged := scratchpad.Summary{Status: core.StatusInterrupted, Dir: journal(t, r.State, "20260102-030405-0003", asks...)}
	name := filepath.Join(damaged.Dir, "journal.jsonl")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name, strings.Replace(string(text), "\n", "\nx\n", 1))
	if why := r.Why(damaged, ByRule); why != "it can be resumed" {
		t.Errorf("it is damaged: %q", why)
	}
	damaged.Status = core.StatusDone
	if why := r.Why(damaged, ByRule); why != unread {
		t.Errorf("it is done, and damaged since: %q", why)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if why := r.Why(begun, ByRule); why != "it is not known to be yours" {
		t.Errorf("somebody else's: %q", why)
	}
	if why := r.Why(begun, ByChoice); why != "" {
		t.Errorf("somebody else's, and chosen: %q", why)
	}
}

// One change counts as taken wherever it is in its file, and going back to an earlier state is
// a change.
func TestTheSameChangeIsTaken(t *testing.T) {
	m := batchOfOne(t)
	run := func(args ...string) string { return gitIn(t, m.l.Repository, args...) }
	lines := func(text ...string) string {
		t.Helper()
		write(t, filepath.Join(m.l.Repository, "f"), strings.Join(text, "\n")+"\n")
		run("commit", "-q", "-a", "-m", "c")
		return run("rev-parse", "HEAD")
	}
	branch := run("branch", "--show-current")
	first := lines("one", "a", "b", "c", "d", "e", "f", "g")
	base := lines("1", "a", "b", "c", "d", "e", "f", "g")
	run("checkout", "-q", "--detach")
	made := lines("1", "a", "b", "c", "d", "E", "f", "g")
	other := lines("1", "a", "b", "c", "d", "e!", "f", "g")
	back := lines("one", "a", "b", "c", "d", "e", "f", "g")
	if run("rev-parse", back+"^{tree}") != run("rev-parse", first+"^{tree}") {
		t.Fatal("it is not the first state again")
	}
	run("checkout", "-q", branch)
	lines("0", "1", "a", "b", "c", "d", "e", "f", "g")
	lines("0", "1", "a", "b", "c", "d", "E", "f", "g")
	lines("0", "1", "a", "b", "c", "d", "E", "f", "G")
	run("checkout", "-q", "--detach", base)
	steps := lines("0", "1", "a", "b", "c", "d", "E", "f", "G")
	run("checkout", "-q", branch)
	m.l.Base = base
	for commit, want := range map[string]bool{made: true, other: false, back: false, steps: true} {
		got, err := (&result{Loop: m.l, repo: m.repo}).taken(t.Context(), new(branches), commit)
		if err != nil || got != want {
			t.Errorf("%s: taken %v, %v, want %v", run("show", "--format=", commit), got, err, want)
		}
	}
	path := os.Getenv("PATH")
	for call, says := range map[string]string{
		`*%T*) exit 128`: "cannot tell", `*" log --patch"*) exit 128`: "cannot tell", `*" diff "*) exit 0`: "nobody took",
	} {
		gitThat(t, `case "$*" in `+call+`;; esac`)
		if why := (&result{Loop: m.l, repo: m.repo, commits: []string{other}}).why(t.Context(), new(branches)); !strings.Contains(why, says) {
			t.Errorf("%s: %q", call, why)
		}
		t.Setenv("PATH", path)
	}
	m.l.Base = strings.Repeat("1", 40)
	if is, err := (&result{Loop: m.l, repo: m.repo}).taken(t.Context(), new(branches), steps); !is || err != nil {
		t.Errorf("its base is in no branch any more: taken %v, %v", is, err)
	}
}

// A git that fails after the first file of a patch has not printed what a branch has.
func TestAPartOfAPatchIsNotTaken(t *testing.T) {
	m := batchOfOne(t)
	run := func(args ...string) string { return gitIn(t, m.l.Repository, args...) }
	branch := run("branch", "--show-current")
	for _, name := range []string{"a", "b"} {
		write(t, filepath.Join(m.l.Repository, name), "made")
	}
	run("checkout", "-q", "--detach")
	run("add", "-A")
	run("commit", "-q", "-m", "both")
	made := run("rev-parse", "HEAD")
	run("checkout", "-q", branch)
	run("checkout", made, "--", "a")
	run("commit", "-q", "-m", "one")
	gitThat(t, `case " $* " in *" diff "*) "$real" "$@" | sed '/^diff --git a.b /,$d'; echo broken >&2; exit 128;; esac`)
	if printed, err := git.Run(t.Context(), m.l.Repository, nil, append(patchOf("diff"), m.l.Base, made)...); err == nil || !strings.HasSuffix(printed, "+made\n\\ No newline at end of file") || strings.Contains(printed, "b/b") {
		t.Fatalf("it is to print the first file only, and to fail: %q, %v", printed, err)
	}
	if is, err := (&result{Loop: m.l, repo: m.repo}).taken(t.Context(), new(branches), made); is || err != nil {
		t.Errorf("taken %v, %v", is, err)
	}
}

// A result is what the loop made since its run began, and its tree counts as long as it is
// there.
func TestRoom(t *testing.T) {
	m := batchOfOne(t)
	if n, bytes := m.Room(); n != 0 || bytes != 0 {
		t.Errorf("nothing has begun: %d results, %d bytes", n, bytes)
	}
	write(t, filepath.Join(m.l.Tree, "made by setup"), "x")
	start := m.whole(t)
	dir := journal(t, m.State, m.l.RunID, core.RunStarted{RunID: m.l.RunID, Repository: m.l.Repository, Checkpoint: start}, core.RunFinished{Ending: core.Ending{Status: core.StatusTripped, ExitCode: 111}})
	if n, _ := m.Room(); n != 0 || m.Lost(dir) != "" {
		t.Errorf("it tripped, and made nothing: %d results, %q", n, m.Lost(dir))
	}
	write(t, filepath.Join(m.l.Tree, "made"), strings.Repeat("x", 100<<10))
	if why := m.Lost(dir); !strings.HasPrefix(why, "nobody took its result") {
		t.Errorf("what it made after its last checkpoint: %q", why)
	}
	if n, bytes := m.Room(); n != 1 || bytes < 100<<10 || bytes <= scratchpad.Weigh(m.l.Tree) {
		t.Errorf("its tree has 100 KiB, and its mirror has them too: %d results, %d bytes", n, bytes)
	}
	release, err := scratchpad.Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := m.Room(); n != 0 {
		t.Errorf("it is active: %d results", n)
	}
	_ = release()
	if _, err := m.repo.publish(t.Context(), m.l.RunID); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(m.p.Trees); err != nil {
		t.Fatal(err)
	}
	if why := m.Lost(dir); !strings.HasPrefix(why, "nobody took its result") {
		t.Errorf("the mirror is gone: %q", why)
	}
	if n, bytes := m.Room(); n != 1 || bytes == 0 || bytes > 50<<10 {
		t.Errorf("only commits are left: %d results, %d bytes", n, bytes)
	}
	m = batchOfOne(t)
	journal(t, m.State, m.l.RunID, done...)
	if n, _ := m.Room(); n != 1 {
		t.Errorf("it is done, and its tree is not gone: %d results", n)
	}
	if err := os.RemoveAll(m.l.Tree); err != nil {
		t.Fatal(err)
	}
	if n, _ := m.Room(); n != 0 {
		t.Errorf("it is done, and made nothing: %d results", n)
	}
}

// The tree of a loop that ended goes once its time is over, what it made stays until somebody
// takes it, and then nothing is left.
func TestAnEndedLoopExpires(t *testing.T) {
	m := batchOfOne(t)
	dir := journal(t, m.State, m.l.RunID, core.RunStarted{RunID: m.l.RunID, Repository: m.l.Repository, Checkpoint: m.l.Base}, core.RunFinished{Ending: core.Ending{Status: core.StatusTripped, ExitCode: 111}})
	write(t, filepath.Join(m.l.Tree, "made"), "x")
	expired := func(after time.Duration) bool { return m.expired(planned{m.p, m.l}, m.p.Started.Add(after)) }
	if expired(time.Minute) || !remains(t, m.l.Tree) {
		t.Error("its tree is to stay for an hour")
	}
	if expired(2*time.Hour) || remains(t, m.l.Tree) || m.Lost(dir) == "" {
		t.Errorf("its tree is there: %v; its work is %q", remains(t, m.l.Tree), m.Lost(dir))
	}
	away := filepath.Join(t.TempDir(), "away")
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	if expired(2*time.Hour) || m.Lost(dir) == "" {
		t.Error("its run is gone, and nobody took what it made")
	}
	commit := gitIn(t, m.repo.mirror, "rev-parse", checkpoint.Ref(m.l.RunID))
	if err := m.p.took(m.l.RunID, commit); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	if expired(2*time.Hour) || gitIn(t, m.repo.mirror, "for-each-ref", "refs/looprun") == "" {
		t.Error("somebody took it, and its run is there")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	release, err := m.p.Take()
	if err != nil {
		t.Fatal(err)
	}
	if m.Expire(m.p.Started.Add(2 * time.Hour)); !remains(t, m.p.dir()) {
		t.Error("looprun many is running it")
	}
	_ = release()
	if !expired(2*time.Hour) || gitIn(t, m.repo.mirror, "for-each-ref", "refs/looprun") != "" {
		t.Error("somebody took it, and it stays")
	}
}

// What is in a tree only is not lost, whoever removed what else there was.
func TestATreeIsTheLastCopy(t *testing.T) {
	m := batchOfOne(t)
	if err := m.forget(m.l.RunID, filepath.Join(m.State, m.l.RunID)); err != nil || remains(t, m.l.Tree) {
		t.Errorf("its journal is gone, and a person removed it: %v, and its tree is there: %v", err, remains(t, m.l.Tree))
	}
	m = batchOfOne(t)
	if err := m.forget(m.l.RunID, journal(t, m.State, m.l.RunID, core.RunStarted{RunID: m.l.RunID})); err != nil || remains(t, m.l.Tree) {
		t.Errorf("a person removed it: %v, and its tree is there: %v", err, remains(t, m.l.Tree))
	}
	m = batchOfOne(t)
	write(t, filepath.Join(m.l.Tree, "first"), "x")
	m.whole(t)
	write(t, filepath.Join(m.l.Tree, "second"), "x")
	taking, err := m.Take(t.Context(), []string{m.l.RunID}, "b")
	if err != nil || len(taking.Left) != 1 || len(taking.Left[0].Files) != 2 {
		t.Errorf("the folder of its run is gone: %+v, %v: want both files", taking, err)
	}
	m = batchOfOne(t)
	dir := journal(t, m.State, m.l.RunID, core.RunStarted{RunID: m.l.RunID, Repository: m.l.Repository, Checkpoint: m.l.Base, Dir: m.l.Tree})
	write(t, filepath.Join(m.l.Tree, "first"), "x")
	if why := m.Lost(dir); !strings.HasPrefix(why, "nobody took its result") {
		t.Errorf("it was killed before its first checkpoint: %q", why)
	}
	if _, err := m.repo.publish(t.Context(), m.l.RunID); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(m.p.dir()); err != nil {
		t.Fatal(err)
	}
	fresh := &Removal{State: m.State}
	if why := fresh.Lost(dir); !strings.Contains(why, "what it was made of is not known any more") {
		t.Errorf("its plan is gone: %q", why)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if why := fresh.Lost(dir); why != "" {
		t.Errorf("somebody else's run names the repository: %q", why)
	}
}

// What cannot be learned is not taken, and nothing is removed.
func TestWhatIsNotKnownIsNotTaken(t *testing.T) {
	m := batchOfOne(t)
	dir := journal(t, m.State, m.l.RunID, core.RunStarted{RunID: m.l.RunID, Repository: m.l.Repository, Checkpoint: m.l.Base})
	write(t, filepath.Join(m.l.Tree, "made"), "x")
	broken := filepath.Join(m.l.Repository, ".git", "refs", "heads", "broken")
	write(t, broken, strings.Repeat("1", 40)+"\n")
	if why := m.Lost(dir); !strings.HasPrefix(why, "looprun cannot tell whether somebody took its result") {
		t.Errorf("a branch cannot be read: %q", why)
	}
	if _, err := m.Take(t.Context(), []string{"a"}, "b"); err == nil {
		t.Error("it was taken though a branch cannot be read")
	}
	write(t, filepath.Join(m.repo.mirror, "HEAD"), "x")
	if why := m.Lost(dir); !strings.HasPrefix(why, "what it made is not known") {
		t.Errorf("the mirror is damaged: %q", why)
	}
	if n, _ := m.Room(); n != 0 {
		t.Errorf("%d results of a damaged mirror", n)
	}
	if _, err := m.Take(t.Context(), []string{"a"}, "b"); err == nil {
		t.Error("it was taken from a damaged mirror")
	}
	if m.expired(planned{m.p, m.l}, m.p.Started.Add(2*time.Hour)) {
		t.Error("nothing is left of it")
	}
	if err := m.forget(m.l.RunID, dir); err == nil {
		t.Error("it was forgotten")
	}
	if err := os.RemoveAll(m.p.Trees); err != nil {
		t.Fatal(err)
	}
	if err := m.forget(m.l.RunID, dir); err != nil {
		t.Errorf("the trees are gone: %v", err)
	}
}

// A result has two ends where the mirror and the repository know different commits.
func TestAResultWithTwoEnds(t *testing.T) {
	m := batchOfOne(t)
	write(t, filepath.Join(m.l.Tree, "made"), "x")
	first := m.whole(t)
	if _, err := m.repo.publish(t.Context(), m.l.RunID); err != nil {
		t.Fatal(err)
	}
	both, err := (&Removal{State: m.State}).result(t.Context(), filepath.Join(m.State, m.l.RunID))
	if err != nil || !slices.Equal(both.commits, []string{first}) {
		t.Errorf("both have it: %q, %v", both.commits, err)
	}
	if err := os.RemoveAll(m.p.Trees); err != nil {
		t.Fatal(err)
	}
	if err := m.repo.fetch(t.Context(), "20260102-030405-0001", []string{m.l.Base}); err != nil { // another batch
		t.Fatal(err)
	}
	result := func() []string {
		t.Helper()
		found, err := (&Removal{State: m.State}).result(t.Context(), filepath.Join(m.State, m.l.RunID))
		if err != nil {
			t.Fatal(err)
		}
		return found.commits
	}
	if got := result(); !slices.Equal(got, []string{first}) {
		t.Errorf("only the repository has it: %q", got)
	}
	if err := m.repo.add(t.Context(), m.l); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(m.l.Tree, "made"), "y")
	second := m.whole(t)
	if got := result(); !slices.Equal(got, []string{second, first}) {
		t.Errorf("both have one: %q, want %s and %s", got, second, first)
	}
}

// Whoever removes a run, what its loop made stays until somebody takes it or gives it up; then
// its refs and its tree go with it.
func TestARunIsRemoved(t *testing.T) {
	m := batchOfOne(t)
	write(t, filepath.Join(m.l.Tree, "setup"), "x")
	if why := m.Lost(m.p.runDir(m.l)); why != "" {
		t.Errorf("only its setup has run: %q", why)
	}
	dir := journal(t, m.State, m.l.RunID, core.RunStarted{RunID: m.l.RunID, Repository: m.l.Repository, Checkpoint: m.l.Base, Dir: m.l.Tree}, tripped[3])
	write(t, filepath.Join(m.l.Tree, "made"), "x")
	other := filepath.Join(folder(m.State), "20260102-030405-0001")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(other, planName), "{")
	held := func(r *Removal, want string) {
		t.Helper()
		for _, asked := range []Asked{ByRule, ByChoice, ByName} {
			if err := r.Run(dir, asked); err == nil || !strings.HasPrefix(err.Error(), want) || !remains(t, dir) {
				t.Errorf("chosen as %d: %v; want %q", asked, err, want)
			}
		}
	}
	untaken := &Removal{State: m.State, Untaken: true}
	held(m.Removal, "nobody took its result")
	release, err := m.p.Take()
	if err != nil {
		t.Fatal(err)
	}
	held(untaken, "looprun many is running its batch")
	_ = release()
	if _, err := m.repo.publish(t.Context(), m.l.RunID); err != nil {
		t.Fatal(err)
	}
	if err := untaken.Run(dir, ByName); err != nil || remains(t, dir) {
		t.Fatalf("it was given up: %v", err)
	}
	n, err := untaken.Sweep()
	if refs := gitIn(t, m.repo.mirror, "for-each-ref", "refs/looprun") + gitIn(t, m.l.Repository, "for-each-ref", "refs/looprun"); n != 1 || err != nil || refs != "" || remains(t, m.l.Tree) {
		t.Errorf("%d, %v: its refs are %q, and its tree is there: %v", n, err, refs, remains(t, m.l.Tree))
	}
}

// The checkpoints of a run in the user's own work tree go with it, but not where somebody else's
// journal says so.
func TestCheckpointsGoWithTheirRun(t *testing.T) {
	m := batchOfOne(t)
	const id = "20260102-030405-0001"
	dir := journal(t, m.State, id, core.RunStarted{RunID: id, Dir: m.l.Repository, Checkpoint: m.l.Base})
	gitIn(t, m.l.Repository, "update-ref", checkpoint.Ref(id), m.l.Base)
	refs := func() string { return gitIn(t, m.l.Repository, "for-each-ref", "refs/looprun") }
	mine := os.Getenv("XDG_STATE_HOME")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if err := m.forget(id, dir); err != nil || refs() == "" {
		t.Errorf("it is not known to be mine: %v, %q", err, refs())
	}
	t.Setenv("XDG_STATE_HOME", mine)
	if err := m.forget(id, dir); err != nil || refs() != "" {
		t.Errorf("%v, and there is %q", err, refs())
	}
}

// A batch leaves the list with the last of its runs, and the mirror goes with the last batch that
// has something in it.
func TestABatchExpires(t *testing.T) {
	m := batchOfOne(t)
	m.p.Loops = append(m.p.Loops, *m.l)
	m.p.Loops[1].Name = "b"
	if m.p.name(time.Now().Add(-2 * time.Hour)); m.p.write(nil) != nil {
		t.Fatal("no plan")
	}
	if err := m.repo.fetch(within(t), m.p.ID, []string{m.l.Base}); err != nil {
		t.Fatal(err)
	}
	dir := journal(t, m.State, m.p.Loops[0].RunID, done...)
	expire := func(after time.Duration) { (&Removal{State: m.State}).Expire(time.Now().Add(after)) }
	if expire(2 * time.Hour); !remains(t, m.p.dir()) {
		t.Error("one of its runs is there")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	at := gitIn(t, m.repo.mirror, "rev-parse", "refs/bases/"+m.p.ID+"/0")
	for _, stays := range []string{"refs/looprun/r", "refs/bases/another/0", "a tree", "another begins", "git fails", ""} {
		undo := func() {}
		switch stays {
		case "":
		case "a tree":
			m.repo.discard(t.Context(), m.l.Tree) //nolint:errcheck // it is of an older plan
			if err := m.repo.place(within(t), m.l.Tree, m.l.Base); err != nil {
				t.Fatal(err)
			}
			undo = func() { _ = m.repo.discard(t.Context(), m.l.Tree) }
		case "another begins":
			release, err := scratchpad.Hold(filepath.Dir(m.repo.mirror))
			if err != nil {
				t.Fatal(err)
			}
			undo = func() { _ = release() }
		case "git fails":
			path := os.Getenv("PATH")
			gitThat(t, `case "$*" in *--count=1*) exit 128; esac`)
			undo = func() { t.Setenv("PATH", path) }
		default:
			gitIn(t, m.repo.mirror, "update-ref", stays, at)
			undo = func() { gitIn(t, m.repo.mirror, "update-ref", "-d", stays) }
		}
		if err := m.p.write(nil); err != nil {
			t.Fatal(err)
		}
		if expire(0); remains(t, m.p.dir()) || remains(t, m.repo.mirror) != (stays != "") {
			t.Errorf("%q: its plan is there: %v; the mirror: %v", stays, remains(t, m.p.dir()), remains(t, m.repo.mirror))
		}
		undo()
	}
	if cut, _ := filepath.Glob(filepath.Join(filepath.Dir(m.repo.mirror), "part-*")); len(cut) != 0 {
		t.Errorf("%q is left", cut)
	}
	if m.p.write(nil) != nil {
		t.Fatal("no plan")
	}
	if expire(0); remains(t, m.p.dir()) {
		t.Error("its mirror was gone")
	}
}

// How long a tree is kept counts from its run's last event, and one that cannot be removed, or
// whose mirror cannot be read, stays.
func TestATreeStays(t *testing.T) {
	m := batchOfOne(t)
	expired := func(after time.Duration) bool { return m.expired(planned{m.p, m.l}, time.Now().Add(after)) }
	m.p.Started = time.Now().Add(-2 * time.Hour)
	gone := journal(t, m.State, m.l.RunID, tripped...)
	if expired(0) || !remains(t, m.l.Tree) {
		t.Error("its run ended a moment ago")
	}
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	above := filepath.Dir(m.l.Tree)
	if err := errors.Join(os.Rename(above, above+".moved"), os.Symlink(above+".moved", above)); err != nil {
		t.Skip(err)
	}
	gitIn(t, m.repo.mirror, "update-ref", checkpoint.Ref(m.l.RunID), m.l.Base)
	if err := m.repo.forget(t.Context(), m.l); err == nil || gitIn(t, m.repo.mirror, "for-each-ref", "refs/looprun") == "" {
		t.Errorf("its folder is a link: %v", err)
	}
	gitIn(t, m.repo.mirror, "update-ref", "-d", checkpoint.Ref(m.l.RunID))
	if expired(0) || !remains(t, m.l.Tree) {
		t.Error("its folder is a link")
	}
	if err := errors.Join(os.Remove(above), os.Rename(above+".moved", above)); err != nil {
		t.Fatal(err)
	}
	if !expired(0) || remains(t, m.l.Tree) {
		t.Error("nothing has run in it")
	}
	if err := m.repo.add(t.Context(), m.l); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(m.l.Tree, "made"), "x")
	write(t, filepath.Join(m.repo.mirror, "HEAD"), "x")
	if expired(0) || !remains(t, m.l.Tree) && !remains(t, filepath.Join(m.repo.mirror, filepath.FromSlash(checkpoint.Ref(m.l.RunID)))) {
		t.Error("what its mirror has cannot be read, and its tree is gone")
	}
}

// Whichever call of git fails, what a loop made counts as lost with it, its tree goes only when a
// commit has everything, and a result is forgotten completely or stays known.
func TestGitFailsWhileAResultIsJudged(t *testing.T) {
	path := os.Getenv("PATH")
	for name, judge := range map[string]func(m *oneLoop, dir string, t *testing.T) (well bool){
		"lost": func(m *oneLoop, dir string, t *testing.T) bool {
			why := m.Lost(dir)
			if why == "" {
				t.Error("it may be removed")
			}
			return strings.HasPrefix(why, "nobody took")
		},
		"expire": func(m *oneLoop, dir string, t *testing.T) bool {
			if m.expired(planned{m.p, m.l}, time.Now().Add(2*time.Hour)) {
				t.Error("nothing is left of it")
			}
			t.Setenv("PATH", path)
			if remains(t, m.l.Tree) {
				return false
			}
			if got := gitIn(t, m.repo.mirror, "show", checkpoint.Ref(m.l.RunID)+":made"); got != "x" {
				t.Errorf("its commit has %q", got)
			}
			return true
		},
		"forget": func(m *oneLoop, dir string, t *testing.T) bool {
			over := m.expired(planned{m.p, m.l}, time.Now().Add(2*time.Hour))
			t.Setenv("PATH", path)
			if refs := gitIn(t, m.repo.mirror, "for-each-ref", "refs/looprun") + gitIn(t, m.l.Repository, "for-each-ref", "refs/looprun"); over && (refs != "" || remains(t, m.l.Tree)) {
				t.Errorf("%q is left", refs)
			}
			return over
		},
	} {
		t.Run(name, func(t *testing.T) {
			over := false
			for at := 1; at < 100 && !over; at += rounds.Step(1) {
				t.Run(strconv.Itoa(at), func(t *testing.T) {
					m := batchOfOne(t)
					dir := journal(t, m.State, m.l.RunID, core.RunStarted{RunID: m.l.RunID, Repository: m.l.Repository, Checkpoint: m.l.Base}, tripped[3])
					write(t, filepath.Join(m.l.Tree, "made"), "x")
					if name == "forget" {
						commit := m.whole(t)
						if _, err := m.repo.publish(t.Context(), m.l.RunID); errors.Join(err, m.p.took(m.l.RunID, commit), os.RemoveAll(dir)) != nil {
							t.Fatal(err)
						}
					}
					calls := failingGit(t, at)
					well := judge(m, dir, t)
					if over = calls() < at; over && !well {
						t.Error("nothing failed, and it did not end well")
					}
				})
			}
			if !over {
				t.Error("it never ends well")
			}
		})
	}
}

// oneLoop is a batch of one loop, whose work tree is made.
type oneLoop struct {
	*Removal
	p    *Plan
	l    *Loop
	repo *repository
}

func batchOfOne(t *testing.T) *oneLoop {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	top := t.TempDir()
	gitIn(t, top, "init", "-q")
	gitIn(t, top, "config", "user.name", "n")
	gitIn(t, top, "config", "user.email", "e")
	write(t, filepath.Join(top, "f"), "x")
	gitIn(t, top, "add", "-A")
	gitIn(t, top, "commit", "-q", "-m", "one")
	p := &Plan{Schema: planSchema, State: t.TempDir(), Trees: t.TempDir(), Limits: Limits{Jobs: 1, Keep: time.Hour}, Loops: []Loop{{Name: "a", Repository: top, Base: gitIn(t, top, "rev-parse", "HEAD")}}}
	p.name(time.Now())
	if err := p.write(nil); err != nil {
		t.Fatal(err)
	}
	m := &oneLoop{&Removal{State: p.State}, p, &p.Loops[0], repositoryOf(p.Trees, top)}
	if err := errors.Join(m.repo.fetch(within(t), p.ID, []string{m.l.Base}), m.repo.add(within(t), m.l)); err != nil {
		t.Fatal(err)
	}
	return m
}

// within ends what waits for a lock that nobody has.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Patience)
	t.Cleanup(cancel)
	return ctx
}

// whole makes a checkpoint of the tree.
func (m *oneLoop) whole(t *testing.T) string {
	t.Helper()
	commit, err := m.repo.whole(t.Context(), m.l, filepath.Join(m.State, m.l.RunID))
	if err != nil {
		t.Fatal(err)
	}
	return commit
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git.Run(t.Context(), dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
