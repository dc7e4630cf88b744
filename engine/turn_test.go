package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/looptest"
)

// circles returns work that prints these and then hangs for an hour, unless it is ended. It
// calls before first.
func circles(before func(), prints ...string) engine.Step {
	return engine.Func(func(ctx context.Context, in engine.Invocation) error {
		before()
		for _, text := range prints {
			in.Stdout([]byte(text))
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Hour):
		}
		return nil
	})
}

// Work that repeats a call with its result, an error, or its words as often as the limit says
// is ended, and nothing else is.
func TestWorkThatRepeatsItselfIsEnded(t *testing.T) {
	const passage = "I will now look at the file once more and mend it."
	of := func(n int, f func(i int) string) (all []string) {
		for i := range n {
			all = append(all, f(i))
		}
		return all
	}
	nameless := strings.ReplaceAll(calls("ls", "x", false), `"name":"Bash",`, "")
	blank := strings.ReplaceAll(calls("ls", "x", false), `,"input":{"command":"ls"}`, "")
	for _, c := range []struct {
		name  string
		limit int
		text  []string
		want  *core.TurnRepeated // nil: it is not ended
	}{
		{"the same call", 3, of(3, func(int) string { return calls("ls", "x", false) }), &core.TurnRepeated{Times: 3, Calls: []string{`Bash {"command":"ls"}`}}},
		{"the same call, not often enough", 3, of(2, func(int) string { return calls("ls", "x", false) }), nil},
		{"the same call without a limit", 0, of(9, func(int) string { return calls("ls", "x", false) }), nil},
		{"other calls", 3, of(9, func(i int) string { return calls(fmt.Sprint("ls ", i), "x", false) }), nil},
		{"other results", 3, of(9, func(i int) string { return calls("ls", strings.Repeat("x", i), false) }), nil},
		{"calls without a name", 3, of(9, func(int) string { return nameless }), nil},
		{"calls without an input", 3, of(9, func(int) string { return blank }), nil},
		{"the same error", 3, of(3, func(i int) string { return calls(fmt.Sprint("ls ", i), "401 Unauthorized", true) }), &core.TurnRepeated{Times: 3, Calls: []string{`Bash {"command":"ls 2"}`}, Error: "401 Unauthorized"}},
		{"the same error of calls that say they are fine", 3, of(3, func(i int) string { return calls(fmt.Sprint("ls ", i), "Error: 401 Unauthorized", false) }), &core.TurnRepeated{Times: 3, Calls: []string{`Bash {"command":"ls 2"}`}, Error: "Error: 401 Unauthorized"}},
		{"failures without an error", 3, of(9, func(i int) string { return calls(fmt.Sprint("ls ", i), "", true) }), nil},
		{"the same words", 3, of(3, func(int) string { return says(passage) }), &core.TurnRepeated{Times: 3, Text: passage}},
		{"the same words without a limit", 0, of(9, func(int) string { return says(passage) }), nil},
		{"other words", 3, of(9, func(i int) string { return says(fmt.Sprint(i, passage)) }), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := &engine.Executor{Work: circles(func() {}, append([]string{began}, c.text...)...)}
				started := time.Now()
				d, err := x.Run(t.Context(), core.Iteration{Number: 1, TurnLoop: c.limit})
				if ended := d.Cause == core.CauseTurnLoop; err != nil || ended != (c.want != nil) || ended != (time.Since(started) < time.Hour) || len(d.Said) > 0 != ended {
					t.Fatalf("%+v, %+v, %v", d.IterationFinished, d.Said, err)
				}
				if c.want != nil {
					c.want.Iteration = 1
					if got := d.Said[0]; fmt.Sprint(got) != fmt.Sprint(*c.want) {
						t.Errorf("%+v, want %+v", got, *c.want)
					}
				}
			})
		})
	}
}

// Whoever listens is told once until the work goes on, and decides whether it ends. What was
// not received is in the iteration's result, unless the iteration was cut off.
func TestWhoeverListensDecidesAboutARepetition(t *testing.T) {
	same := []string{began, calls("ls", "x", false), calls("ls", "x", false), calls("ls", "x", false), calls("ls", "x", false), calls("ls", "x", false)}
	it := core.Iteration{Number: 1, TurnLoop: 3}
	synctest.Test(t, func(t *testing.T) {
		x := &engine.Executor{}
		told := x.Repeats()
		x.EndTurn(core.TurnRepeated{}) // nothing runs
		if x.Repeats() != told {
			t.Error("who asks again is told elsewhere")
		}

		x.Work = circles(func() {}, same...)
		d, err := x.Run(t.Context(), it)
		if err != nil || d.Cause == core.CauseTurnLoop || len(d.Said) != 1 || len(told) != 0 {
			t.Errorf("nobody receives: %+v, %+v, %v", d.IterationFinished, d.Said, err)
		}

		go func() { x.EndTurn(<-told) }()
		began := time.Now()
		d, err = x.Run(t.Context(), it)
		if err != nil || d.Cause != core.CauseTurnLoop || len(d.Said) != 0 || time.Since(began) >= time.Hour {
			t.Errorf("it is ended: %+v, %+v, %v", d.IterationFinished, d.Said, err)
		}

		ctx, end := context.WithCancel(t.Context())
		go func() { synctest.Wait(); end() }()
		d, err = x.Run(ctx, it)
		if err != nil || d.Outcome != interrupted || len(d.Said) != 0 || len(told) != 0 {
			t.Errorf("the iteration is cut off: %+v, %+v, %v", d.IterationFinished, d.Said, err)
		}

		x.Work = engine.Func(func(_ context.Context, in engine.Invocation) error {
			for range 2 { // the work goes on once
				for _, text := range same {
					in.Stdout([]byte(text))
				}
				if len(told) != 1 {
					t.Errorf("%d repetitions were told", len(told))
				}
				<-told
				x.Suspend()
				x.Resume()
				in.Stdout([]byte(ended))
			}
			return nil
		})
		if d, err := x.Run(t.Context(), it); err != nil || d.Outcome != done || len(d.Said) != 0 {
			t.Errorf("it goes on: %+v, %+v, %v", d.IterationFinished, d.Said, err)
		}
	})
}

// repeats is a runner whose work repeats itself in each of the first two iterations, and waits
// until it is ended, or for a minute.
type repeats struct {
	told  chan core.TurnRepeated
	end   chan bool
	ended int
	heard int
	looks bool // somebody listens
}

func (r *repeats) Repeats() <-chan core.TurnRepeated { r.looks = true; return r.told }
func (r *repeats) EndTurn(core.TurnRepeated)         { r.ended++; close(r.end) }

func (r *repeats) Run(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
	if it.Number > 2 {
		return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: done}}, nil
	}
	r.end = make(chan bool)
	if !r.looks && it.TurnLoop > 0 {
		return core.IterationResult{}, errors.New("the work begins, and nobody listens")
	}
	select {
	case r.told <- core.TurnRepeated{Iteration: it.Number, Times: 8, Text: "again"}:
		r.heard++
	case <-time.After(time.Minute):
	}
	d := core.IterationFinished{Outcome: failed}
	select {
	case <-r.end:
		d.Cause = core.CauseTurnLoop
	case <-ctx.Done():
	case <-time.After(time.Minute):
		d.Outcome = notDone
	}
	return core.IterationResult{IterationFinished: d}, nil
}

// The first turn that goes in circles is ended, about the second somebody is asked, and with
// the guard off nobody listens.
func TestALoopEndsATurnThatGoesInCircles(t *testing.T) {
	for _, c := range []struct {
		name                string
		limit               int
		answer              string
		ended, heard, asked int
		status              core.Status
		broken              bool
		late                bool // the turn is over when it is heard
	}{
		{"it is over", 8, "continue", 0, 2, 1, core.StatusDone, false, true},
		{"it goes on", 8, "continue", 1, 2, 1, core.StatusDone, false, false},
		{"nobody answers", 8, "", 1, 2, 1, core.StatusTripped, false, false},
		{"off", core.Off, "", 0, 0, 0, core.StatusDone, false, false},
		{"the journal fails", 8, "", 0, 1, 0, core.StatusFailed, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := looptest.Defaults
				l.TurnLoop = c.limit
				r := &repeats{told: make(chan core.TurnRepeated)}
				var asked []core.Question
				says := looptest.Says()
				if c.answer != "" {
					says = looptest.Says(c.answer)
				}
				run := looptest.Start(t, l, r, looptest.Watched(&asked, says))
				if c.late {
					run.Observe = func(e core.Event, _ *core.State) {
						if e.Data.Type() == core.TypeTurnRepeated {
							time.Sleep(2 * time.Minute)
						}
					}
				}
				if c.broken {
					run.Journal = &looptest.BrokenJournal{Left: 1}
				}
				res, err := run.Run(t.Context())
				if res.Status != c.status || (err != nil) != c.broken || r.ended != c.ended || r.heard != c.heard || len(asked) != c.asked ||
					c.status == core.StatusTripped && run.State().Ran.Cause != core.CauseTurnLoop {
					t.Errorf("%+v, %v: %d ended, %d heard, %d asked", res, err, r.ended, r.heard, len(asked))
				}
			})
		})
	}
}
