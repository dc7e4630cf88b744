package looprun

import (
	"testing"
	"testing/synctest"
	"time"
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
		w.Continue()
		time.Sleep(10 * time.Second)
		if e := w.Elapsed(); e != 80*time.Second {
			t.Errorf("%s have elapsed, want 1m20s", e)
		}
	})
}

func TestBackoff(t *testing.T) {
	for _, c := range []struct {
		b          Backoff
		iterations int
		want       time.Duration
	}{
		{Backoff{}, 3, 0},
		{Backoff{Base: time.Second}, 0, 0},
		{Backoff{Base: time.Second}, 9, time.Second},
		{Backoff{Base: time.Second, Exponential: true}, 1, time.Second},
		{Backoff{Base: time.Second, Exponential: true}, 5, 16 * time.Second},
		{Backoff{Base: time.Second, Exponential: true}, 1000, maxDelay},
		{Backoff{Base: 14 * time.Minute, Exponential: true}, 5, maxDelay},
		{Backoff{Base: time.Hour, Exponential: true}, 5, time.Hour},
	} {
		if got := c.b.Delay(c.iterations); got < c.want*3/4 || got > c.want*5/4 {
			t.Errorf("%+v after %d iterations: %s, want about %s", c.b, c.iterations, got, c.want)
		}
	}
}
