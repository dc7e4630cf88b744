package review

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// failedWave is iteration n of a long run: each fails in a way of its own.
func failedWave(n int) core.IterationFinished {
	return core.IterationFinished{
		Outcome: core.OutcomeNotDone, ExitCode: 1, DurationMS: 1500,
		Signature: signature.Signature{Label: fmt.Sprintf("test-fail:1-wave%d", n), Hash: signature.Hash(n + 1), Failing: 1, Passed: 2, Total: 3},
	}
}

func newTestReplay(t *testing.T, all bool) *Replay {
	t.Helper()
	r := NewReplay(all)
	if err := r.begin(core.RunStarted{Limits: core.DefaultLimits()}); err != nil {
		t.Fatal(err)
	}
	return r
}

// A document lists every iteration, and an empty list where there is none.
func TestReplayResultHasAll(t *testing.T) {
	for _, n := range []int{0, 1, replayLines + 1} {
		r := newTestReplay(t, true)
		for i := range n {
			if err := r.add("a.log", failedWave(i)); err != nil {
				t.Fatal(err)
			}
		}
		if whole := r.Result(); whole.Iterations == nil || len(whole.Iterations) != n || len(whole.Trips) != len(r.guards) {
			t.Errorf("%d iterations: %d, %d guards", n, len(whole.Iterations), len(whole.Trips))
		}
	}
}

// People get the first iterations and the number of the others.
func TestReplayTextListsSoMany(t *testing.T) {
	for _, c := range []struct{ n, lines, more int }{
		{replayLines, replayLines, 0},
		{replayLines + 1, replayLines, 1},
	} {
		var out bytes.Buffer
		r := newTestReplay(t, false)
		for i := range c.n {
			if err := r.add("", failedWave(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Text(&out); err != nil {
			t.Fatal(err)
		}
		more := strings.Contains(out.String(), fmt.Sprintf("and %d more\n", c.more))
		if got := strings.Count(out.String(), "  exit "); got != c.lines || more != (c.more > 0) {
			t.Errorf("%d iterations: %d lines, more: %v", c.n, got, more)
		}
	}
}

// A replay for people takes the same memory whatever the length.
func TestReplayMemoryIsBounded(t *testing.T) {
	r := newTestReplay(t, false)
	i := 0
	upTo := func(n int) uint64 {
		for ; i < n; i++ {
			if err := r.add("", failedWave(i)); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	short, long := upTo(1000), upTo(51_000)
	// One word for each of the 50,000 iterations would be 400 kB.
	if grown := int64(long) - int64(short); grown > 256<<10 {
		t.Errorf("50,000 iterations more take %d bytes more", grown)
	}
	runtime.KeepAlive(r)
}
