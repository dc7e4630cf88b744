package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/protocol/signal"
)

// limited waits until a limit of somebody else is over.
func limited(until func(n int) *time.Time, waits int) looptest.Works {
	n := 0
	return func(_ context.Context, it core.Iteration) core.IterationFinished {
		if n++; n > waits {
			return core.IterationFinished{Outcome: core.OutcomeDone}
		}
		return core.IterationFinished{Outcome: core.OutcomeWaiting, Match: "usage limit reached", Until: until(n)}
	}
}

func TestWaitingOutALimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		until func(int) *time.Time
		waits int
		want  time.Duration
	}{
		{"the delay doubles", func(int) *time.Time { return nil }, 4, (30 + 60 + 120 + 240) * time.Second},
		{"the moment is named", func(int) *time.Time { u := time.Now().Add(200 * time.Second); return &u }, 1, 200 * time.Second},
		{"a moment that has passed", func(int) *time.Time { u := time.Now().Add(-time.Hour); return &u }, 1, 30 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := looptest.Defaults
				l.Iterations, l.Errors = 1, 1
				run := looptest.Start(t, l, limited(c.until, c.waits))
				res := run.ToEnd(t)
				if res.Status != core.StatusDone || res.Iterations != 1 || res.Runtime.Round(time.Second) != c.want {
					t.Errorf("got %+v, want done in one iteration after %s", res, c.want)
				}
				if !strings.Contains(run.Story(), "iteration.finished wait.started wait.finished iteration.started") {
					t.Errorf("the journal reads %s", run.Story())
				}
			})
		})
	}
}

// An outage is waited out with pauses that grow, for an hour in which no turn worked; then it
// is an error as any other. Before the first turn that worked it always is, in a resumed run
// too, and an answer that lets the run go on begins another hour.
func TestWaitingOutAnOutage(t *testing.T) {
	away := core.IterationFinished{Outcome: core.OutcomeError, ExitCode: 1, Outage: "API Error: 503"}
	works := core.IterationFinished{Outcome: core.OutcomeNotDone, ExitCode: 1}
	for _, c := range []struct {
		name  string
		says  func(time.Duration) core.IterationFinished // what the service does so long after the start
		limit time.Duration
		want  string // exit code, iterations, runtime, waits
	}{
		{"for an hour", func(d time.Duration) core.IterationFinished {
			if d == 0 {
				return works
			}
			return away
		}, 0, "112 4 1h0m42s 8"},
		{"until it is over", func(d time.Duration) core.IterationFinished {
			if d == 0 || d > 40*time.Minute {
				return works
			}
			return away
		}, 0, "110 10 45m47s 7"},
		{"before any turn worked", func(time.Duration) core.IterationFinished { return away }, 0, "112 3 3s 0"},
		{"not at all", func(d time.Duration) core.IterationFinished {
			if d == 0 {
				return works
			}
			return away
		}, -1, "112 4 4s 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, first := time.Now(), true
				run := &looptest.Run{}
				run.Loop = &engine.Loop{
					Guards: guards.Default(), Journal: &run.Kept, Questions: looptest.Asks{}, OutageLimit: c.limit,
					Runner: looptest.Works(func(_ context.Context, it core.Iteration) core.IterationFinished {
						since := time.Since(began)
						if first {
							since, first = 0, false
						}
						time.Sleep(time.Second)
						return c.says(since)
					}),
				}
				l := looptest.Defaults
				l.Runtime, l.Loop = 10*time.Hour, core.Off
				if err := run.Start(core.RunStarted{RunID: "r", Command: []string{"x"}, Limits: l}); err != nil {
					t.Fatal(err)
				}
				res := run.ToEnd(t)
				got := fmt.Sprint(res.ExitCode, " ", res.Iterations, " ", res.Runtime.Round(time.Second), " ", strings.Count(run.Story(), "wait.started"))
				if got != c.want {
					t.Errorf("got %s, want %s: %s", got, c.want, run.Story())
				}
			})
		})
	}
}

// Somebody can end the wait for a limit of others early, and not what the run itself may.
func TestGoOn(t *testing.T) {
	for _, c := range []struct {
		name    string
		perHour int
		want    time.Duration
	}{
		{"a limit of others", 0, 0},
		{"its own", 1, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := &looptest.Run{}
				refused := make(chan error, 9)
				run.Loop = &engine.Loop{
					Guards: guards.Default(), Journal: &run.Kept, Questions: looptest.Asks{},
					Runner: limited(func(int) *time.Time { u := time.Now().Add(20 * time.Minute); return &u }, 1),
					Observe: func(e core.Event, _ *core.State) {
						if _, ok := e.Data.(core.WaitStarted); ok {
							go func() { refused <- run.GoOn(t.Context()) }()
						}
					},
				}
				l := looptest.Defaults
				l.Runtime = 10 * time.Hour
				if err := run.Start(core.RunStarted{RunID: "r", Command: []string{"x"}, Limits: l, CallsPerHour: c.perHour}); err != nil {
					t.Fatal(err)
				}
				if err := run.GoOn(stopped(t)); err == nil {
					t.Error("a run that waits for nothing goes on")
				}
				res := run.ToEnd(t)
				if res.Status != core.StatusDone || res.Runtime.Round(time.Second) != c.want {
					t.Errorf("%+v, want %s", res, c.want)
				}
				if err := <-refused; (c.perHour > 0) != errors.Is(err, core.ErrEvent) {
					t.Errorf("refused with %v", err)
				}
				if err := run.GoOn(t.Context()); !errors.Is(err, core.ErrEnded) {
					t.Errorf("a run that has ended: %v", err)
				}
			})
		})
	}
}

// stopped is a context that has ended.
func stopped(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// No more iterations start within any hour than may, a resumed run's included, and the
// clock of max_runtime goes on meanwhile.
func TestCallsPerHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts []time.Time
		run := &looptest.Run{}
		run.Loop = &engine.Loop{Guards: guards.Default(), Journal: &run.Kept, Questions: looptest.Asks{}, Runner: looptest.Works(func(_ context.Context, it core.Iteration) core.IterationFinished {
			starts = append(starts, time.Now())
			time.Sleep(time.Minute)
			d := core.IterationFinished{Outcome: notDone}
			if it.Number == 7 {
				d.Outcome = done
			}
			return d
		})}
		l := looptest.Defaults
		l.Runtime, l.Loop = 10*time.Hour, core.Off
		if err := run.Start(core.RunStarted{RunID: "r", Command: []string{"x"}, Limits: l, CallsPerHour: 3}); err != nil {
			t.Fatal(err)
		}
		if res := run.ToEnd(t); res.Status != core.StatusDone || res.Runtime.Round(time.Second) != 2*time.Hour+time.Minute {
			t.Errorf("got %+v, want done after 2h1m", res)
		}
		for i := range starts {
			if i >= 3 && starts[i].Sub(starts[i-3]) < time.Hour {
				t.Errorf("iteration %d started %s after the third before it", i+1, starts[i].Sub(starts[i-3]))
			}
		}
		if n := strings.Count(run.Story(), "wait.started wait.finished iteration.started"); n != 2 {
			t.Errorf("it waited %d times, want 2: %s", n, run.Story())
		}
	})
}

func TestWaitingEndsWithTheRuntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := looptest.Start(t, looptest.Defaults, limited(func(int) *time.Time { u := time.Now().Add(24 * time.Hour); return &u }, 9))
		if res := run.ToEnd(t); res.ExitCode != 124 || res.Runtime.Round(time.Second) != 15*time.Minute {
			t.Errorf("got %+v, want 124 after 15m", res)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		run := looptest.Start(t, looptest.Defaults, limited(func(int) *time.Time { u := time.Now().Add(time.Hour); return &u }, 9))
		time.AfterFunc(time.Minute, func() { cancel(&engine.Interrupt{Signal: "SIGTERM", Code: 143}) })
		if res, err := run.Run(ctx); err != nil || res.ExitCode != 143 {
			t.Errorf("got %+v, %v; want 143", res, err)
		}
	})
}

// The moment that is waited for survives a restart, and one that has passed
// meanwhile is not waited for again.
func TestWaitingSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		run := looptest.Start(t, looptest.Defaults, limited(func(int) *time.Time { u := time.Now().Add(10 * time.Minute); return &u }, 9))
		time.AfterFunc(time.Minute, func() { cancel(errors.New("killed")) })
		if _, err := run.Run(ctx); err != nil {
			t.Fatal(err)
		}
		for _, rest := range []time.Duration{4 * time.Minute, time.Hour} {
			time.Sleep(rest)
			s := looptest.Replay(t, run.Kept.Events)
			next := &looptest.Run{Kept: core.MemoryJournal{Events: slices.Clone(run.Kept.Events)}}
			next.Loop = &engine.Loop{Guards: run.Guards, Journal: &next.Kept, Runner: limited(nil, 0)}
			if err := next.Resume(*s, core.RunResumed{}); err != nil {
				t.Fatal(err)
			}
			before := time.Now()
			res := next.ToEnd(t)
			if took := time.Since(before); res.Status != core.StatusDone || (took > 0) != (rest < 9*time.Minute) {
				t.Errorf("got %+v after %s", res, took)
			}
		}
	})
}

// A rule answers what the command asked in words, or not at all; a person may leave them out.
func TestASignalIsAnsweredInWords(t *testing.T) {
	blocked := core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}
	for name, c := range map[string]struct {
		answer core.Answer
		code   int
	}{
		"a person without words": {core.Answer{Option: "override", Responder: "user", Person: true, Reason: "chosen at the terminal"}, 0},
		"a person":               {core.Answer{Option: "override", Responder: "user", Person: true, Guidance: "use mine"}, 0},
		"a rule":                 {core.Answer{Option: "override", Responder: "policy", Reason: "Use the spare one."}, 0},
		"a rule without":         {core.Answer{Option: "override", Responder: "policy"}, 115},
	} {
		t.Run(name, func(t *testing.T) {
			run := looptest.Start(t, looptest.Defaults, looptest.Said(1, blocked), core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
				return c.answer, nil
			}))
			run.Questions = looptest.Decisions{}
			if res := run.ToEnd(t); res.ExitCode != c.code {
				t.Errorf("got %+v, want %d", res, c.code)
			}
		})
	}
}

// While it waits no iteration counts, and each time that max_runtime passes is a trip
// of its own all the same: what a rule may add is bounded by the cap.
func TestARuleExtendsARunThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := looptest.Start(t, looptest.Defaults, limited(func(int) *time.Time { return nil }, 1000), looptest.Rule("continue"))
		res := run.ToEnd(t)
		// 15 minutes and 10 more each time, up to an hour.
		if limit := run.State().Limits.Runtime; res.ExitCode != 124 || limit != time.Hour || res.Trips != 6 || run.State().PolicyContinues != 5 {
			t.Errorf("got %+v with a limit of %s after %d answers", res, limit, run.State().PolicyContinues)
		}
	})
	// A limit that is raised on resume is a new one for the rules, another one is not.
	pauses := core.ActionApplied{Option: "pause", Action: core.ActionPause, Guard: core.LoopDetected, Limits: looptest.Defaults, Responder: core.RespondedByPolicy}
	clock := core.GuardTripped{Trip: core.Trip{Guard: core.MaxRuntime, Iteration: 1}}
	more := looptest.Defaults
	more.Runtime *= 2
	for _, c := range []struct {
		trip core.GuardTripped
		want int
	}{{clock, 0}, {looptest.Tripped, 1}} {
		paused := pauses
		paused.Guard = c.trip.Guard
		s := looptest.Folded(t, looptest.Begun, looptest.First, looptest.Ended1, c.trip, looptest.Question, looptest.Answered, paused, core.RunPaused{}, core.RunResumed{Limits: &more}, c.trip)
		if len(s.Given) != c.want {
			t.Errorf("%s: given are %v, want %d", c.trip.Guard, s.Given, c.want)
		}
	}
}
