package many

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/rounds"
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

// disputed is a loop that changed the same line as the user.
func disputed(t *testing.T) *oneLoop {
	t.Helper()
	m := batchOfOne(t)
	write(t, filepath.Join(m.l.Tree, "f"), "theirs")
	m.whole(t)
	write(t, filepath.Join(m.l.Repository, "f"), "ours")
	gitIn(t, m.l.Repository, "commit", "-q", "-a", "-m", "ours")
	return m
}

// conflict stops a taking.
func conflict(t *testing.T) (*oneLoop, *Taking) {
	t.Helper()
	m := disputed(t)
	taking, err := m.Take(t.Context(), []string{"a"}, "")
	if err != nil {
		t.Fatal(err)
	}
	err = taking.Run(t.Context())
	if _, ok := errors.AsType[*ConflictError](err); !ok || err.Error() != "a and your branch change the same lines of f" {
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
	write(t, filepath.Join(taking.Tree, "f"), "resolved")
	path := os.Getenv("PATH")
	gitThat(t, `case "$*" in *"update-ref -m"*) exit 128; esac`)
	if err := taking.Continue(t.Context()); err == nil || !remains(t, filepath.Join(taking.Tree, "f")) || m.stopped(t) == nil {
		t.Errorf("the branch cannot have it: %v", err)
	}
	t.Setenv("PATH", path)

	m, taking = conflict(t) // it is killed when the branch has it
	write(t, filepath.Join(taking.Tree, "f"), "resolved")
	gitThat(t, `case "$*" in *"update-ref -m"*) "$real" "$@"; exit 137; esac`)
	if err := taking.Continue(t.Context()); err == nil || m.stopped(t) == nil {
		t.Errorf("it went on: %v", err)
	}
	t.Setenv("PATH", path)
	moved := gitIn(t, m.l.Repository, "rev-parse", taking.ref())
	if err := m.stopped(t).Continue(t.Context()); err != nil || m.stopped(t) != nil || gitIn(t, m.l.Repository, "rev-parse", taking.ref()) != moved {
		t.Errorf("the branch has it: %v", err)
	}

	m, taking = conflict(t) // it is killed so, and the person goes back
	write(t, filepath.Join(taking.Tree, "f"), "resolved")
	gitThat(t, `case "$*" in *"update-ref -m"*) "$real" "$@"; exit 137; esac`)
	if err := taking.Continue(t.Context()); err == nil {
		t.Error("it went on")
	}
	t.Setenv("PATH", path)
	if err := m.stopped(t).Abort(t.Context()); err != nil || m.stopped(t) != nil || gitIn(t, m.l.Repository, "for-each-ref", taking.ref()) != "" || remains(t, taking.Tree) {
		t.Errorf("the branch is its own: %v", err)
	}

	m, taking = conflict(t) // it is killed so, and somebody removes the branch
	write(t, filepath.Join(taking.Tree, "f"), "resolved")
	gitThat(t, `case "$*" in *"update-ref -m"*) exit 137; esac`)
	if err := taking.Continue(t.Context()); err == nil {
		t.Error("it went on")
	}
	t.Setenv("PATH", path)
	gitIn(t, m.l.Repository, "branch", "-q", "-D", taking.Branch)
	if err := m.stopped(t).Continue(t.Context()); err != nil || gitIn(t, m.l.Repository, "show", taking.ref()+":f") != "resolved" {
		t.Errorf("what was resolved is kept: %v", err)
	}

	m, taking = conflict(t) // the branch moves while it is removed
	gitThat(t, `case "$*" in *"update-ref -d refs/heads"*) "$real" update-ref refs/heads/`+taking.Branch+` `+m.l.Base+`; esac`)
	err = taking.Abort(t.Context())
	t.Setenv("PATH", path)
	if err == nil || gitIn(t, m.l.Repository, "rev-parse", taking.ref()) != m.l.Base {
		t.Errorf("the branch was moved: %v", err)
	}

	m, taking = conflict(t) // the branch moves while it is resolved
	write(t, filepath.Join(taking.Tree, "f"), "resolved")
	gitThat(t, `case "$*" in *"update-ref -m"*) "$real" update-ref refs/heads/`+taking.Branch+` `+m.l.Base+`; esac`)
	err = taking.Continue(t.Context())
	t.Setenv("PATH", path)
	if err == nil || gitIn(t, m.l.Repository, "rev-parse", taking.ref()) != m.l.Base {
		t.Errorf("the branch was moved: %v", err)
	}

	m, taking = conflict(t) // somebody works on the branch
	write(t, filepath.Join(taking.Tree, "f"), "resolved")
	gitIn(t, m.l.Repository, "checkout", "-q", taking.Branch)
	for _, err := range []error{taking.Continue(t.Context()), taking.Abort(t.Context())} {
		if err == nil || !strings.Contains(err.Error(), "is checked out in "+m.l.Repository) {
			t.Errorf("the branch is checked out: %v", err)
		}
	}
	gitIn(t, m.l.Repository, "checkout", "-q", "-")
	gitIn(t, m.l.Repository, "branch", "-D", taking.Branch)
	if err := m.stopped(t).Continue(t.Context()); err != nil || gitIn(t, m.l.Repository, "show", taking.ref()+":f") != "resolved" {
		t.Errorf("the branch was removed: %v", err)
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
	if got := gitIn(t, m.l.Repository, "rev-parse", good.ref()); got != good.Tip {
		t.Errorf("the branch is at %s", got)
	}
	for name, change := range map[string]func(*Taking){
		"nothing left":       func(x *Taking) { x.Left, x.Took = nil, x.Left },
		"nothing":            func(x *Taking) { x.Left, x.Files = nil, nil },
		"no tree":            func(x *Taking) { x.Tree = "" },
		"an old tree":        func(x *Taking) { x.Tree, x.Files = t.TempDir(), nil },
		"another run":        func(x *Taking) { x.Left = []Taken{{RunID: "20260102-030405-0009"}} },
		"another repository": func(x *Taking) { x.Repository = t.TempDir() },
		"another tree":       func(x *Taking) { x.Tree = t.TempDir() },
	} {
		x := good
		x.Files = []string{"f"}
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
	text, err := json.Marshal(&good)
	if err != nil {
		t.Fatal(err)
	}
	write(t, m.takingFile(), string(text))
	if m.stopped(t) == nil {
		t.Error("it is what was written")
	}
	write(t, m.takingFile(), strings.Replace(string(text), `"branch":`, `"branch":1,"was":`, 1))
	if got, err := m.Stopped(); err == nil {
		t.Errorf("another form: %+v", got)
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

// Results go on a new branch of a repository in which everything is committed, and what git does
// not tell is not assumed.
func TestWhereResultsGo(t *testing.T) {
	m := batchOfOne(t)
	top := m.l.Repository
	dir := journal(t, m.State, m.l.RunID, done...)
	write(t, filepath.Join(m.l.Tree, "made"), "x")
	take := func(branch string) (*Taking, error) { return (&Removal{State: m.State}).Take(t.Context(), nil, branch) }
	refused := func(want, branch string) {
		t.Helper()
		if taking, err := take(branch); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v; want %q", taking, err, want)
		}
	}
	if taking, err := take(""); err != nil || len(taking.Left) != 1 || taking.Branch != "looprun/"+m.p.ID {
		t.Errorf("%+v, %v", taking, err)
	}
	write(t, filepath.Join(top, "f"), "changed")
	refused("1 change in "+top+" not committed: f", "b")
	gitIn(t, top, "checkout", "-q", "f")
	gitIn(t, top, "branch", "b")
	gitIn(t, top, "branch", "looprun/"+m.p.ID)
	refused("is not the name of a branch", "a..b")
	refused("there is a branch b", "b")
	if taking, err := take(""); err != nil || taking.Branch != "looprun/"+m.p.ID+"-2" {
		t.Errorf("%+v, %v", taking, err)
	}
	path := os.Getenv("PATH")
	for _, call := range []string{"status --porcelain", "HEAD^{commit}", "check-ref-format", "refs/heads/c^{commit}", "diff --name-only"} {
		gitThat(t, `case "$*" in *"`+call+`"*) exit 128; esac`)
		if taking, err := take("c"); err == nil {
			t.Errorf("%s fails: %+v", call, taking)
		}
		t.Setenv("PATH", path)
	}
	taking, err := take("c")
	if err != nil {
		t.Fatal(err)
	}
	gitThat(t, `case "$*" in *"looprun run "*) exit 128; esac`)
	if err := taking.Run(within(t)); err == nil || !strings.Contains(err.Error(), "128") {
		t.Errorf("no commit is made: %v", err)
	}
	t.Setenv("PATH", path)
	if err := os.RemoveAll(m.l.Tree); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(m.repo.mirror, "HEAD"), "x")
	refused("not a git repository", "c")
	if why := m.Lost(dir); !strings.HasPrefix(why, "what it made is not known") {
		t.Errorf("the mirror is damaged: %q", why)
	}
}

// Loops that change the same files are on one line, whatever their number, and the lines are not too
// many to be read.
func TestOverlaps(t *testing.T) {
	each := func(n int, f func(i int) string) (list []string) {
		for i := range n {
			list = append(list, f(i))
		}
		return list
	}
	names := each(50, func(i int) string { return fmt.Sprintf("l%d", i) })
	for _, c := range []struct {
		files [][]string
		want  []string
	}{
		{[][]string{{"f"}, {"g"}, nil}, nil},
		{[][]string{{"g", "f"}, {"f", "g"}}, []string{"l0 and l1 both change f, g"}},
		{[][]string{{"f", "g"}, {"f"}, {"g", "f"}}, []string{"l0, l1 and l2 all change f", "l0 and l2 both change g"}},
		{slices.Repeat([][]string{{"f"}}, 7), []string{"7 loops (l0, l1, l2, l3, l4 and 2 more) all change f"}},
		{
			append([][]string{each(30, func(i int) string { return fmt.Sprint(i) })}, slices.Collect(slices.Chunk(each(30, func(i int) string { return fmt.Sprint(i) }), 1))...),
			append(each(20, func(i int) string { return fmt.Sprintf("l0 and l%d both change %d", i+1, i) }), "10 more sets of loops change the same files"),
		},
	} {
		if got := overlaps(names[:len(c.files)], c.files); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.files, got, c.want)
		}
	}
}

// Of two results that change the same lines the first is taken, and the second waits for the
// person. What was taken is on record, for whom there is one.
func TestTwoResults(t *testing.T) {
	m := batchOfOne(t)
	m.p.Loops = append(m.p.Loops, *m.l, *m.l)
	m.p.Loops[1].Name, m.p.Loops[2].Name = "b", "c"
	if m.p.name(time.Now()); m.p.write(nil) != nil {
		t.Fatal("no plan")
	}
	for i, name := range []string{"f", "f", "g"} {
		l := &m.p.Loops[i]
		if err := m.repo.add(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(l.Tree, name), "by "+l.Name)
		journal(t, m.State, l.RunID, core.RunStarted{RunID: l.RunID, Repository: l.Repository, Checkpoint: l.Base})
	}
	write(t, filepath.Join(m.l.Repository, "f"), "not committed")
	refs := func() string { return gitIn(t, m.repo.mirror, "show-ref") + gitIn(t, m.l.Repository, "show-ref") }
	overlaps := func(i int) string {
		t.Helper()
		before := refs()
		lines, err := Overlaps(t.Context(), m.p.runDir(&m.p.Loops[i]))
		if refs() != before {
			t.Errorf("it wrote something: %s, before: %s", refs(), before)
		}
		if err != nil {
			return err.Error()
		}
		return strings.Join(lines, "\n")
	}
	if got := overlaps(0); got != "" {
		t.Errorf("there is no checkpoint: %s", got)
	}
	for i := range m.p.Loops {
		if _, err := m.repo.whole(t.Context(), &m.p.Loops[i], m.p.runDir(&m.p.Loops[i])); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"a and b both change f", "a and b both change f", ""} {
		if got := overlaps(i); got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	batch := filepath.Join(m.p.State, m.p.ID)
	if lines, err := Overlaps(t.Context(), batch); err != nil || !slices.Equal(lines, []string{"a and b both change f"}) {
		t.Errorf("the batch: %q, %v", lines, err)
	}
	path := os.Getenv("PATH")
	for at, failed := 1, true; failed; at++ {
		calls := failingGit(t, at)
		lines, err := Overlaps(t.Context(), batch)
		failed = calls() >= at
		if t.Setenv("PATH", path); failed && (err == nil || lines != nil) {
			t.Errorf("git's call %d failed: %q, %v", at, lines, err)
		}
	}
	if lines, err := Overlaps(t.Context(), batch+"0"); err != nil || lines != nil {
		t.Errorf("no batch: %q, %v", lines, err)
	}
	other, two := t.TempDir(), *m.p // a file of another repository is another file
	gitIn(t, other, "init", "-q")
	gitIn(t, other, "fetch", "-q", m.repo.mirror, "+refs/looprun/*:refs/looprun/*")
	two.ID, two.Loops = two.ID[:len(two.ID)-4]+"zzzz", slices.Clone(m.p.Loops)
	two.Loops[1].Repository = other
	for i := range two.Loops {
		two.Loops[i].Tree = two.treeOf(i)
	}
	if err := two.write(nil); err != nil {
		t.Fatal(err)
	}
	if lines, err := Overlaps(t.Context(), filepath.Join(two.State, two.ID)); err != nil || lines != nil {
		t.Errorf("of two repositories: %q, %v", lines, err)
	}
	if err := os.RemoveAll(two.dir()); err != nil {
		t.Fatal(err)
	}
	many := *m.p
	many.Loops = slices.Repeat(m.p.Loops[:1], mostCompared+1)
	if many.name(time.Now()); many.write(nil) != nil {
		t.Fatal("no plan")
	}
	if lines, err := Overlaps(t.Context(), filepath.Join(many.State, many.ID)); err == nil || !strings.Contains(err.Error(), "more than 200 loops") {
		t.Errorf("of very many: %q, %v", lines, err)
	}
	write(t, filepath.Join(many.dir(), planName), "{")
	if lines, err := Overlaps(t.Context(), filepath.Join(many.State, many.ID)); err == nil || lines != nil {
		t.Errorf("of a plan that cannot be read: %q, %v", lines, err)
	}
	if err := os.RemoveAll(many.dir()); err != nil {
		t.Fatal(err)
	}
	gitIn(t, m.l.Repository, "checkout", "-q", "f")
	taking, err := m.Take(t.Context(), []string{"a", "c", "b"}, "all")
	if err != nil || !slices.Equal(taking.Overlaps(), []string{"a and b both change f"}) {
		t.Fatalf("%+v, %v", taking, err)
	}
	err = taking.Run(t.Context())
	if stopped, ok := errors.AsType[*ConflictError](err); !ok || stopped.Error() != "b and a change the same lines of f" || !remains(t, filepath.Join(stopped.Tree, "f")) {
		t.Fatal(err)
	}
	again := m.stopped(t)
	again.Took = append([]Taken{{RunID: "20260102-030405-0009"}}, again.Took...)
	write(t, filepath.Join(again.Tree, "f"), ">>>>>>> of both")
	if err := again.Continue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := gitIn(t, m.l.Repository, "log", "--format=%an %s", "-3", "all"); got != "n b\nn c\nn a" {
		t.Errorf("the branch has %q", got)
	}
	if left, err := (&Removal{State: m.State}).Take(t.Context(), []string{"c", "a", "b"}, "more"); err != nil || len(left.Left) != 0 {
		t.Errorf("they were taken: %+v, %v", left, err)
	}
}

// A taking that cannot be recorded is an error, and nobody is needed as the author of a commit.
func TestATakingIsRecorded(t *testing.T) {
	m := batchOfOne(t)
	write(t, filepath.Join(m.l.Tree, "f"), "theirs")
	m.whole(t)
	gitIn(t, m.l.Repository, "config", "--remove-section", "user")
	gitIn(t, m.l.Repository, "config", "user.useConfigOnly", "true")
	t.Setenv("HOME", t.TempDir())
	taking, err := m.Take(t.Context(), []string{"a"}, "b")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(m.p.dir(), takenName), "a file")
	if err := taking.Run(t.Context()); err == nil || gitIn(t, m.l.Repository, "show", "b:f") != "theirs" {
		t.Errorf("it cannot be recorded: %v", err)
	}
	if err := os.Remove(filepath.Join(m.p.dir(), takenName)); err != nil {
		t.Fatal(err)
	}
	left := func() int {
		t.Helper()
		again, err := (&Removal{State: m.State}).Take(t.Context(), []string{"a"}, "c")
		if err != nil {
			t.Fatal(err)
		}
		return len(again.Left)
	}
	stopped := m.stopped(t)
	if err := stopped.Continue(t.Context()); err != nil || m.stopped(t) != nil || left() != 0 {
		t.Errorf("the rest is done now: %v", err)
	}
	gitIn(t, m.l.Repository, "branch", "-q", "-m", "b", "mine")
	stopped.At = ""
	if err := stopped.move(t.Context()); err != nil { // it was killed before it ended
		t.Fatal(err)
	}
	gitIn(t, m.l.Repository, "branch", "-q", "-D", "mine")
	if err := m.stopped(t).Abort(t.Context()); err != nil || m.stopped(t) != nil || left() != 1 {
		t.Errorf("nothing was taken: %v", err)
	}
}

// Whichever call of git fails at a conflict, the person has both sides in a tree, or is told; and
// what the person then wrote is kept until it is on the branch, or until it is given up.
func TestGitFailsAtAConflict(t *testing.T) {
	path := os.Getenv("PATH")
	for name, act := range map[string]func(m *oneLoop, t *testing.T) error{
		"stop": func(m *oneLoop, t *testing.T) error {
			taking, err := m.Take(t.Context(), []string{"a"}, "b")
			if err != nil {
				return err
			}
			err = taking.Run(t.Context())
			stopped, ok := errors.AsType[*ConflictError](err)
			if !ok {
				return err
			}
			t.Setenv("PATH", path)
			text, err := os.ReadFile(filepath.Join(stopped.Tree, "f"))
			if err != nil || !strings.Contains(string(text), ">>>>>>> ") || gitIn(t, m.l.Repository, "rev-parse", "b") != m.stopped(t).Tip {
				t.Errorf("it is %q, %v", text, err)
			}
			return nil
		},
		"continue": func(m *oneLoop, t *testing.T) error {
			taking := m.stopped(t)
			write(t, filepath.Join(taking.Tree, "f"), "resolved")
			err := taking.Continue(t.Context())
			t.Setenv("PATH", path)
			if err != nil && remains(t, m.takingFile()) {
				if err := m.stopped(t).Continue(t.Context()); err != nil {
					t.Errorf("it cannot go on: %v", err)
				}
			}
			if got := gitIn(t, m.l.Repository, "show", "b:f"); got != "resolved" {
				t.Errorf("%v, and the branch has %q", err, got)
			}
			return err
		},
		"abort": func(m *oneLoop, t *testing.T) error {
			taking := m.stopped(t)
			err := taking.Abort(t.Context())
			t.Setenv("PATH", path)
			if err == nil && (gitIn(t, m.l.Repository, "branch", "--list", "b") != "" || remains(t, taking.Tree) || m.stopped(t) != nil) {
				t.Error("something is left")
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			over := false
			for at := 1; at < 100 && !over; at += rounds.Step(1) {
				t.Run(strconv.Itoa(at), func(t *testing.T) {
					m := disputed(t)
					if name != "stop" {
						taking, err := m.Take(t.Context(), []string{"a"}, "b")
						if err != nil || taking.Run(t.Context()) == nil {
							t.Fatalf("there is no conflict: %v", err)
						}
					}
					calls := failingGit(t, at)
					err := act(m, t)
					if over = calls() < at; err != nil && (over || !saysWhatFailed.MatchString(err.Error())) {
						t.Error(err)
					}
				})
			}
			if !over {
				t.Error("it never ends well")
			}
		})
	}
	m := disputed(t)
	taking, err := m.Take(t.Context(), []string{"a"}, "b")
	if err := errors.Join(err, os.Mkdir(m.takingFile(), 0o700)); err != nil {
		t.Fatal(err)
	}
	err = taking.Run(t.Context())
	if _, ok := errors.AsType[*ConflictError](err); ok || err == nil {
		t.Errorf("it cannot be recorded: %v", err)
	}
}
