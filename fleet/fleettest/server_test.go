//go:build server

// Package fleettest runs the programs of a fleet with a real server: make fleet-test.
package fleettest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/fleet"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/loops"
)

// patience is how long something may take that happens at all. It decides no result.
const patience = 5 * time.Minute

func program(t testing.TB, name string) string {
	t.Helper()
	if filepath.IsAbs(name) {
		return name
	}
	path := filepath.Join(os.Getenv("FLEET_BIN"), name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("make fleet-dev builds %s: %v", name, err)
	}
	return path
}

func runs() int {
	if n, err := strconv.Atoi(os.Getenv("FLEET_RUNS")); err == nil {
		return n
	}
	return 2
}

// process is a program that runs until it is killed.
type process struct {
	*exec.Cmd
	said lines
}

type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func start(t testing.TB, until string, name string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(program(t, name), args...)}
	p.Stdout, p.Stderr = &p.said, &p.said
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill() })
	wait(t, until, func() bool { return strings.Contains(p.said.String(), until) })
	return p
}

func (p *process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// wait waits until something holds.
func wait(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// server is one for all tests; each has a queue of its own.
var server struct {
	sync.Mutex
	*process
	address string
	dir     string // its database and the key
	key     string // a file
	queues  atomic.Int64
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.process != nil {
		server.kill()
	}
	os.Exit(code)
}

// yard is a queue with its workers.
type yard struct {
	t     testing.TB
	fleet *fleet.Fleet
	queue string
	root  string
	build string // the looprun-fleet of its workers
}

func newYard(t testing.TB) *yard {
	t.Helper()
	server.Lock()
	if server.process == nil {
		dir, err := os.MkdirTemp("", "looprun-fleettest-")
		if err != nil {
			t.Fatal(err)
		}
		port, name := strconv.Itoa(freePort(t)), "looprun-fleet-dev"
		if os.Getenv("FLEET_RECORD") != "" { // it has histories cut early
			const first = "dynamicconfig.StaticClient{\n"
			name = otherBuild(t, "../devserver", "../devserver/server.go", first, first+"dynamicconfig.HistoryCountSuggestContinueAsNew.Key(): 120,\n")
		}
		p := &process{Cmd: exec.Command(program(t, name), "dev", "--no-worker", "--port", port, "--db", filepath.Join(dir, "db"))}
		p.Stdout, p.Stderr = &p.said, &p.said
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		server.process, server.address, server.dir = p, "127.0.0.1:"+port, dir
		wait(t, "server", func() bool { return strings.Contains(p.said.String(), "server ") })
		if os.Getenv("FLEET_RECORD") == "" { // else it is to be read
			server.key = filepath.Join(dir, "key")
			if err := fleet.MakeKey(server.key); err != nil {
				t.Fatal(err)
			}
		}
	}
	server.Unlock()
	y := &yard{t: t, queue: fmt.Sprintf("q%d", server.queues.Add(1)), root: t.TempDir(), build: "looprun-fleet"}
	var err error
	y.fleet, err = (&fleet.Server{Address: server.address, Namespace: fleet.Namespace, Queue: y.queue, KeyFile: server.key}).Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(y.fleet.Close)
	return y
}

func (y *yard) worker(name string, slots int, more ...string) *process {
	y.t.Helper()
	return start(y.t, "runs up to", y.build, append([]string{
		"worker", "--address", server.address, "--queue", y.queue, "--key-file", server.key,
		"--name", name, "--slots", strconv.Itoa(slots), "--root", filepath.Join(y.root, name),
	}, more...)...)
}

// says runs looprun-fleet.
func (y *yard) says(args ...string) string {
	y.t.Helper()
	at := []string{args[0], "--address", server.address, "--queue", y.queue, "--key-file", server.key}
	return command(y.t, ".", program(y.t, "looprun-fleet"), append(at, args[1:]...)...)
}

// submit starts n loops of a shell line.
func (y *yard) submit(n int, line string, change func(*loops.Loop)) []string {
	y.t.Helper()
	var list []loops.Loop
	for i := range n {
		l := loops.Loop{Name: fmt.Sprintf("loop %d", i), Command: loops.Command{Shell: config.ShellLine(line)}, Options: loops.Options{"kill_after": "1s"}}
		if change != nil {
			change(&l)
		}
		list = append(list, l)
	}
	all, err := fleet.Check(list, ".", "test")
	if err != nil {
		y.t.Fatal(err)
	}
	ids, err := y.fleet.Submit(y.t.Context(), all, "", func(string, string) {})
	if err != nil {
		y.t.Fatal(err)
	}
	return ids
}

func (y *yard) result(id string) core.Result {
	y.t.Helper()
	return y.resultWithin(id, patience)
}

func (y *yard) resultWithin(id string, d time.Duration) core.Result {
	y.t.Helper()
	ctx, cancel := context.WithTimeout(y.t.Context(), d)
	defer cancel()
	r, err := y.fleet.Wait(ctx, id, func(string) {})
	if err != nil {
		y.t.Fatalf("loop %s: %v", id, err)
	}
	return r
}

func (y *yard) question(id string) string {
	y.t.Helper()
	found := ""
	wait(y.t, "a question of "+id, func() bool {
		s, err := y.fleet.State(y.t.Context(), id)
		if err != nil || len(s.Pending()) == 0 {
			return false
		}
		found = s.Pending()[0].ID
		return true
	})
	return found
}

func (y *yard) events(id string) map[core.EventType]int {
	y.t.Helper()
	n := map[core.EventType]int{}
	if err := y.fleet.Events(y.t.Context(), id, func(e core.Event) error {
		n[e.Data.Type()]++
		return nil
	}); err != nil {
		y.t.Fatal(err)
	}
	return n
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func command(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func repository(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	command(t, dir, "sh", "-c", "git init -q -b main && echo zero > steps && git add . && git -c user.name=a -c user.email=a@b commit -qm one")
	return dir
}

// gone reports whether no process is left that has the word in its command line.
func gone(word string) bool {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(word)) {
			return false
		}
	}
	return true
}

// A worker is killed in each place of a loop's life, and another takes the loop over: the
// run goes on to done, each step is in the repository once, and a loss is one crash.
func TestWorkersAreKilled(t *testing.T) {
	for _, where := range []string{"before", "in", "after", "asking", "answering"} {
		t.Run(where, func(t *testing.T) {
			for i := range runs() {
				t.Run(strconv.Itoa(i), func(t *testing.T) { t.Parallel(); killed(t, where) })
			}
		})
	}
}

func killed(t *testing.T, where string) {
	y := newYard(t)
	first := y.worker("first", 1)
	from, marks := repository(t), t.TempDir()
	mark := func(name string) string { return filepath.Join(marks, name) }
	// The second iteration shows where it is, and leaves half of its work behind a kill.
	line := `n=$LOOPRUN_ITERATION; echo half-$n >> steps; touch ` + mark("in-$n") + `; ` +
		`if test $n = 2 -a ` + where + ` = in -a ! -e ` + mark("again") + `; then touch ` + mark("again") + `; exec sleep 300 # ` + marks + "\n fi; " +
		`sed -i "s/half-$n/step-$n/" steps; touch ` + mark("over-$n") + `; test $n = 3`
	asks := where == "asking" || where == "answering"
	if asks { // the same failure until somebody says something
		line = `echo half >> steps; echo the same; test -n "$LOOPRUN_GUIDANCE" && touch ` + mark("guided") + ` && exit 0; exit 1`
	}
	id := y.submit(1, line, func(l *loops.Loop) { l.Repo = from })[0]
	before := 0 // iterations that were lost before the kill: the machine may be busy
	answered := make(chan error, 1)
	answer := func(q string) {
		_, err := y.fleet.Answer(t.Context(), id, q, "test", core.Answer{Option: "new_approach", Guidance: "go on"})
		answered <- err
	}
	switch where {
	case "before":
		wait(t, "the loop has a slot", func() bool { return exists(filepath.Join(y.root, "first", "runs", id)) })
	case "in":
		wait(t, "iteration 2", func() bool { return exists(mark("again")) })
	case "after":
		wait(t, "the end of iteration 2", func() bool { return exists(mark("over-2")) })
	default:
		q := y.question(id)
		before = y.events(id)[core.TypeIterationWithdrawn]
		if where == "answering" {
			go answer(q)
		}
	}
	first.kill()
	if where == "in" {
		wait(t, "the iteration of the killed worker is gone", func() bool { return gone(marks) })
	}
	y.worker("second", 1)
	if where == "asking" {
		answer(y.question(id))
	}
	if asks {
		if err := <-answered; err != nil {
			t.Fatal(err)
		}
	}
	r := y.result(id)
	n := y.events(id)
	if r.Status != core.StatusDone {
		t.Errorf("%s: %+v", where, r)
	}
	lost := n[core.TypeIterationWithdrawn] - before
	if where == "in" && lost == 0 || asks && lost != 0 {
		t.Errorf("%s: %d iterations were withdrawn", where, lost)
	}
	if n[core.TypeQuestionAnswered] > 1 || n[core.TypeIterationFinished] != r.Iterations {
		t.Errorf("%s: events %v, %d iterations", where, n, r.Iterations)
	}
	if got := command(t, from, "git", "show", "refs/looprun/"+id+":steps"); !asks && got != "zero\nstep-1\nstep-2\nstep-3" {
		t.Errorf("%s: the repository has %q", where, got)
	}
}

// A worker that is told to stop lets its iterations end, ends with the last of them, and another
// one takes the loops over: nothing is lost, and nothing runs twice.
func TestAWorkerDrains(t *testing.T) {
	for _, enough := range []bool{true, false} {
		t.Run(fmt.Sprintf("enough time: %v", enough), func(t *testing.T) {
			y := newYard(t)
			drain := "1s"
			if enough {
				drain = "5m"
			}
			first := y.worker("first", 4, "--drain", drain)
			marks := t.TempDir()
			ids := y.submit(4, `n=$LOOPRUN_ITERATION; echo x >> `+marks+`/ran-$LOOPRUN_RUN_ID-$n; touch `+marks+`/in-$LOOPRUN_RUN_ID; `+
				`until test -e `+marks+`/go; do sleep 0.1; done; test $n = 2`, nil)
			for _, id := range ids {
				wait(t, "an iteration of "+id, func() bool { return exists(filepath.Join(marks, "in-"+id)) })
			}
			ended := make(chan struct{})
			if err := first.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			go func() {
				_ = first.Wait()
				close(ended)
			}()
			wait(t, "it stops taking loops", func() bool { return strings.Contains(first.said.String(), "takes no more loops") })
			y.worker("second", 4)
			if enough {
				select {
				case <-ended:
					t.Error("it did not wait for its iterations")
				default:
				}
			} else {
				<-ended
			}
			if err := os.WriteFile(filepath.Join(marks, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			withdrawn := 0
			for _, id := range ids {
				if r := y.result(id); r.Status != core.StatusDone || r.Iterations != 2 {
					t.Errorf("%+v", r)
				}
				withdrawn += y.events(id)[core.TypeIterationWithdrawn]
				for n := 1; n <= 2; n++ {
					ran, err := os.ReadFile(filepath.Join(marks, fmt.Sprintf("ran-%s-%d", id, n)))
					if want := map[bool]int{true: 1, false: 3 - n}[enough]; err != nil || bytes.Count(ran, []byte("x")) != want {
						t.Errorf("iteration %d of %s ran %d times, not %d: %v", n, id, bytes.Count(ran, []byte("x")), want, err)
					}
				}
			}
			if want := map[bool]int{true: 0, false: len(ids)}[enough]; withdrawn != want {
				t.Errorf("%d iterations were withdrawn, not %d", withdrawn, want)
			}
			<-ended
		})
	}
}

// otherBuild builds a program, named by its folder, in which a piece of a file is changed.
func otherBuild(t testing.TB, program, file, old, changed string) string {
	t.Helper()
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(text, []byte(old)) != 1 {
		t.Fatalf("%s does not have %q once: change something else", file, old)
	}
	dir := t.TempDir()
	other, overlay := filepath.Join(dir, "other.go"), filepath.Join(dir, "overlay.json")
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{file: other}})
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(old), []byte(changed), 1)
	for name, text := range map[string][]byte{other: text, overlay: replaced} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := filepath.Join(dir, "looprun-fleet")
	command(t, program, "go", "build", "-overlay", overlay, "-o", build, ".")
	return build
}

// Workers are replaced, one after the other, by a build with another rule, while loops run and
// others wait for an answer: each loop ends, none is stuck, and no answer is lost.
func TestAnUpgradeUnderLoad(t *testing.T) {
	n := 30
	if more, err := strconv.Atoi(os.Getenv("FLEET_LOOPS")); err == nil {
		n = more
	}
	const limit = "threshold := s.Limits.Loop\n"
	newer := otherBuild(t, "../cmd/looprun-fleet", "../../guards/loop.go", limit, limit+"if threshold > 0 { threshold++ }\n")
	y := newYard(t)
	workers := map[string]*process{}
	for _, name := range []string{"first", "second", "third"} {
		workers[name] = y.worker(name, 4, "--drain", "1s")
	}
	marks := t.TempDir()
	same := `echo the same; test -n "$LOOPRUN_GUIDANCE"`
	asking := y.submit(2*n/3, same, nil)
	questions, before := map[string]string{}, 0
	for _, id := range asking {
		questions[id] = y.question(id)
	}
	answer := func(ids []string) {
		for _, id := range ids {
			if _, err := y.fleet.Answer(t.Context(), id, questions[id], "ann", core.Answer{Option: "new_approach", Guidance: "go on"}); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
	if s, err := y.fleet.State(t.Context(), asking[0]); err == nil {
		before = s.Iterations
	}
	running := y.submit(n-len(asking), `echo $LOOPRUN_ITERATION; touch `+marks+`/$LOOPRUN_RUN_ID; sleep 1; test -e `+marks+`/go`, func(l *loops.Loop) {
		l.Options["loop_threshold"], l.Options["loop_values"], l.Options["max_iterations"] = "off", "off", "100000"
	})
	some := running[:min(len(running), 8)] // the others may have no slot
	wait(t, "iterations", func() bool {
		list, err := os.ReadDir(marks)
		return err == nil && len(list) >= len(some)
	})
	stuck := func() {
		if err := y.fleet.List(t.Context(), fleet.Filter{All: true}, func(e fleet.Entry) error {
			if e.Stuck {
				t.Errorf("%+v", e)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	y.build = newer
	third := len(asking) / 3
	for i, name := range []string{"first", "second", "third"} {
		if err := workers[name].Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = workers[name].Wait()
		answer(asking[i*third/2 : (i+1)*third/2]) // while old and new workers run
		y.worker(name, 4, "--drain", "1s")
		stuck()
	}
	if err := os.WriteFile(filepath.Join(marks, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	answer(asking[3*third/2:])
	withdrawn := 0
	for _, id := range slices.Concat(asking, running) {
		r, n := y.resultWithin(id, 2*patience), y.events(id)
		if r.Status != core.StatusDone || n[core.TypeIterationFinished] != r.Iterations {
			t.Errorf("%s: %+v, %v", id, r, n)
		}
		if want := map[bool]int{true: 1}[slices.Contains(asking, id)]; n[core.TypeQuestionAnswered] != want {
			t.Errorf("%s: %d answers", id, n[core.TypeQuestionAnswered])
		}
		withdrawn += n[core.TypeIterationWithdrawn]
	}
	stuck()
	last := y.submit(1, same, nil)[0]
	y.question(last)
	if s, err := y.fleet.State(t.Context(), last); err != nil || s.Iterations != before+1 {
		t.Errorf("the new workers have the old rule: %d iterations, and %d before, %v", s.Iterations, before, err)
	}
	t.Logf("%d loops, %d iterations withdrawn", n, withdrawn)
}

// Whatever becomes of a loop's worker, the loop ends, and takes no slot of another one with it:
// the worker goes while some loops run, and others have just ended.
func TestEveryLoopEnds(t *testing.T) {
	for name, signal := range map[string]os.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			first := y.worker("first", 12, "--drain", "0s")
			marks := t.TempDir()
			ids := y.submit(12, `touch `+marks+`/$LOOPRUN_RUN_ID; until test -e `+marks+`/go; do sleep 0.1; done`, nil)
			for _, id := range ids {
				wait(t, "an iteration of "+id, func() bool { return exists(filepath.Join(marks, id)) })
			}
			if err := os.WriteFile(filepath.Join(marks, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			wait(t, "one has ended", func() bool {
				return slices.ContainsFunc(ids, func(id string) bool {
					s, err := y.fleet.State(t.Context(), id)
					return err == nil && s.Ended
				})
			})
			if err := first.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = first.Wait()
			y.worker("second", 1)
			for _, id := range ids {
				if r := y.result(id); r.Status != core.StatusDone || r.Iterations != 1 {
					t.Errorf("%+v", r)
				}
			}
			after := y.submit(1, "true", nil)[0]
			if r := y.result(after); r.Status != core.StatusDone {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A loop whose worker was killed in an iteration is cancelled by the next worker.
func TestALoopOfAKilledWorkerIsCancelled(t *testing.T) {
	y := newYard(t)
	first := y.worker("first", 1)
	marks := t.TempDir()
	id := y.submit(1, "touch "+marks+"/in; sleep 300 # "+marks, nil)[0]
	wait(t, "the iteration", func() bool { return exists(filepath.Join(marks, "in")) })
	first.kill()
	y.worker("second", 1)
	y.says("cancel", id)
	if r := y.result(id); r.Status != core.StatusInterrupted || r.ExitCode != 143 {
		t.Errorf("%+v", r)
	}
	wait(t, "no process is left", func() bool { return gone(marks) })
}

// A repository that is away for a while costs no iteration, and ends no loop: neither one whose
// checkpoint is to be pushed, nor one that is to be fetched. The list says what it waits for.
func TestARepositoryThatIsAway(t *testing.T) {
	y := newYard(t)
	w := y.worker("w", 2)
	from, marks := repository(t), t.TempDir()
	ofRepo := func(l *loops.Loop) { l.Repo = from }
	first := y.submit(1, `echo x >> `+marks+`/ran; mv `+from+` `+from+`.away`, ofRepo)[0]
	wait(t, "a push that is tried again", func() bool { return strings.Contains(w.said.String(), "cannot reach") })
	second := y.submit(1, "true", ofRepo)[0]
	wait(t, "the reason", func() bool { return strings.Contains(y.says("list"), "worker w cannot reach ") })
	if err := os.Rename(from+".away", from); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{first, second} {
		if r := y.result(id); r.Status != core.StatusDone || r.Iterations != 1 {
			t.Errorf("%+v", r)
		}
		if got := command(t, from, "git", "log", "-1", "--format=%s", "refs/looprun/"+id); got != "looprun "+id+" iteration 1" {
			t.Errorf("the repository has %q", got)
		}
	}
	if ran, err := os.ReadFile(filepath.Join(marks, "ran")); err != nil || string(ran) != "x\n" {
		t.Errorf("the iteration ran %q: %v", ran, err)
	}
}

// A worker that lost its git ends no loop: it says so, rests, and the others run them.
func TestASickWorker(t *testing.T) {
	y := newYard(t)
	bin, path := t.TempDir(), os.Getenv("PATH")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"git": git, "sh": "/bin/sh"} {
		if err := os.Symlink(to, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	sick := y.worker("sick", 4)
	t.Setenv("PATH", path)
	if err := os.Remove(filepath.Join(bin, "git")); err != nil {
		t.Fatal(err)
	}
	from := repository(t)
	ids := y.submit(8, "true", func(l *loops.Loop) { l.Repo = from })
	wait(t, "it rests", func() bool { return strings.Contains(sick.said.String(), "worker rests") })
	y.worker("good", 2)
	for _, id := range ids {
		if r := y.result(id); r.Status != core.StatusDone || r.Iterations != 1 {
			t.Errorf("%+v", r)
		}
	}
}

// Where no worker is, lists and waits say it, a cancel by force ends a loop, and a wait for it ends.
// A wait that is interrupted says that the loop goes on.
func TestALoopWithoutAWorkerIsCancelled(t *testing.T) {
	y := newYard(t)
	id := y.submit(1, "true", nil)[0]
	const why = "no worker runs on queue"
	if out := y.says("list"); !strings.Contains(out, why) {
		t.Errorf("%s", out)
	}
	said := ""
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := y.fleet.Wait(ctx, id, func(reason string) {
		said = reason
		y.says("cancel", "--force", id)
	}); err == nil || !strings.Contains(err.Error(), "by force") || !strings.Contains(said, why) {
		t.Errorf("%q, %v", said, err)
	}
	if out := y.says("list", "--all"); !strings.Contains(out, "terminated") || strings.Contains(out, why) {
		t.Errorf("%s", out)
	}
	left := start(t, why, "looprun-fleet", "wait", y.submit(1, "echo the same; exit 1", nil)[0], "--address", server.address, "--queue", y.queue, "--key-file", server.key)
	_ = left.Process.Signal(os.Interrupt)
	if err := left.Wait(); err == nil || !strings.HasSuffix(left.said.String(), "looprun-fleet: interrupted; loops that were submitted go on\n") {
		t.Errorf("a wait that was interrupted: %v, %s", err, left.said.String())
	}
	y.worker("w", 1)
	y.question(y.submit(1, "echo the same; exit 1", nil)[0])
	if out := y.says("list", "--format", "json"); strings.Contains(out, why) {
		t.Errorf("%s", out)
	}
}

// A loop that no worker can continue says so wherever it is looked at.
func TestALoopThatNoWorkerCanContinue(t *testing.T) {
	y := newYard(t)
	w := y.worker("old", 1)
	id := y.submit(1, "echo the same; exit 1", nil)[0]
	y.question(id)
	w.kill()
	const driver = "\tl.driver = core.Driver{\n"
	y.build = otherBuild(t, "../cmd/looprun-fleet", "../workflow.go", driver, "_ = workflow.Sleep(ctx, time.Second)\n"+driver)
	y.worker("new", 1)
	y.says("cancel", id)
	const why = "no worker can continue it"
	wait(t, "the list says it", func() bool { return strings.Contains(y.says("list"), why) })
	for _, c := range []string{"show", "explain", "report", "wait", "answer"} {
		args := []string{c, id, "--address", server.address, "--queue", y.queue, "--key-file", server.key}
		if c == "answer" {
			args = append(args, "cancel")
		}
		out, err := exec.Command(program(t, "looprun-fleet"), args...).CombinedOutput()
		if !strings.Contains(string(out), strings.TrimSuffix(why, " it")) || (err == nil) != slices.Contains([]string{"show", "explain", "report"}, c) {
			t.Errorf("%s: %v: %s", c, err, out)
		}
	}
	y.says("cancel", "--force", id)
}

// With a key, the database has nothing that a user typed but what the page names.
func TestTheDatabaseHasNothingPlain(t *testing.T) {
	y := newYard(t)
	if server.key == "" {
		t.Skip("the server has no key while histories are recorded")
	}
	y.worker("w", 2)
	word := "plain" + strconv.Itoa(os.Getpid())
	from := filepath.Join(t.TempDir(), word)
	if err := os.Rename(repository(t), from); err != nil {
		t.Fatal(err)
	}
	line := "echo " + word + `; test -n "$LOOPRUN_GUIDANCE"`
	y.says("submit", "--repo", from, "--group", "label-of-"+y.queue, "--check", "true # "+word, "--", "sh", "-c", line)
	asked := y.submit(1, line, func(l *loops.Loop) { l.Env = map[string]string{"A": word} })[0]
	if _, err := y.fleet.Answer(t.Context(), asked, y.question(asked), word, core.Answer{Option: "new_approach", Guidance: word, Reason: word}); err != nil {
		t.Fatal(err)
	}
	y.result(asked)
	refused := y.submit(1, "true", func(l *loops.Loop) { l.Setup = config.ShellLine("echo " + word + " >&2; exit 1") })[0]
	if r := y.result(refused); !strings.Contains(r.Reason, word) {
		t.Errorf("%+v", r)
	}
	away := y.submit(1, "true", func(l *loops.Loop) { l.Repo = from + ".away" })[0]
	wait(t, "the reason", func() bool { return strings.Contains(y.says("list"), " cannot reach ") })
	y.says("cancel", away)
	y.result(away)
	files, err := filepath.Glob(filepath.Join(server.dir, "db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no database: %v", err)
	}
	label := false
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(text, []byte(word)); i >= 0 {
			t.Errorf("%s has %q", file, text[max(0, i-100):min(len(text), i+100)])
		}
		label = label || bytes.Contains(text, []byte("label-of-"+y.queue))
	}
	if !label {
		t.Error("the database was not searched: it must have the label")
	}
}

// A command that no worker has is said in the list, and a worker that has it runs the loop.
func TestACommandThatIsMissing(t *testing.T) {
	y := newYard(t)
	first := y.worker("first", 1)
	bin := t.TempDir()
	id := y.submit(1, "", func(l *loops.Loop) { l.Command = loops.Command{Words: []string{"an-agent"}} })[0]
	wait(t, "the reason", func() bool { return strings.Contains(y.says("list"), "worker first has no command an-agent") })
	first.kill()
	if err := os.Symlink("/bin/true", filepath.Join(bin, "an-agent")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	y.worker("second", 1)
	if r := y.result(id); r.Status != core.StatusDone {
		t.Errorf("%+v", r)
	}
}

// What no worker offers is said in the list, and a worker that offers it runs the loop.
func TestALoopRunsWhereItsNeedsAreOffered(t *testing.T) {
	y := newYard(t)
	y.worker("plain", 2)
	id := y.submit(1, "true", func(l *loops.Loop) { l.Needs = []string{"gpu"} })[0]
	wait(t, "the reason", func() bool { return strings.Contains(y.says("list"), "no worker offers gpu") })
	y.worker("special", 1, "--offers", "big,gpu")
	r := y.result(id)
	if list := y.says("list", "--all"); r.Status != core.StatusDone || !strings.Contains(list, "special") {
		t.Errorf("%+v: %s", r, list)
	}
}

// A worker that is told to runs all of a loop as another user, who can read neither its key nor
// its memory; its processes end with the loop.
func TestLoopsOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	y, from := newYard(t), repository(t)
	forAll(t, y.root)
	command(t, from, "sh", "-c", "chown -R nobody . && chmod 755 .")
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	before, err := syscall.Getgroups()
	if err == nil {
		err = syscall.Setgroups([]int{0, 4}) // no group of root's is left to the loops
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setgroups(before) })
	for _, name := range []string{"XDG_CACHE_HOME", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "MAIL", "SUDO_USER", "SHELL", "MAILTO"} {
		t.Setenv(name, "of-root") // nor a variable of its session
	}
	w := y.worker("other", 1, "--user", "nobody")
	if made := command(t, ".", "stat", "-c", "%a %U", filepath.Join(y.root, "other")); made != "700 nobody" {
		t.Errorf("the folder that the worker made: %s", made)
	}
	look := fmt.Sprintf(`id -un; id -G; echo $USER $LOGNAME $HOME $SHELL $MAILTO $XDG_CACHE_HOME$SSH_AUTH_SOCK$SSH_AGENT_PID$MAIL$SUDO_USER; cat %s; cat /proc/%d/environ; head -c 1 /proc/%[2]d/mem; ls /proc/%[2]d/fd; id -un > who; `, server.key, w.Process.Pid)
	id := y.submit(1, look+"echo over", func(l *loops.Loop) {
		l.Repo, l.Setup, l.Check = from, "id -un > setup", "test -e who && test $(id -un) = nobody"
	})[0]
	if r := y.result(id); r.Status != core.StatusDone {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
	said := y.says("logs", id)
	if lines := strings.Split(said, "\n"); lines[0] != "nobody" || lines[1] != "65534" || lines[2] != "nobody nobody "+nobody.HomeDir+" /bin/sh of-root" || strings.Count(said, "Permission denied") != 4 {
		t.Errorf("%s", said)
	}
	if who := command(t, from, "git", "-c", "safe.directory=*", "show", "refs/looprun/"+id+":setup", "refs/looprun/"+id+":who"); who != "nobody\nnobody" {
		t.Errorf("%s", who)
	}
	word := fmt.Sprintf("30%d.5", os.Getpid())
	id = y.submit(1, "setsid sleep "+word+" & exec sleep "+word, nil)[0]
	wait(t, "it runs", func() bool { return !gone(word) })
	y.says("cancel", id)
	y.result(id)
	wait(t, "its processes are gone", func() bool { return gone(word) })
}

// Only root becomes another user, and that is not root.
func TestAWorkerCannotBecomeThatUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	y := newYard(t)
	forAll(t, y.root)
	copied := filepath.Join(y.root, "looprun-fleet")
	command(t, ".", "install", "-m", "755", program(t, "looprun-fleet"), copied)
	for _, c := range []struct {
		by   uint32
		user string
		want string
	}{
		{0, "root", "root has to start the worker, for a user other than root"},
		{65534, "nobody", "root has to start the worker, for a user other than root"},
		{0, "nobody-has-this-name", "user: unknown user nobody-has-this-name"},
	} {
		said := turnedAway(t, c.by, copied, "worker", "--address", server.address, "--queue", y.queue, "--root", filepath.Join(y.root, "w"), "--user", c.user)
		if want := "looprun-fleet: --user " + c.user + ": " + c.want + "\n"; said != want {
			t.Errorf("%q, not %q", said, want)
		}
	}
	there := filepath.Join(y.root, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{there, filepath.Join(y.root, "no", "such")} { // it gives away no folder but one that it makes
		want := map[bool]string{true: "there/lock: permission denied", false: "no: permission denied"}[root == there]
		if said := turnedAway(t, 0, copied, "worker", "--address", server.address, "--queue", y.queue, "--root", root, "--user", "nobody"); !strings.Contains(said, want) {
			t.Errorf("%s: %q", root, said)
		}
	}
	if owner := command(t, ".", "stat", "-c", "%a %U", there); owner != "755 root" {
		t.Errorf("a folder that was there: %s", owner)
	}
}

// turnedAway is what a worker says that a user starts, and that does not run.
func turnedAway(t testing.TB, by uint32, name string, args ...string) string {
	t.Helper()
	p := &process{Cmd: exec.Command(program(t, name), args...)}
	p.Stdout, p.Stderr, p.Dir = &p.said, &p.said, "/"
	p.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: by, Gid: by}}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	wait(t, "it says something", func() bool { return strings.HasSuffix(p.said.String(), "\n") })
	return p.said.String()
}

// forAll lets every user into a folder of a test.
func forAll(t testing.TB, dir string) {
	t.Helper()
	for above := filepath.Clean(os.TempDir()) + "/"; strings.HasPrefix(dir, above); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACancelLeavesNoProcess(t *testing.T) {
	y := newYard(t)
	y.worker("w", 2)
	marks := t.TempDir()
	id := y.submit(1, `setsid sleep 300 `+"& "+`touch `+marks+`/in; trap '' TERM; sh -c 'sleep 300; echo `+marks+`'`, nil)[0]
	wait(t, "the iteration", func() bool { return exists(filepath.Join(marks, "in")) })
	if err := y.fleet.Cancel(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	if r := y.result(id); r.Status != core.StatusInterrupted || r.ExitCode != 143 {
		t.Errorf("%+v", r)
	}
	wait(t, "no process is left", func() bool { return gone(marks) })
}

// A cancel counts, whatever becomes of the iteration that runs then.
func TestACancelWhileAnIterationPasses(t *testing.T) {
	y := newYard(t)
	y.worker("w", 1)
	marks := t.TempDir()
	id := y.submit(1, "touch "+marks+"/in; until [ -e "+marks+"/go ]; do sleep 0.01; done", nil)[0]
	wait(t, "the iteration", func() bool { return exists(filepath.Join(marks, "in")) })
	y.says("cancel", id)
	if err := os.WriteFile(filepath.Join(marks, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := y.result(id); r.Status != core.StatusInterrupted || r.ExitCode != 143 {
		t.Errorf("%+v", r)
	}
}

func TestOfTwoAnswersOneCounts(t *testing.T) {
	y := newYard(t)
	y.worker("w", 4)
	for range runs() {
		id := y.submit(1, "echo the same; exit 1", nil)[0]
		q := y.question(id)
		if _, err := y.fleet.Answer(t.Context(), id, q, "eve", core.Answer{Option: "no-such"}); err == nil {
			t.Error("a wrong option was taken")
		}
		if _, err := y.fleet.Answer(t.Context(), id, "no-such-1", "eve", core.Answer{Option: "cancel"}); err == nil {
			t.Error("an answer to no question was taken")
		}
		const people = 8
		errs := make([]error, people)
		var all sync.WaitGroup
		for i := range people {
			all.Go(func() {
				_, errs[i] = y.fleet.Answer(t.Context(), id, q, fmt.Sprint("person", i), core.Answer{Option: []string{"cancel", "accept"}[i%2]})
			})
		}
		all.Wait()
		won, winner := 0, 0
		for i, err := range errs {
			if err == nil {
				won, winner = won+1, i
			}
		}
		r := y.result(id)
		if n := y.events(id); won != 1 || n[core.TypeQuestionAnswered] != 1 {
			t.Errorf("%d answers were taken, %v on record: %v", won, n[core.TypeQuestionAnswered], errs)
		}
		if want := []string{"cancel", "accept"}[winner%2]; r.Decision != want {
			t.Errorf("%q counts, and %q was told that it does", r.Decision, want)
		}
		if _, err := y.fleet.Answer(t.Context(), id, q, "late", core.Answer{Option: "cancel"}); err == nil {
			t.Error("an answer was taken after the end")
		}
	}
}

func TestAnAnswerThatIsGivenAgainIsTheSame(t *testing.T) {
	y := newYard(t)
	y.worker("w", 1)
	id := y.submit(1, "echo the same; test -e go || exit 1", func(l *loops.Loop) { l.Options["max_iterations"] = "3" })[0]
	q := y.question(id)
	first, err := y.fleet.Answer(t.Context(), id, q, "ann", core.Answer{Option: "new_approach"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := y.fleet.Answer(t.Context(), id, q, "ann", core.Answer{Option: "new_approach"})
	if err != nil || again.Seq != first.Seq {
		t.Errorf("%+v, then %+v, %v", first, again, err)
	}
	if _, err := y.fleet.Answer(t.Context(), id, q, "ann", core.Answer{Option: "cancel"}); err == nil {
		t.Error("another answer of the same person was taken for the first")
	}
	if err := y.fleet.Cancel(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	y.result(id)
}

// A server that is killed and started again knows all that it knew.
func TestTheServerIsKilled(t *testing.T) {
	db := filepath.Join(t.TempDir(), "db")
	port := strconv.Itoa(freePort(t))
	args := []string{"dev", "--port", port, "--db", db, "--no-worker"}
	first := start(t, "server ", "looprun-fleet-dev", args...)
	y := &yard{t: t, queue: "looprun", root: t.TempDir()}
	var err error
	if y.fleet, err = (&fleet.Server{Address: "127.0.0.1:" + port, Namespace: fleet.Namespace, Queue: y.queue}).Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(y.fleet.Close)
	start(t, "runs up to", "looprun-fleet", "worker", "--address", "127.0.0.1:"+port, "--root", filepath.Join(y.root, "w"), "--name", "w")
	marks := t.TempDir()
	asking := y.submit(1, "echo the same; exit 1", nil)[0]
	running := y.submit(1, "touch "+marks+"/in; until test -e "+marks+"/go; do sleep 0.1; done", nil)[0]
	q := y.question(asking)
	wait(t, "the iteration", func() bool { return exists(filepath.Join(marks, "in")) })
	first.kill()
	start(t, "server ", "looprun-fleet-dev", args...)
	wait(t, "an answer is taken", func() bool {
		_, err := y.fleet.Answer(t.Context(), asking, q, "ann", core.Answer{Option: "cancel"})
		return err == nil
	})
	if err := os.WriteFile(filepath.Join(marks, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := y.result(running); r.Status != core.StatusDone {
		t.Errorf("%+v", r)
	}
	y.result(asking)
}

// A submission that was cut off is made again under its id: what is missing is started, and nothing
// twice.
func TestASubmissionIsRepeated(t *testing.T) {
	y := newYard(t)
	y.worker("w", 4)
	request := "night-" + y.queue
	list, err := fleet.Check(slices.Repeat([]loops.Loop{{Name: request, Command: loops.Command{Shell: "true"}}}, 40), ".", "test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cut := context.WithCancel(t.Context())
	if _, err := y.fleet.Submit(ctx, list, request, func(string, string) { cut() }); err == nil {
		t.Log("it was too quick to be cut off")
	}
	var all []string
	for range 2 {
		ids, err := y.fleet.Submit(t.Context(), list, request, func(string, string) {})
		if err != nil || all != nil && !slices.Equal(ids, all) {
			t.Fatalf("%v, and then %v: %v", all, ids, err)
		}
		all = ids
	}
	for _, id := range all {
		if r := y.result(id); r.Status != core.StatusDone {
			t.Errorf("%+v", r)
		}
	}
	n := 0
	if err := y.fleet.List(t.Context(), fleet.Filter{All: true, Name: request}, func(fleet.Entry) error { n++; return nil }); err != nil || n != len(all) {
		t.Errorf("%d loops of %d were started: %v", n, len(all), err)
	}
	if _, err := y.fleet.Submit(t.Context(), list[:1], request, func(string, string) {}); err == nil || !strings.Contains(err.Error(), "is the id of other loops") {
		t.Errorf("other loops were submitted under the same id: %v", err)
	}
	for range 2 {
		if out := y.says("submit", "--id", request+"-1", "--wait", "--", "true"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "  done") {
			t.Errorf("%s", out)
		}
	}
}

// What an iteration printed outlives its worker.
func TestAnOutputOutlivesItsWorker(t *testing.T) {
	y := newYard(t)
	w := y.worker("w", 1)
	id := y.submit(1, `seq 20000; echo "line $LOOPRUN_ITERATION"; test $LOOPRUN_ITERATION = 2`, nil)[0]
	y.result(id)
	w.kill()
	if err := os.RemoveAll(y.root); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{{[]string{"logs", id, "-n", "1"}, "line 1"}, {[]string{"logs", id}, "line 2"}} {
		if out := y.says(c.args...); !strings.HasSuffix(out, "\n19999\n20000\n"+c.want) || !strings.Contains(out, "the first 43") {
			t.Errorf("%v: %d bytes, at the end %q", c.args, len(out), out[max(0, len(out)-30):])
		}
	}
}

// Groups take turns: one loop of a team is not behind all of another.
func TestGroupsTakeTurns(t *testing.T) {
	y := newYard(t)
	y.worker("w", 1)
	until := filepath.Join(t.TempDir(), "until")
	y.submit(1, "while ! test -e "+until+"; do sleep 0.1; done", nil)
	wait(t, "the slot is held", func() bool { return strings.Contains(y.says("list"), "running") })
	many := y.submit(20, "true", func(l *loops.Loop) { l.Group = "many" })
	few := y.submit(2, "true", func(l *loops.Loop) { l.Group = "few" })
	for _, id := range slices.Concat(many, few) {
		wait(t, "it waits for a slot", func() bool {
			d, err := y.fleet.Client().DescribeWorkflowExecution(t.Context(), id, "")
			return err == nil && len(d.GetPendingActivities()) == 1
		})
	}
	if err := os.WriteFile(until, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	last := time.Time{}
	for _, id := range few {
		if at := y.ended(id); at.After(last) {
			last = at
		}
	}
	before := 0
	for _, id := range many {
		if y.ended(id).Before(last) {
			before++
		}
	}
	if before > len(many)/2 {
		t.Errorf("%d of %d loops of the other label ended before", before, len(many))
	}
	t.Logf("%d of %d loops of the other label ended before", before, len(many))
}

// ended waits for the end of a loop, and returns when it was.
func (y *yard) ended(id string) time.Time {
	y.t.Helper()
	y.result(id)
	d, err := y.fleet.Client().DescribeWorkflowExecution(y.t.Context(), id, "")
	if err != nil {
		y.t.Fatal(err)
	}
	return d.GetWorkflowExecutionInfo().GetCloseTime().AsTime()
}

func TestABudgetIsShared(t *testing.T) {
	y := newYard(t)
	y.worker("w", 4)
	label := "team-" + y.queue
	if _, err := y.fleet.SetBudget(t.Context(), label, 5); err != nil {
		t.Fatal(err)
	}
	ids := y.submit(8, `printf 'LOOPRUN_COST\nUSD: 1\n'`, func(l *loops.Loop) {
		l.Group, l.Options["detached"], l.Options["signals"], l.Options["max_cost"] = label, "deny", "text", "10"
	})
	done, tripped := 0, 0
	for _, id := range ids {
		switch r := y.result(id); {
		case r.Status == core.StatusDone:
			done++
		case r.Guard == core.MaxCost:
			tripped++
		default:
			t.Errorf("%+v", r)
		}
	}
	b, err := y.fleet.Budget(t.Context(), label)
	if err != nil || b.Open() != 0 || b.Spent != float64(done) || done != 5 || tripped != 3 {
		t.Errorf("%+v, %v", b, err)
	}
	t.Logf("%d done, %d refused, $%.2f spent", done, tripped, b.Spent)
}

// What the CLI shows of a loop is what it shows of a run.
func TestALoopIsReadAsARun(t *testing.T) {
	y := newYard(t)
	y.worker("w", 1)
	id := y.submit(1, `echo "line $LOOPRUN_ITERATION"; test $LOOPRUN_ITERATION = 2`, nil)[0]
	y.result(id)
	to := filepath.Join(t.TempDir(), ".looprun")
	at := []string{"--address", server.address, "--queue", y.queue, "--key-file", server.key}
	command(t, ".", program(t, "looprun-fleet"), append([]string{"export", id, "--to", to}, at...)...)
	shown := command(t, ".", program(t, "looprun"), "show", id, "--state-dir", to, "--format", "json")
	var run struct {
		Status     string `json:"status"`
		Iterations int    `json:"iterations"`
	}
	if err := json.Unmarshal([]byte(shown), &run); err != nil || run.Status != "done" || run.Iterations != 2 {
		t.Errorf("%v: %s", err, shown)
	}
	for _, c := range []string{"show", "explain", "report"} {
		if out := command(t, ".", program(t, "looprun-fleet"), append([]string{c, id}, at...)...); !strings.Contains(out, "done") {
			t.Errorf("%s: %s", c, out)
		}
	}
	asking := y.submit(1, "echo the same; exit 1", nil)[0]
	y.question(asking)
	for _, c := range []string{"show", "explain", "report"} { // it has no end, and was not killed
		if out := command(t, ".", program(t, "looprun-fleet"), append([]string{c, asking}, at...)...); !strings.Contains(out, "awaiting") && c != "explain" || strings.Contains(out, "crashed") || strings.Contains(out, "looprun resume") {
			t.Errorf("%s: %s", c, out)
		} else if c == "show" && (!strings.Contains(out, "answer with: looprun-fleet answer "+asking) || strings.Contains(out, "\ndirectory")) {
			t.Errorf("%s", out)
		}
	}
	if out := command(t, ".", program(t, "looprun-fleet"), append([]string{"logs", id, "-n", "1"}, at...)...); out != "line 1" {
		t.Errorf("logs: %q", out)
	}
	if out := command(t, ".", program(t, "looprun"), "doctor", id, "--state-dir", to); strings.Contains(out, "problem") {
		t.Errorf("doctor: %s", out)
	}
}

// While they are followed, the loops of a fleet are runs of this machine: they are listed, and
// an answer to one reaches it.
func TestALoopIsAnsweredAsARun(t *testing.T) {
	y := newYard(t)
	y.worker("w", 1)
	id := y.submit(1, "echo the same; exit 1", nil)[0]
	y.question(id)
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	start(t, "looprun list --all", "looprun-fleet", "watch", "--address", server.address, "--queue", y.queue, "--key-file", server.key)
	dirs, err := filepath.Glob(filepath.Join(cache, "looprun-fleet", "*", ".looprun"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("the runs are in %v, %v", dirs, err)
	}
	if out := command(t, ".", program(t, "looprun"), "list", "--pending", "--state-dir", dirs[0]); !strings.Contains(out, id) {
		t.Fatalf("the runs that ask: %s", out)
	}
	command(t, ".", program(t, "looprun"), "answer", id, "cancel", "--question", y.question(id), "--state-dir", dirs[0])
	if r := y.result(id); r.Status != core.StatusTripped && r.Status != core.StatusCancelled {
		t.Errorf("%+v", r)
	}
	wait(t, "the end of the run", func() bool {
		return exists(filepath.Join(dirs[0], id, "result.json"))
	})
}

// A history that has become long is cut, and the loop goes on from its state: with all of
// its iterations on record, each once.
func TestALongLoopIsCutAndGoesOn(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("FLEET_LONG"))
	if err != nil {
		n = 700 // the server asks for a cut at some 4,000 events
	}
	y := newYard(t)
	y.worker("w", 1)
	from := repository(t)
	id := y.submit(1, `echo $LOOPRUN_ITERATION > steps; test $LOOPRUN_ITERATION = `+strconv.Itoa(n), func(l *loops.Loop) {
		l.Repo, l.Options["max_iterations"], l.Options["loop_threshold"] = from, strconv.Itoa(2*n), "off"
	})[0]
	if r := y.resultWithin(id, patience+time.Duration(n)*time.Second); r.Status != core.StatusDone || r.Iterations != n {
		t.Fatalf("%+v", r)
	}
	var at int64
	iterations := 0
	if err := y.fleet.Events(t.Context(), id, func(e core.Event) error {
		if at++; e.Seq != at {
			t.Errorf("event %d comes where %d is due", e.Seq, at)
		}
		if d, ok := e.Data.(core.IterationFinished); ok {
			if iterations++; d.Iteration != iterations {
				t.Errorf("iteration %d ended where %d was due", d.Iteration, iterations)
			}
		}
		return nil
	}); err != nil || iterations != n {
		t.Errorf("%d iterations are on record: %v", iterations, err)
	}
	d, err := y.fleet.Client().DescribeWorkflowExecution(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	last := d.GetWorkflowExecutionInfo()
	if last.GetFirstRunId() == last.GetExecution().GetRunId() {
		t.Errorf("its history of %d events was never cut", last.GetHistoryLength())
	}
	t.Logf("%d iterations, %d events; the last part of its history has %d", n, at, last.GetHistoryLength())
	if got := command(t, from, "git", "show", "refs/looprun/"+id+":steps"); got != strconv.Itoa(n) {
		t.Errorf("the repository has %q", got)
	}
}

func TestManyLoops(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("FLEET_LOOPS"))
	if err != nil {
		n = 50
	}
	y := newYard(t)
	w := y.worker("w", 8)
	began := time.Now()
	ids := y.submit(n, `test $LOOPRUN_ITERATION = 3`, nil)
	submitted := time.Since(began)
	for _, id := range ids { // the first may be the last that gets a slot
		if r := y.resultWithin(id, patience+time.Duration(n)*2*time.Second); r.Status != core.StatusDone || r.Iterations != 3 {
			t.Errorf("%+v", r)
		}
	}
	took := time.Since(began)
	events, size := y.history(ids[n/2])
	t.Logf("%d loops × 3 iterations: submitted in %s, done in %s; the worker has %d MB, the server %d MB; a history has %d events, %d bytes",
		n, submitted.Round(time.Millisecond), took.Round(time.Millisecond), memory(w.Process.Pid), memory(server.Process.Pid), events, size)
}

func (y *yard) history(id string) (events, size int64) {
	y.t.Helper()
	d, err := y.fleet.Client().DescribeWorkflowExecution(y.t.Context(), id, "")
	if err != nil {
		y.t.Fatal(err)
	}
	return d.GetWorkflowExecutionInfo().GetHistoryLength(), d.GetWorkflowExecutionInfo().GetHistorySizeBytes()
}

// memory is what a process holds, in MB.
func memory(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return -1
	}
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return pages * os.Getpagesize() >> 20
}

// With FLEET_RECORD=DIR histories are recorded for the test that replays them.
func TestHistoriesAreRecorded(t *testing.T) {
	dir := os.Getenv("FLEET_RECORD")
	if dir == "" {
		t.Skip("FLEET_RECORD names no folder")
	}
	y := newYard(t)
	first := y.worker("first", 8, "--drain", "0s")
	marks := t.TempDir()
	from := repository(t)
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte("version: 1\nrules:\n  - {guard: loop_detected, answer: cancel, reason: so}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	recorded := map[string]string{}
	begin := func(name, line string, change func(*loops.Loop)) string {
		recorded[name] = y.submit(1, line, change)[0]
		return recorded[name]
	}
	answer := func(id string, a core.Answer) {
		if _, err := y.fleet.Answer(t.Context(), id, y.question(id), "ann", a); err != nil {
			t.Fatal(err)
		}
	}
	same := `echo the same; test -n "$LOOPRUN_GUIDANCE"`
	if _, err := y.fleet.SetBudget(t.Context(), "team-"+y.queue, 5); err != nil {
		t.Fatal(err)
	}
	asked := begin("asked", same, func(l *loops.Loop) { l.Repo, l.Group = from, "team" })
	budget := begin("budget", `printf 'LOOPRUN_COST\nUSD: 3\n'; exit 1`, func(l *loops.Loop) {
		l.Group, l.Options["signals"], l.Options["detached"] = "team-"+y.queue, "text", "deny"
	})
	begin("policy", same, func(l *loops.Loop) { l.Options["policy"] = policy })
	begin("waited", `test -e `+marks+`/waited || { touch `+marks+`/waited; echo the limit is reached; exit 1; }`, func(l *loops.Loop) {
		l.Options["wait_on"], l.Options["wait_delay"] = "the limit is reached", "1s"
	})
	begin("checked", "touch "+marks+"/checked", func(l *loops.Loop) { l.Check = config.ShellLine("test -e " + marks + "/checked") })
	begin("refused", "true", func(l *loops.Loop) { l.Setup = "exit 1" })
	begin("unanswered", "echo the same; exit 1", func(l *loops.Loop) { l.Options["wait_answer"] = "1s" })
	begin("delay", "test $LOOPRUN_ITERATION = 3", func(l *loops.Loop) { l.Options["delay"] = "1s" })
	begin("when-stuck", same, func(l *loops.Loop) { l.Options["when_stuck"], l.Options["wait_answer"] = "echo another; exit 1", "1s" })
	begin("cut", "echo $LOOPRUN_ITERATION; test $LOOPRUN_ITERATION = 25", func(l *loops.Loop) {
		l.Options["loop_threshold"], l.Options["loop_values"], l.Options["max_iterations"] = "off", "off", "30"
	})
	debugged := begin("debugged", same, func(l *loops.Loop) { l.Options["debug"] = "echo look again" })
	cancelled := begin("cancelled", "echo the same; exit 1", nil)
	answer(asked, core.Answer{Option: "new_approach", Guidance: "go on"})
	answer(debugged, core.Answer{Option: "debug"})
	y.question(cancelled)
	if err := y.fleet.Cancel(t.Context(), cancelled, false); err != nil {
		t.Fatal(err)
	}
	own := repository(t)
	begin("pushed", "mv "+own+" "+own+".away", func(l *loops.Loop) { l.Repo = own })
	wait(t, "a push that is tried again", func() bool { return strings.Contains(first.said.String(), "cannot reach") })
	if err := os.Rename(own+".away", own); err != nil {
		t.Fatal(err)
	}
	for name, id := range recorded {
		t.Logf("%s: %v", name, y.result(id))
	}
	if b, err := y.fleet.Budget(t.Context(), "team-"+y.queue); err != nil || b.Spent != 3 {
		t.Errorf("%s: %+v, %v", budget, b, err)
	}
	for _, c := range []struct {
		name string
		end  func(*process)
	}{
		{"handed-back", func(p *process) { _ = p.Process.Signal(syscall.SIGTERM); _ = p.Wait() }},
		{"moved", (*process).kill},
	} {
		begin(c.name, "touch "+marks+"/in; test -e "+marks+"/"+c.name+" || sleep 300", func(l *loops.Loop) { l.Repo = from })
		wait(t, "the iteration", func() bool { return exists(filepath.Join(marks, "in")) })
		c.end(first)
		for _, made := range []func() error{
			func() error { return os.WriteFile(filepath.Join(marks, c.name), nil, 0o600) },
			func() error { return os.Remove(filepath.Join(marks, "in")) },
		} {
			if err := made(); err != nil {
				t.Fatal(err)
			}
		}
		first = y.worker("after-"+c.name, 2, "--drain", "0s")
		y.result(recorded[c.name])
	}
	begin("needs", "true", func(l *loops.Loop) { l.Needs = []string{"gpu"} })
	wait(t, "nobody offers it", func() bool { return strings.Contains(y.says("list"), "no worker offers gpu") })
	y.worker("special", 1, "--offers", "gpu")
	y.result(recorded["needs"])
	for name, id := range recorded {
		for part, more := "", true; more; name = "before-" + name { // the last part, and then those before it
			h := new(historypb.History)
			for it := y.fleet.Client().GetWorkflowHistory(t.Context(), id, part, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); it.HasNext(); {
				e, err := it.Next()
				if err != nil {
					t.Fatal(err)
				}
				h.Events = append(h.Events, e)
			}
			text, err := protojson.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			if host, err := os.Hostname(); err == nil {
				text = bytes.ReplaceAll(text, []byte("@"+host+"@"), []byte("@host@"))
			}
			if err := os.WriteFile(filepath.Join(dir, name+".json"), append(text, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
			part = h.Events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
			more = part != ""
		}
	}
	if !exists(filepath.Join(dir, "before-cut.json")) {
		t.Error("no history was cut")
	}
}
