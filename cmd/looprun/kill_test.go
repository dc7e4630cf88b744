//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
)

// killMark is in the environment of everything that a run of the kill test
// starts. (looprun takes variables of its own out of it.)
const killMark = "TEST_OF_KILLED_RUNS"

// killWork says which iteration it is in before it does anything else, leaves a
// process in a session of its own behind, and is done at the sixth.
const killWork = `echo $LOOPRUN_ITERATION >> ran; setsid sleep 300 & echo "attempt $LOOPRUN_ITERATION"; sleep 0.01; test $LOOPRUN_ITERATION -ge 6 && touch over`

// killed counts what the kill test has done.
type killed struct {
	runs, looprun, guardian, both, left, early, resumes, torn atomic.Int64
}

// TestKilledRuns kills runs with SIGKILL at random moments, looprun, its guardian
// or both, and resumes each until it is done. What the command and the person at
// the terminal have seen is in the journal; no iteration is lost or counted
// twice; the clock and the counters go on where they were; and no process is left, unless
// looprun and its guardian were killed in the same moment: then nobody is there to
// end what left the command's session.
func TestKilledRuns(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	began := time.Now()
	var k killed
	work := make(chan int)
	var hands sync.WaitGroup
	for range 3 {
		hands.Go(func() {
			for n := range work {
				t.Run(fmt.Sprint("run ", n), func(t *testing.T) { k.run(t, n, rand.New(rand.NewPCG(seed, uint64(n)))) })
			}
		})
	}
	for n := range killRuns() {
		work <- n + 1
	}
	close(work)
	hands.Wait()
	t.Logf("%d runs in %s: killed looprun %d times, its guardian %d, both %d; %d were killed before they began; %d resumes, %d torn records; processes were left after %d of those that killed both",
		k.runs.Load(), time.Since(began).Round(time.Second), k.looprun.Load(), k.guardian.Load(), k.both.Load(), k.early.Load(), k.resumes.Load(), k.torn.Load(), k.left.Load())
	if k.looprun.Load() == 0 || k.guardian.Load() == 0 || k.both.Load() == 0 {
		t.Error("not everything was killed")
	}
}

// run kills one run once or more, and resumes it to its end.
func (k *killed) run(t *testing.T, n int, rng *rand.Rand) {
	k.runs.Add(1)
	dir := t.TempDir()
	mark := fmt.Sprintf("%s=%d-%d", killMark, os.Getpid(), rng.Uint64())
	args := []string{
		"--sync", []string{"off", "async", "each"}[rng.IntN(3)], "--max-iterations", "9", "--loop-threshold", "off", "--max-errors", "off",
		"--kill-after", "1s", "--", "sh", "-c", killWork,
	}
	var before *core.State
	for kills := 1 + rng.IntN(3); ; kills-- {
		s := ready(t, dir, args...)
		s.Env = append(s.Env, mark)
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		var who *atomic.Int64
		if kills > 0 {
			who = k.kill(t, s, n, rng)
		}
		code := s.ended(t)
		if who == &k.both {
			if k.sweep(mark) {
				k.left.Add(1)
			}
		} else {
			until(t, "no process is left", func() bool { return len(marked(mark)) == 0 })
		}
		state := k.check(t, s, before)
		switch {
		case code == 0 && state != nil:
			k.done(t, s, state)
			return
		case code != -int(syscall.SIGKILL):
			t.Fatalf("ended with %d", code)
		case state == nil: // it is started once more
			if err := os.RemoveAll(s.file("state")); err != nil {
				t.Fatal(err)
			}
			continue
		}
		before, args = state, []string{"resume"}
		k.resumes.Add(1)
	}
}

// kill waits a random time, kills looprun, its guardian, or both, and returns
// which of these it counted.
func (k *killed) kill(t *testing.T, s *started, n int, rng *rand.Rand) *atomic.Int64 {
	t.Helper()
	// A sixth of the kills are in the first 15 ms, when it makes its files; the
	// others are while the command runs, which takes some 150.
	after := time.Duration(rng.IntN(150_000)) * time.Microsecond
	if rng.IntN(6) == 0 && n > 3 {
		after /= 10
	} else {
		had := len(lines(t, s.file("ran")))
		until(t, "an iteration runs", func() bool { return len(lines(t, s.file("ran"))) > had || s.has("over")() })
	}
	time.Sleep(after) // the moment is what is random here
	guardians := childrenOf(s.Process.Pid)
	who := []*atomic.Int64{&k.looprun, &k.guardian, &k.both}[rng.IntN(3)]
	if n <= 3 { // each happens, whatever the dice say
		who = []*atomic.Int64{&k.looprun, &k.guardian, &k.both}[n-1]
	}
	if len(guardians) == 0 {
		who = &k.looprun // there is no guardian yet
	}
	who.Add(1)
	if who != &k.looprun {
		for _, pid := range guardians {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
	if who != &k.guardian {
		_ = s.Process.Kill()
	}
	return who
}

// sweep ends what is left and reports whether anything was. What looprun's end
// still has to end, or what is in the middle of its own, has a moment for it.
func (k *killed) sweep(mark string) bool {
	for range 50 {
		if len(marked(mark)) == 0 {
			return false
		}
		time.Sleep(2 * time.Millisecond) // between two looks
	}
	for left := marked(mark); len(left) > 0; left = marked(mark) {
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
	return true
}

// check compares what is on record with what was seen; nil: nothing was.
func (k *killed) check(t *testing.T, s *started, before *core.State) *core.State {
	t.Helper()
	ran, said := lines(t, s.file("ran")), s.stderr.String()
	dir, err := scratchpad.Find(s.file("state"), "")
	if err != nil {
		if len(ran) > 0 {
			t.Errorf("there is no run, but iterations %v ran", ran)
		}
		k.early.Add(1)
		return nil
	}
	state := new(core.State)
	var clock time.Duration
	finished := 0
	tail, err := scratchpad.Replay(dir, func(e core.Event) error {
		if e.Elapsed < clock {
			t.Errorf("event %d: the clock went from %s to %s", e.Seq, clock, e.Elapsed)
		}
		clock = e.Elapsed
		if d, ok := e.Data.(core.IterationFinished); ok {
			if finished++; d.Iteration != finished {
				t.Errorf("event %d: iteration %d ended where %d was due", e.Seq, d.Iteration, finished)
			}
		}
		return state.Apply(e)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was killed before it made the journal
		t.Fatal(err)
	}
	if tail.Cut > 0 {
		k.torn.Add(1)
	}
	if tail.Events == 0 {
		if len(ran) > 0 || strings.Contains(said, "iteration 1") {
			t.Errorf("nothing is on record, but iterations %v ran", ran)
		}
		k.early.Add(1)
		return nil
	}
	// The command has begun iteration n: so n−1 ended, on record.
	if len(ran) > 0 {
		last, err := strconv.Atoi(ran[len(ran)-1])
		silent := 0
		for _, d := range state.History {
			if d.Iteration > last && killedBeforeItSpoke(d) {
				silent++
			}
		}
		if err != nil || state.Iterations < last-1 || state.Iterations-silent > last {
			t.Errorf("iteration %d had begun, and %d are on record: %v", last, state.Iterations, err)
		}
	}
	// A person has read that iteration n ended.
	for n := state.Iterations + 1; n <= 9; n++ {
		if strings.Contains(said, fmt.Sprintf("iteration %d: ", n)) {
			t.Errorf("the end of iteration %d was said, and %d are on record", n, state.Iterations)
		}
	}
	if before != nil && (state.Elapsed < before.Elapsed || state.Seq < before.Seq || state.Iterations < before.Iterations) {
		t.Errorf("event %d at %s with %d iterations, after event %d at %s with %d", state.Seq, state.Elapsed, state.Iterations, before.Seq, before.Elapsed, before.Iterations)
	}
	return state
}

// done looks at a run that has come to its end.
func (k *killed) done(t *testing.T, s *started, state *core.State) {
	t.Helper()
	if !state.Ended || state.Ending.Status != core.StatusDone {
		t.Errorf("ended as %+v", state.Ending)
	}
	ran := lines(t, s.file("ran"))
	var want []string
	for _, d := range state.History {
		n := strconv.Itoa(d.Iteration)
		if !slices.Contains(ran, n) && killedBeforeItSpoke(d) {
			continue
		}
		want = append(want, n)
	}
	if len(state.History) != state.Iterations || !slices.Equal(slices.Compact(slices.Clone(ran)), want) {
		t.Errorf("ran %v, and %d iterations are on record", ran, state.Iterations)
	}
}

// killedBeforeItSpoke is true of an iteration that has not said its number, if its
// guardian was killed: so early that the command had no time to.
func killedBeforeItSpoke(d core.IterationFinished) bool {
	return d.Outcome == core.OutcomeError && d.ExitCode == 128+int(syscall.SIGKILL)
}

// childrenOf are the processes that one has started and that are there still.
func childrenOf(pid int) []int {
	var list []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is good
	for _, file := range files {
		b, _ := os.ReadFile(file) // a thread that has ended has none
		for _, word := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(word); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// marked are the processes with that word in their environment.
func marked(mark string) []int {
	var list []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is good
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte(mark)) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
				list = append(list, pid)
			}
		}
	}
	return list
}
