package engine

import (
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/looprun/looprun/core"
)

// A gap in which the process did not run, as when the machine was suspended,
// counts as little.
func TestTheStopwatchDoesNotCountGaps(t *testing.T) {
	w := &stopwatch{elapsed: time.Minute, seen: time.Now().Add(-time.Hour)}
	if e := w.Elapsed(); e != time.Minute+gapLimit {
		t.Errorf("%s have elapsed, want 1m and %s", e, gapLimit)
	}
}

func TestTheStopwatchStandsStillWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startStopwatch(time.Minute)
		defer w.Stop()
		time.Sleep(10 * time.Second)
		w.Pause()
		time.Sleep(time.Hour)
		w.Continue()
		time.Sleep(300 * time.Millisecond)
		w.Continue()
		time.Sleep(9700 * time.Millisecond)
		if e := w.Elapsed(); e != 80*time.Second {
			t.Errorf("%s have elapsed, want 1m20s", e)
		}
	})
}

// wallJumped is the time as it would have been read had the wall clock been set
// by d: a Time has both clocks in it, and only one of them was set.
func wallJumped(t *testing.T, at time.Time, d time.Duration) time.Time {
	t.Helper()
	jumped := at
	*(*uint64)(unsafe.Pointer(&jumped)) += uint64(d/time.Second) << 30 // the seconds of the wall clock, from bit 30 on
	if got := jumped.Round(0).Sub(at.Round(0)); got != d || jumped.Sub(at) != 0 {
		t.Fatalf("the wall clock went by %s instead of %s, the other by %s: a Time looks different now", got, d, jumped.Sub(at))
	}
	return jumped
}

// Setting the wall clock, forward or back, moves nothing. (Inside of synctest a
// time has the wall clock alone, so this one looks at the real clocks.)
func TestTheStopwatchDoesNotSeeTheWallClock(t *testing.T) {
	for _, jump := range []time.Duration{2 * time.Second, time.Hour, 10 * 365 * 24 * time.Hour, -2 * time.Second, -time.Hour, -10 * 365 * 24 * time.Hour} {
		w := &stopwatch{seen: wallJumped(t, time.Now().Add(-time.Second), -jump)} // as if it were set after that look
		if e := w.Elapsed(); e < time.Second || e > 2500*time.Millisecond {
			t.Errorf("set by %s, %s have elapsed, want 1s", jump, e)
		}
	}
}

// A machine that sleeps again and again, as a laptop does, adds no more than the
// limit each time, and a gap of just the limit is counted in full.
func TestTheStopwatchCountsShortGaps(t *testing.T) {
	w := &stopwatch{}
	for _, c := range []struct{ gap, want time.Duration }{
		{gapLimit - time.Second, gapLimit - time.Second},
		{gapLimit + time.Nanosecond, gapLimit},
		{24 * time.Hour, gapLimit},
	} {
		before := w.elapsed
		w.seen = time.Now().Add(-c.gap)
		// Looking takes a little time itself.
		if got := w.Elapsed() - before; got < c.want || got > c.want+time.Second {
			t.Errorf("a gap of %s counts %s, want %s", c.gap, got, c.want)
		}
	}
}

// A time of the wall clock that goes back changes nothing in the journal's order:
// a resumed run goes on from the elapsed time on record.
func TestTheWallClockGoesBackBetweenTwoEvents(t *testing.T) {
	limits := core.Limits{Iterations: core.Off, Runtime: core.Off, Loop: core.Off, Errors: 3}
	s := new(core.State)
	at := time.Date(2026, 3, 29, 3, 0, 0, 0, time.UTC)
	for i, d := range []core.Data{core.RunStarted{RunID: "r", Command: []string{"c"}, Limits: limits}, core.IterationStarted{Iteration: 1}, core.RunAlive{}, core.RunResumed{}, core.IterationStarted{Iteration: 1}} {
		e := core.Event{Seq: int64(i + 1), Time: at.Add(-time.Duration(i) * 24 * time.Hour), Elapsed: time.Duration(i) * time.Second, Data: d}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if s.Elapsed != 4*time.Second {
		t.Errorf("%s have elapsed, want 4s", s.Elapsed)
	}
}
