//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
)

// inTurn prints a line an iteration, each when its file go-N is there.
const inTurn = `while [ ! -e go-$LOOPRUN_ITERATION ]; do sleep 0.02; done; echo "--- FAIL: Test$LOOPRUN_ITERATION (0.01s)"; exit 1`

// follower is looprun show --follow of the run that goes on in the same directory.
func follower(t *testing.T, run *started, args ...string) *started {
	t.Helper()
	until(t, "the run has begun", func() bool {
		return strings.Contains(run.stderr.String(), "iteration 1")
	})
	return begin(t, run.dir, append([]string{"show", "--follow"}, args...)...)
}

func (s *started) letGo(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(s.file(name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *started) prints(text string) func() bool {
	return func() bool { return strings.Contains(s.stdout.String(), text) }
}

// What a run does is shown while it does it, up to its end.
func TestFollow(t *testing.T) {
	t.Parallel()
	run := begin(t, t.TempDir(), "--max-iterations", "2", "--non-interactive", "--", "sh", "-c", inTurn)
	f := follower(t, run)
	until(t, "iteration 1 is shown", f.prints("iteration 1 of 2\n"))
	run.letGo(t, "go-1")
	until(t, "its end is shown", f.prints("not done after"))
	until(t, "iteration 2 is shown", f.prints("iteration 2 of 2\n"))
	if strings.Contains(f.stdout.String(), "tripped") {
		t.Error("it shows what has not happened")
	}
	run.letGo(t, "go-2")
	if got := f.ended(t); got != 0 {
		t.Errorf("following ended with %d", got)
	}
	if got := run.ended(t); got != 110 {
		t.Errorf("the run ended with %d", got)
	}
	for _, text := range []string{"max_iterations tripped: ", "question max_iterations-", "tripped (max_iterations) after 2 of 2 iterations", "exit 110"} {
		if !strings.Contains(f.stdout.String(), text) {
			t.Errorf("%q is not shown:\n%s", text, f.stdout.String())
		}
	}
	if f.stderr.String() != "" {
		t.Errorf("said %q", f.stderr.String())
	}
}

// In JSON each event is a line, as soon as it is there, and all are there.
func TestFollowAsJSON(t *testing.T) {
	t.Parallel()
	run := begin(t, t.TempDir(), "--max-iterations", "1", "--non-interactive", "--", "sh", "-c", inTurn)
	f := follower(t, run, "--format", "json")
	until(t, "iteration 1 is shown", f.prints(`"type":"iteration.started"`))
	run.letGo(t, "go-1")
	if got := f.ended(t); got != 0 {
		t.Errorf("following ended with %d", got)
	}
	run.ended(t)
	seq := int64(0)
	lines := bufio.NewScanner(strings.NewReader(f.stdout.String()))
	var last core.Event
	for lines.Scan() {
		last = core.Event{}
		if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		if seq++; last.Seq != seq {
			t.Errorf("event %d follows %d", last.Seq, seq-1)
		}
	}
	if _, ok := last.Data.(core.RunFinished); !ok || seq != run.state(t).Seq {
		t.Errorf("the last of %d events is %T", seq, last.Data)
	}
}

// A run that was killed is said to be gone, and one that has ended is shown to its
// end, its last iterations alone where that is asked for.
func TestFollowWhatIsOver(t *testing.T) {
	t.Parallel()
	run := begin(t, t.TempDir(), "--non-interactive", "--", "sh", "-c", inTurn)
	run.letGo(t, "go-1")
	f := follower(t, run)
	until(t, "iteration 2 is shown", f.prints("iteration 2 of 10\n"))
	_ = run.Process.Kill()
	if got := f.ended(t); got != 1 || !strings.Contains(f.stderr.String(), "was killed; continue with looprun resume "+run.state(t).RunID) {
		t.Errorf("following ended with %d: %s", got, f.stderr.String())
	}
	run.ended(t)
	run.letGo(t, "go-2")
	run.letGo(t, "go-3")
	again := begin(t, run.dir, "resume", "--max-iterations", "3")
	if got := again.ended(t); got != 110 {
		t.Errorf("the run ended with %d", got)
	}
	f = begin(t, run.dir, "show", "--follow", "-n", "1")
	if got := f.ended(t); got != 0 {
		t.Errorf("following ended with %d", got)
	}
	if text := f.stdout.String(); strings.Contains(text, "iteration 2") || !strings.Contains(text, "iteration 3 of 3\n") || !strings.Contains(text, "exit 110") {
		t.Errorf("it shows\n%s", text)
	}
	for _, args := range [][]string{{"--pending"}, {"--format", "state"}} {
		f = begin(t, run.dir, append([]string{"show", "-f"}, args...)...)
		if got := f.ended(t); got != 125 || !strings.Contains(f.stderr.String(), "--follow") {
			t.Errorf("%q ended with %d: %s", args, got, f.stderr.String())
		}
	}
}

// A reader that has seen enough ends it without a word.
func TestFollowIntoABrokenPipe(t *testing.T) {
	t.Parallel()
	run := begin(t, t.TempDir(), "--non-interactive", "--", "sh", "-c", inTurn)
	until(t, "the run has begun", func() bool { return strings.Contains(run.stderr.String(), "iteration 1") })
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	f := ready(t, run.dir)
	f.Cmd = exec.Command("sh", "-c", file+" show --follow | head -n 1")
	f.Dir, f.Env = run.dir, ready(t, run.dir).Env
	f.Cmd.Stdout, f.Cmd.Stderr = &f.stdout, &f.stderr
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "it shows something", func() bool { return f.stdout.String() != "" })
	run.letGo(t, "go-1")
	if got := f.ended(t); got != 0 || f.stderr.String() != "" || strings.Count(f.stdout.String(), "\n") != 1 {
		t.Errorf("ended with %d: %q, %q", got, f.stdout.String(), f.stderr.String())
	}
	_ = run.Process.Kill()
	run.ended(t)
}

// A long text is paged on a terminal, a short one and one in a pipe is not; Ctrl-C
// is the pager's.
func TestShowIsPaged(t *testing.T) {
	t.Parallel()
	run := begin(t, t.TempDir(), "--non-interactive", "--loop-threshold", "off", "--max-iterations", "40", "--", "false")
	if got := run.ended(t); got != 110 {
		t.Fatalf("the run ended with %d", got)
	}
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	shown := func(pager string, args ...string) *screen {
		cmd := exec.Command(file, args...)
		s := &screen{started: started{Cmd: cmd, dir: run.dir}}
		s.term = newScreen(s, 60, 30)
		s.Dir, s.Env = run.dir, append(os.Environ(), "LOOPRUN_STATE_DIR="+run.file("state"), "TERM=xterm", "NO_COLOR=", "PAGER="+pager)
		s.show(t, 60, 30)
		return s
	}
	s := shown("echo the pager has $(wc -l) lines", "show")
	s.ended(t)
	until(t, "it is paged", s.shows("the pager has 5"))
	s = shown("echo the pager", "show", "-n", "3")
	s.ended(t)
	until(t, "all is shown", s.shows("the last 3 of 40 iterations; -n 0 shows all"))
	if s.shows("the pager")() {
		t.Error("a short text is paged")
	}
	if raw := s.stdout.String(); !strings.Contains(raw, console.Red) {
		t.Errorf("on a terminal there are no colours: %q", raw)
	}
	s = shown("/nonexistent/pager", "show")
	s.ended(t)
	until(t, "without a pager all is shown", s.sent("progress"))
	s = shown("trap 'echo caught' INT; echo the pager; while [ ! -e over ]; do sleep 0.02; done; cat > /dev/null", "show")
	until(t, "it is paged", s.shows("the pager"))
	s.keys(t, "\x03")
	until(t, "the pager has the key", s.shows("caught"))
	run.letGo(t, "over")
	if got := s.ended(t); got != 0 {
		t.Errorf("it ended with %d", got)
	}
	in := begin(t, run.dir, "show")
	if got := in.ended(t); got != 0 || strings.Contains(in.stdout.String(), "\x1b") || strings.Count(in.stdout.String(), "\n") < 50-2 {
		t.Errorf("in a pipe it ended with %d and shows\n%s", got, in.stdout.String())
	}
}
