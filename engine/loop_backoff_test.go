package engine_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
)

func TestBackoff(t *testing.T) {
	eventually.Ends(t)
	const far = time.Duration(math.MaxInt64)
	exponential := func(base, most time.Duration) engine.Backoff {
		return engine.Backoff{Base: base, Exponential: true, Max: most}
	}
	for _, c := range []struct {
		b          engine.Backoff
		iterations int
		least      time.Duration
		most       time.Duration
	}{
		{engine.Backoff{}, 3, 0, 0},
		{engine.Backoff{Max: time.Hour, Exponential: true}, 3, 0, 0},
		{engine.Backoff{Base: -time.Second, Exponential: true}, 3, 0, 0},
		{engine.Backoff{Base: time.Second}, 0, time.Second, time.Second},
		{engine.Backoff{Base: time.Second, Max: time.Millisecond}, 9, time.Second, time.Second},
		{exponential(time.Second, 0), 0, 750 * time.Millisecond, 1250 * time.Millisecond},
		{exponential(time.Second, 0), 1, 750 * time.Millisecond, 1250 * time.Millisecond},
		{exponential(time.Second, 0), 5, 12 * time.Second, 20 * time.Second},
		{exponential(time.Second, 0), 1000, engine.MaxDelay * 3 / 4, engine.MaxDelay},
		{exponential(14*time.Minute, 0), 5, engine.MaxDelay * 3 / 4, engine.MaxDelay},
		{exponential(time.Hour, 0), 5, 45 * time.Minute, time.Hour},
		{exponential(time.Second, 5*time.Second), 3, 3 * time.Second, 5 * time.Second},
		{exponential(time.Second, 5*time.Second), math.MaxInt, 3750 * time.Millisecond, 5 * time.Second},
		{exponential(time.Minute, time.Second), 1, 750 * time.Millisecond, time.Second},
		{exponential(time.Second, far), 1000, far - far/4, far},
		{exponential(1, 1), 2, 1, 1},
	} {
		for range 200 {
			if got := c.b.Delay(c.iterations); got < c.least || got > c.most {
				t.Fatalf("%+v after %d iterations: %s, want %s to %s", c.b, c.iterations, got, c.least, c.most)
			}
		}
	}
}

// timed notes when its iterations start, in a run that began at its zero.
type timed struct {
	began time.Time
	at    []time.Duration
}

func (x *timed) Run(_ context.Context, it core.Iteration) (core.IterationResult, error) {
	if it.Number > 0 {
		x.at = append(x.at, time.Since(x.began))
	}
	time.Sleep(10 * time.Second) // what the iteration takes; the clock is simulated
	return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeNotDone}}, nil
}

// Between two iterations there is the delay, also where an answer comes between
// them; the time that the answer took is part of it.
func TestDelays(t *testing.T) {
	eventually.Ends(t)
	const took = 10 * time.Second
	for _, c := range []struct {
		name    string
		backoff engine.Backoff
		answer  time.Duration // the time that an answer takes
		want    []time.Duration
	}{
		{"none", engine.Backoff{}, 0, []time.Duration{0, took, 2 * took, 3 * took}},
		{"fixed", engine.Backoff{Base: time.Minute}, 0, []time.Duration{0, time.Minute + took, 2 * (time.Minute + took), 3 * (time.Minute + took)}},
		{"a moment's thought", engine.Backoff{Base: time.Minute}, 20 * time.Second, []time.Duration{0, time.Minute + took, 2 * (time.Minute + took), 3 * (time.Minute + took)}},
		{"a long one", engine.Backoff{Base: time.Minute}, time.Hour, []time.Duration{0, time.Minute + took, time.Hour + time.Minute + 2*took, time.Hour + 2*time.Minute + 3*took}},
		{"before the first", engine.Backoff{Initial: time.Hour}, 0, []time.Duration{time.Hour, time.Hour + took, time.Hour + 2*took, time.Hour + 3*took}},
		// It begins anew with the answer, which comes behind the second.
		{"exponential", engine.Backoff{Base: time.Minute, Exponential: true, Max: time.Minute}, 0, []time.Duration{0, time.Minute + took, 2 * (time.Minute + took), 3 * (time.Minute + took)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := looptest.Defaults
				l.Iterations, l.Loop, l.Errors, l.Runtime = 2, core.Off, core.Off, core.Off
				answers := 0
				person := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
					time.Sleep(c.answer)
					if answers++; answers > 2 {
						return core.Answer{}, core.ErrNoAnswer
					}
					return core.Answer{Option: "continue", Responder: core.RespondedByUser, Person: true}, nil
				})
				x := &timed{began: time.Now()}
				run := looptest.Start(t, l, x, person)
				run.Loop.Backoff = c.backoff
				run.ToEnd(t)
				if len(x.at) < len(c.want) {
					t.Fatalf("%d iterations, want %d", len(x.at), len(c.want))
				}
				for i, want := range c.want {
					least := want
					if c.backoff.Exponential {
						least = want - time.Duration(i)*time.Minute/4
					}
					if got := x.at[i].Round(time.Second); got > want || got < least {
						t.Errorf("iteration %d began after %s, want %s", i+1, got, want)
					}
				}
			})
		})
	}
}

// The time before the first iteration is not before the precheck, and not again
// when the run is resumed.
func TestInitialDelayIsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		prechecked := time.Duration(-1)
		x := &timed{began: began}
		run := &looptest.Run{}
		loop := func() *engine.Loop {
			return &engine.Loop{
				Guards: guards.Default(), Journal: &run.Kept, Questions: looptest.Asks{}, Backoff: engine.Backoff{Initial: time.Hour},
				Runner: looptest.Works(func(ctx context.Context, it core.Iteration) core.IterationFinished {
					if it.Number == 0 {
						prechecked = time.Since(began)
					}
					d, _ := x.Run(ctx, it)
					return d.IterationFinished
				}),
			}
		}
		l := looptest.Defaults
		l.Iterations, l.Runtime, l.Loop = 1, core.Off, core.Off
		run.Loop = loop()
		if err := run.Start(core.RunStarted{RunID: "test", Limits: l, Caps: core.DefaultCaps(l), Check: []string{"check"}, Precheck: true}); err != nil {
			t.Fatal(err)
		}
		run.ToEnd(t)
		if prechecked != 0 || len(x.at) != 1 || x.at[0].Round(time.Second) != time.Hour+10*time.Second {
			t.Errorf("the precheck began after %s, the iterations after %s", prechecked, x.at)
		}
		state := *run.State()
		run.Loop = loop()
		resumed := time.Since(began)
		l.Iterations = 2
		if err := run.Resume(state, core.RunResumed{Limits: &l}); err != nil {
			t.Fatal(err)
		}
		run.ToEnd(t)
		if len(x.at) != 2 || x.at[1] != resumed {
			t.Errorf("resumed after %s, the iterations began after %s", resumed, x.at)
		}
	})
}

// Whoever watches is told when the next iteration begins while the delay before it
// passes, and of none while one runs or is asked about.
func TestNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := looptest.Defaults
		l.Iterations, l.Loop = 2, core.Off
		x := &timed{began: time.Now()}
		var run *looptest.Run
		asked := core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			time.Sleep(time.Hour)
			return core.Answer{}, core.ErrNoAnswer
		})
		run = looptest.Start(t, l, x, asked)
		run.Loop.Backoff = engine.Backoff{Base: time.Minute}
		over := make(chan struct{})
		go func() {
			defer close(over)
			run.ToEnd(t)
		}()
		for _, c := range []struct{ at, next time.Duration }{
			{5 * time.Second, 0},                 // the first iteration runs
			{30 * time.Second, 70 * time.Second}, // the delay passes
			{69 * time.Second, 70 * time.Second},
			{75 * time.Second, 0}, // the second runs
			{2 * time.Minute, 0},  // it is asked
		} {
			time.Sleep(c.at - time.Since(x.began))
			want := time.Time{}
			if c.next > 0 {
				want = x.began.Add(c.next)
			}
			if got := run.Next(); !got.Equal(want) {
				t.Errorf("after %s: the next begins %s, want %s", c.at, got.Sub(x.began), c.next)
			}
		}
		<-over
	})
}
