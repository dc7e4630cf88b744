package fleet

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/loops"
	"github.com/looprun/looprun/scratchpad"
)

func TestMain(m *testing.M) {
	if code, ok := engine.Guardian(); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// submitted is a loop of a shell line, checked as looprun-fleet submit does.
func submitted(t *testing.T, line string, change func(*loops.Loop)) Loop {
	t.Helper()
	l := loops.Loop{Name: "a loop", Command: loops.Command{Shell: config.ShellLine(line)}, Options: loops.Options{}}
	if change != nil {
		change(&l)
	}
	list, err := Check([]loops.Loop{l}, t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	list[0].Started.RunID = scratchpad.NewIDs("", time.Now(), 1)[0]
	return list[0]
}

// bench is a workflow of the SDK's test suite with a real worker: only the server is not.
type bench struct {
	*testsuite.TestWorkflowEnvironment
	t        *testing.T
	worker   *Worker
	root     string
	accepted int // updates that are in the history
	begun    Loop
	events   []core.Event // in the history
}

// markers notes the decisions that come into the history.
type markers struct {
	converter.DataConverter
	b *bench
}

func (m markers) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	for _, v := range values {
		if made, ok := v.(decision); ok {
			for _, raw := range made.Events {
				var e core.Event
				if err := json.Unmarshal(raw, &e); err != nil {
					m.b.t.Error(err)
				}
				m.b.events = append(m.b.events, e)
			}
		}
	}
	return m.DataConverter.ToPayloads(values...)
}

func newBench(t *testing.T, change func(*Worker)) *bench {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	b := &bench{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t, root: t.TempDir()}
	b.SetDataConverter(markers{converter.GetDefaultDataConverter(), b})
	w := &Worker{Name: "w1", Root: b.root, Slots: 2, Queue: "looprun", Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Environ: os.Environ()}
	w.prepare(nil)
	b.worker = w
	if change != nil {
		change(w)
	}
	b.SetTestTimeout(time.Minute)
	b.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // a busy machine is no deadlock
	b.RegisterWorkflow(Run)
	b.RegisterActivity(w)
	t.Cleanup(w.leaveAll)
	return b
}

// execute runs the loop to its end, also where that is an error.
func (b *bench) execute(l Loop) {
	b.t.Helper()
	overdue := time.AfterFunc(eventually.Patience, func() {
		b.t.Error("it does not end by itself")
		b.CancelWorkflow()
	})
	defer overdue.Stop()
	b.begun = l
	b.ExecuteWorkflow(Run, l)
}

// run runs the loop to its end.
func (b *bench) run(l Loop) core.Result {
	b.t.Helper()
	b.execute(l)
	if err := b.GetWorkflowError(); err != nil {
		b.t.Fatal(err)
	}
	var r core.Result
	if err := b.GetWorkflowResult(&r); err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) state() core.State {
	b.t.Helper()
	s := new(core.State)
	if b.begun.State != nil {
		*s = *b.begun.State
	}
	for _, e := range b.events {
		if err := s.Apply(e); err != nil {
			b.t.Fatal(err)
		}
	}
	return *s
}

// answer answers the question that is asked after a while; it returns what became of it.
func (b *bench) answer(after time.Duration, updateID, questionID string, a core.Answer) *error {
	done := new(error)
	*done = errors.New("nobody has heard of it")
	b.RegisterDelayedCallback(func() {
		id := questionID
		if id == "" {
			s := b.state()
			if len(s.Pending()) == 0 {
				return
			}
			id = s.Pending()[0].ID
		}
		a.Responder, a.Person = core.RespondedByUser, true
		b.UpdateWorkflow(updateAnswer, updateID, &testsuite.TestUpdateCallback{
			OnAccept: func() { b.accepted++ }, OnReject: func(err error) { *done = err },
			OnComplete: func(_ any, err error) { *done = err },
		}, Given{id, a})
	}, after)
	return done
}

func TestALoopRunsUntilItIsDone(t *testing.T) {
	b := newBench(t, nil)
	r := b.run(submitted(t, `if test -e two; then exit 0; elif test -e one; then touch two; else touch one; fi; echo "in $LOOPRUN_ITERATION"; exit 1`, nil))
	if r.Status != core.StatusDone || r.Iterations != 3 {
		t.Fatalf("%+v", r)
	}
	if r.RuntimeSeconds > 20 {
		t.Errorf("the active time is %v: the queue is in it", r.RuntimeSeconds)
	}
	printed, err := os.ReadFile(filepath.Join(b.root, "runs", b.state().RunID, "output", "0002.log"))
	if err != nil || string(printed) != "in 2\n" {
		t.Errorf("%q, %v", printed, err)
	}
}

func TestAQuestionWaitsForAPerson(t *testing.T) {
	b := newBench(t, nil)
	wrong := b.answer(time.Hour, "u1", "", core.Answer{Option: "no-such-option"})
	other := b.answer(time.Hour, "u2", "another-question-1", core.Answer{Option: "cancel"})
	right := b.answer(2*time.Hour, "u3", "", core.Answer{Option: "cancel"})
	late := b.answer(2*time.Hour, "u4", "", core.Answer{Option: "continue"})
	r := b.run(submitted(t, "echo the same; exit 1", nil))
	if r.Status != core.StatusTripped && r.Status != core.StatusCancelled || r.Guard != core.LoopDetected {
		t.Errorf("%+v", r)
	}
	if r.RuntimeSeconds > 20 {
		t.Errorf("the wait for an answer counts as work: %v s", r.RuntimeSeconds)
	}
	if *wrong == nil || *other == nil || *right != nil || *late == nil {
		t.Errorf("wrong option: %v; other question: %v; right: %v; late: %v", *wrong, *other, *right, *late)
	}
	if b.accepted != 1 {
		t.Errorf("%d answers were accepted", b.accepted)
	}
}

func git1(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func repo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git1(t, dir, "init", "-q")
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git1(t, dir, "add", ".")
	git1(t, dir, "commit", "-qm", "one")
	return dir
}

func TestEachIterationIsKeptOutsideBranches(t *testing.T) {
	b := newBench(t, nil)
	from := repo(t)
	r := b.run(submitted(t, `echo "$LOOPRUN_ITERATION" >> file; test "$LOOPRUN_ITERATION" = 2`, func(l *loops.Loop) { l.Repo = from; l.Setup = "echo set > up" }))
	if r.Status != core.StatusDone || r.Iterations != 2 {
		t.Fatalf("%+v", r)
	}
	ref := checkpoint.Ref(b.state().RunID)
	if got := git1(t, from, "show", ref+":file"); got != "one\n1\n2" {
		t.Errorf("the checkpoint has %q", got)
	}
	if got := git1(t, from, "show", ref+":up"); got != "set" {
		t.Errorf("the setup did %q", got)
	}
	if got := git1(t, from, "branch", "--list") + git1(t, from, "status", "--porcelain"); got != "* main" {
		t.Errorf("the repository was touched: %q", got)
	}
	if _, err := os.Stat(filepath.Join(b.root, "trees", b.state().RunID)); err == nil {
		t.Error("the tree of a loop that is done is still there")
	}
}

// A git that is killed with its worker leaves locks, and folders of a cache cannot be
// written: a loop goes on in its tree, and the tree goes.
func TestATreeThatWasLeft(t *testing.T) {
	w := &Worker{Name: "w1", Root: t.TempDir()}
	p := &place{id: "20260102-030405-0001", repo: repo(t)}
	p.tree = filepath.Join(w.Root, "trees", p.id)
	if err := os.MkdirAll(filepath.Dir(w.index(p)), 0o700); err != nil {
		t.Fatal(err)
	}
	at, _, err := w.checkOut(t.Context(), p, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.unready(p)); err != nil { // it is set up
		t.Fatal(err)
	}
	cache := filepath.Join(p.tree, "cache")
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{w.index(p) + ".lock", git1(t, p.tree, "rev-parse", "--path-format=absolute", "--git-path", "index.lock"), filepath.Join(cache, "module")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if at, _, err = w.checkOut(t.Context(), p, at); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(cache, 0o500); err != nil {
		t.Error(err)
	}
	commit, err := w.checkpoint(t.Context(), p, 1)
	if err = errors.Join(err, w.push(t.Context(), p, commit, at)); err != nil {
		t.Error(err)
	}
	if err := w.removeTree(t.Context(), p.id); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.tree); err == nil {
		t.Error("the tree is still there")
	}
}
