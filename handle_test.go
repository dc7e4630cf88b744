package looprun_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
)

var errFlaky = errors.New("the mirror is down")

// failing is a configuration whose work fails for as long as it is called.
func failing() looprun.Config {
	return looprun.Config{
		Work:   engine.Func(func(context.Context, engine.Invocation) error { return errFlaky }),
		Limits: looptest.Defaults, Guards: guards.Default(), Questions: looptest.Asks{},
	}
}

// waits is a run that waits for the answer to a question, and that question.
func waits(t *testing.T, c looprun.Config) (*looprun.Handle, core.Question) {
	t.Helper()
	asked := make(chan core.Question, 100)
	c.Responders = append(c.Responders, looprun.Await())
	c.Observe = func(e core.Event, _ *core.State) {
		if d, ok := e.Data.(core.QuestionAsked); ok {
			asked <- d.Question
		}
	}
	h, err := looprun.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return h, <-asked
}

func TestHandle(t *testing.T) {
	eventually.Ends(t)
	h, q := waits(t, failing())
	if list := h.Questions(); len(list) != 1 || list[0].ID != q.ID {
		t.Errorf("waiting are %+v, want %s", list, q.ID)
	}
	s := h.Snapshot()
	s.Iterations, s.History[0].ExitCode = 99, 99
	if s = h.Snapshot(); s.Iterations != 3 || s.History[0].ExitCode != 1 {
		t.Errorf("who changes a snapshot changes the run: %+v", s.History[0])
	}
	if err := h.Answer(t.Context(), q.ID, core.Answer{Option: "nonsense"}); err == nil {
		t.Error("an option that there is not is taken")
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 20 {
		if err := h.Answer(gone, q.ID, core.Answer{Option: "cancel"}); !errors.Is(err, context.Canceled) {
			t.Fatal("an answer of somebody who is gone is taken by chance: ", err)
		}
	}
	if err := h.Answer(t.Context(), q.ID, core.Answer{Option: "cancel", Responder: core.RespondedByPolicy, Person: true}); err != nil {
		t.Error(err)
	}
	res, err := h.Wait()
	if err != nil || res.Status != core.StatusCancelled || res.Responder != core.RespondedByProgram {
		t.Errorf("got %+v, %v", res, err)
	}
	for _, answer := range []func(context.Context, string, core.Answer) error{h.Answer, h.AnswerForPerson} {
		if err := answer(t.Context(), q.ID, core.Answer{Option: "cancel"}); !errors.Is(err, core.ErrEnded) {
			t.Errorf("an answer after the end: %v", err)
		}
	}
	<-h.Done()
}

// Everything that a handle can do can be done at once, by anybody.
func TestHandleFromManyGoroutines(t *testing.T) {
	eventually.Ends(t)
	h, q := waits(t, failing())
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 20 {
				_ = h.Snapshot().Summary()
				for _, q := range h.Questions() {
					_ = h.AnswerForPerson(t.Context(), q.ID, core.Answer{Option: "continue", Guidance: fmt.Sprint(i)})
				}
			}
			_ = h.AnswerForPerson(t.Context(), q.ID, core.Answer{Option: "cancel"})
		})
	}
	all.Wait()
	h.Stop(errFlaky)
	if res, err := h.Wait(); err != nil || res.Iterations < 3 {
		t.Errorf("got %+v, %v", res, err)
	}
}

// How a run ended is an error that says why, to those who ask with errors.Is.
func TestResultAsAnError(t *testing.T) {
	eventually.Ends(t)
	stopped := errors.New("the service is shutting down")
	sleeps := failing()
	sleeps.Work = engine.Func(func(ctx context.Context, _ engine.Invocation) error { <-ctx.Done(); return ctx.Err() })
	fatal := failing()
	fatal.Work = engine.Func(func(context.Context, engine.Invocation) error {
		return fmt.Errorf("no more: %w", engine.Fatal(errFlaky))
	})
	done := failing()
	done.Work = engine.Func(func(context.Context, engine.Invocation) error { return nil })
	for _, c := range []struct {
		name   string
		config looprun.Config
		end    func(*looprun.Handle)
		status core.Status
		cause  error
		its    int
	}{
		{"done", done, nil, core.StatusDone, nil, 1},
		{"tripped", failing(), nil, core.StatusTripped, errFlaky, 3},
		{"fatal", fatal, nil, core.StatusFailed, errFlaky, 1},
		{"stopped", sleeps, func(h *looprun.Handle) { h.Stop(stopped) }, core.StatusInterrupted, stopped, 0},
		{"deadline", sleeps, func(*looprun.Handle) {}, core.StatusInterrupted, context.DeadlineExceeded, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			journal := &core.MemoryJournal{}
			c.config.Journal = journal
			h, err := looprun.Start(ctx, c.config)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if c.end != nil {
				c.end(h)
			}
			res, err := h.Wait()
			if err != nil || res.Status != c.status || res.Iterations != c.its {
				t.Errorf("%s: %+v, %v", c.name, res, err)
			}
			var why *core.Stopped
			if c.cause == nil && res.Err() != nil || c.cause != nil && (!errors.Is(res.Err(), c.cause) || !errors.As(res.Err(), &why) || why.Result.Status != c.status) {
				t.Errorf("%s: as an error it is %v, want %v", c.name, res.Err(), c.cause)
			}
			for _, e := range journal.Events {
				if text := string(encoded(t, e)); strings.Contains(text, "SIG") {
					t.Errorf("%s: nobody sent a signal: %s", c.name, text)
				}
			}
		})
	}
}

// A responder that passes on what came over a wire cannot make it a person's, nor a
// policy's; one that is vouched for can.
func TestWhoAnsweredIsNotInTheAnswer(t *testing.T) {
	claims := core.ResponderFunc(func(context.Context, core.Question, *core.State) (a core.Answer, err error) {
		return a, json.Unmarshal([]byte(`{"option":"accept","person":true,"responder":"policy","mandatory":true,"unlisted":true,"rule":"a:1"}`), &a)
	})
	for _, c := range []struct {
		name      string
		responder core.Responder
		want      core.Status
	}{
		{"as it is", claims, core.StatusTripped},
		{"vouched for", core.Vouch(claims), core.StatusAccepted},
	} {
		config := failing()
		config.Questions, config.Responders = exclusive{}, []core.Responder{c.responder}
		if res, err := looprun.Run(t.Context(), config); err != nil || res.Status != c.want {
			t.Errorf("%s: %+v, %v", c.name, res, err)
		}
	}
	config := failing()
	config.Questions = exclusive{}
	h, q := waits(t, config)
	if err := h.Answer(t.Context(), q.ID, core.Answer{Option: "accept", Person: true, Responder: core.RespondedByUser}); err == nil {
		t.Error("a program's answer is taken for a person's")
	}
	if err := h.AnswerForPerson(t.Context(), q.ID, core.Answer{Option: "accept"}); err != nil {
		t.Error(err)
	}
	if res, err := h.Wait(); err != nil || res.Status != core.StatusAccepted || res.Responder != core.RespondedByUser {
		t.Errorf("got %+v, %v", res, err)
	}
}

type exclusive struct{ looptest.Asks }

func (e exclusive) Question(s *core.State, t core.Trip) (core.Question, error) {
	q, err := e.Asks.Question(s, t)
	q.Exclusive = true
	return q, err
}

type watcher func(*core.State) *core.Trip

func (watcher) ID() core.GuardID                 { return "plateau" }
func (g watcher) Check(s *core.State) *core.Trip { return g(s) }

type questionsFunc func() (core.Question, error)

func (q questionsFunc) Question(*core.State, core.Trip) (core.Question, error) { return q() }

// Whatever part of a run panics: the panic is the caller's, who can recover from it, and
// no goroutine is left that waits.
func TestPanicsAreTheCallers(t *testing.T) {
	for name, change := range map[string]func(*looprun.Config){
		"work": func(c *looprun.Config) {
			c.Work = engine.Func(func(context.Context, engine.Invocation) error { panic(errFlaky) })
		},
		"guard": func(c *looprun.Config) {
			c.Guards = append(guards.Default(), watcher(func(*core.State) *core.Trip { panic(errFlaky) }))
		},
		"responder": func(c *looprun.Config) {
			c.Responders = []core.Responder{core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) { panic(errFlaky) })}
		},
		"observer": func(c *looprun.Config) {
			c.Observe = func(_ core.Event, s *core.State) {
				if s.Iterations > 0 { // the start is the caller's own goroutine
					panic(errFlaky)
				}
			}
		},
		"questions": func(c *looprun.Config) {
			c.Questions = questionsFunc(func() (core.Question, error) { panic(errFlaky) })
		},
		"while it runs": func(c *looprun.Config) {
			c.Limits.Runtime = time.Minute
			c.Questions = questionsFunc(func() (core.Question, error) { panic(errFlaky) })
			c.Work = engine.Func(func(ctx context.Context, _ engine.Invocation) error { <-ctx.Done(); return ctx.Err() })
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := failing()
			change(&c)
			panics := func(of string, run func() error) {
				defer func() {
					p := recover()
					err, ok := p.(*looprun.Panic)
					if !ok || !errors.Is(err, errFlaky) || err.Value != errFlaky || !strings.Contains(string(err.Stack), "TestPanicsAreTheCallers.func") {
						t.Errorf("%s: %s panics with %v", name, of, p)
					}
				}()
				t.Errorf("%s: %s did not panic, and returned %v", name, of, run())
			}
			panics("Run", func() error { _, err := looprun.Run(t.Context(), c); return err })
			h, err := looprun.Start(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				panics("Wait", func() error { _, err := h.Wait(); return err })
			}
		})
	}
}

// A panic at the first event is one of the caller's own goroutine, with the same type.
func TestAPanicAtTheStart(t *testing.T) {
	c := failing()
	c.Observe = func(core.Event, *core.State) { panic(errFlaky) }
	defer func() {
		if p, ok := recover().(*looprun.Panic); !ok || !errors.Is(p, errFlaky) {
			t.Errorf("Start panics with %v", p)
		}
	}()
	_, err := looprun.Start(t.Context(), c)
	t.Errorf("Start did not panic, and returned %v", err)
}

// A part that ends its goroutine ends no more than that.
func TestGoexitHangsNothing(t *testing.T) {
	c := failing()
	c.Responders = []core.Responder{core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		goexit()
		return core.Answer{Option: "accept"}, nil
	})}
	if res, err := looprun.Run(t.Context(), c); err != nil || res.Status != core.StatusTripped {
		t.Errorf("a responder: %+v, %v", res, err)
	}
	c.Work = engine.Func(func(context.Context, engine.Invocation) error { goexit(); return nil })
	h, err := looprun.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for of, run := range map[string]func() (looprun.Result, error){
		"Run":  func() (looprun.Result, error) { return looprun.Run(t.Context(), c) },
		"Wait": h.Wait,
		"a second Wait": func() (looprun.Result, error) {
			<-h.Done()
			return h.Wait()
		},
	} {
		returned := false
		var all sync.WaitGroup
		all.Go(func() {
			_, _ = run()
			returned = true
		})
		all.Wait()
		if returned {
			t.Errorf("the work ended its goroutine, and %s returned", of)
		}
	}
}

// What ends a test in the work, such as FailNow or SkipNow, ends the test that waits for it.
func TestSkipNowInTheWork(t *testing.T) {
	reached := false
	t.Run("skipped", func(t *testing.T) {
		c := failing()
		c.Work = engine.Func(func(context.Context, engine.Invocation) error { t.SkipNow(); return nil })
		_, _ = looprun.Run(t.Context(), c)
		reached = true
	})
	if reached {
		t.Error("the test went on after the end of its work")
	}
}

// The state that is gone on from stays the caller's, and several runs can go on from it.
func TestResumeIsNotConsumed(t *testing.T) {
	c := failing()
	c.Journal, c.Limits = &core.MemoryJournal{}, core.Limits{Iterations: 6, Runtime: time.Hour, Loop: core.Off, Errors: core.Off}
	if _, err := looprun.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	journal, _ := c.Journal.(*core.MemoryJournal)
	state := looptest.Replay(t, journal.Events)
	before := string(looptest.Encode(t, state))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			again := failing()
			again.Resume, again.Limits = state, core.Limits{Iterations: 9, Runtime: time.Hour, Loop: core.Off, Errors: core.Off}
			if res, err := looprun.Run(t.Context(), again); err != nil || res.Iterations != 9 {
				t.Errorf("got %+v, %v", res, err)
			}
		})
	}
	all.Wait()
	if after := string(looptest.Encode(t, state)); after != before {
		t.Errorf("it was\n%s, and is\n%s", before, after)
	}
}

// A limit that nothing would ever enforce is wrong before anything runs.
func TestLimitsThatWouldBeInert(t *testing.T) {
	mine := watcher(func(*core.State) *core.Trip { return nil })
	measure := func(core.Iteration, *core.IterationResult) {}
	only := func(l core.Limits, change func(*core.Limits)) core.Limits {
		change(&l)
		return l
	}
	off := core.Limits{Iterations: core.Off, Runtime: core.Off, Loop: core.Off, Errors: core.Off}
	for name, change := range map[string]func(*core.Limits){
		"Iterations":      func(l *core.Limits) { l.Iterations = 3 },
		"Runtime":         func(l *core.Limits) { l.Runtime = time.Second },
		"Loop":            func(l *core.Limits) { l.Loop = 3 },
		"Errors":          func(l *core.Limits) { l.Errors = 3 },
		"Cost":            func(l *core.Limits) { l.Cost = 0.01 },
		"Tokens":          func(l *core.Limits) { l.Tokens = 5 },
		"IdleIterations":  func(l *core.Limits) { l.IdleIterations = 2 },
		"WorkspaceCycles": func(l *core.Limits) { l.WorkspaceCycles = 2 },
	} {
		c := failing()
		c.Limits, c.Guards, c.Measure = only(off, change), []core.Guard{mine}, measure
		c.Work = engine.Func(func(context.Context, engine.Invocation) error { return engine.Fatal(errFlaky) })
		if _, err := looprun.Run(t.Context(), c); !errors.Is(err, core.ErrNoGuards) || !strings.Contains(err.Error(), "Limits."+name) {
			t.Errorf("%s, with a guard of its own alone: %v", name, err)
		}
		c = failing()
		c.Limits = only(looptest.Defaults, change)
		if _, err := looprun.Run(t.Context(), c); (err != nil) != (name == "Cost" || name == "Tokens" || name == "IdleIterations" || name == "WorkspaceCycles") {
			t.Errorf("%s, with nothing to measure it: %v", name, err)
		}
	}
	for name, change := range map[string]func(*looprun.Config){
		"a nil guard":     func(c *looprun.Config) { c.Guards = append(guards.Default(), nil) },
		"a nil responder": func(c *looprun.Config) { c.Questions, c.Responders = exclusive{}, []core.Responder{nil} },
		"a nil function to respond": func(c *looprun.Config) {
			c.Questions, c.Responders = exclusive{}, []core.Responder{core.ResponderFunc(nil)}
		},
		"a nil function": func(c *looprun.Config) { c.Work = engine.Func(nil) },
		"a nil check":    func(c *looprun.Config) { c.Check = engine.Func(nil) },
		"IdleTimeout":    func(c *looprun.Config) { c.IdleTimeout = time.Second },
		"resumed, inert": func(c *looprun.Config) {
			c.Resume = looptest.Folded(t, core.RunStarted{Limits: only(looptest.Defaults, func(l *core.Limits) { l.Cost = 1 })})
			c.Limits = core.Limits{}
		},
		"resumed, unwatched": func(c *looprun.Config) {
			c.Resume, c.Limits, c.Guards = looptest.Folded(t, looptest.Begun), core.Limits{}, []core.Guard{mine}
		},
	} {
		c := failing()
		c.Work = engine.Func(func(context.Context, engine.Invocation) error { return engine.Fatal(errFlaky) })
		change(&c)
		if _, err := looprun.Run(t.Context(), c); err == nil {
			t.Errorf("%s is taken", name)
		}
		if h, err := looprun.Start(t.Context(), c); err == nil || h != nil {
			t.Errorf("%s is started", name)
		}
	}
	counted := failing()
	counted.Limits.Cost = 1
	counted.Limits.Errors, counted.Limits.Loop = core.Off, core.Off
	counted.Measure = func(_ core.Iteration, r *core.IterationResult) {
		r.Said = append(r.Said, core.CostReported{USD: 0.6, Via: "program"})
	}
	if res, err := looprun.Run(t.Context(), counted); err != nil || res.Guard != core.MaxCost || res.Iterations != 2 {
		t.Errorf("what is measured does not count: %+v, %v", res, err)
	}
}

// A trip that does not say whose it is, is its guard's.
func TestTripsHaveTheirGuard(t *testing.T) {
	c := failing()
	c.Guards = append(guards.Default(), watcher(func(s *core.State) *core.Trip {
		if s.Iterations < 2 {
			return nil
		}
		return &core.Trip{}
	}))
	if res, err := looprun.Run(t.Context(), c); err != nil || res.Guard != "plateau" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func goexit() { runtime.Goexit() }

// A replay leads to the state of the run, ends with what cannot be read, and refuses what
// cannot have happened.
func TestReplay(t *testing.T) {
	j := new(core.MemoryJournal)
	c := failing()
	c.Journal = j
	h, err := looprun.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(); err != nil {
		t.Fatal(err)
	}
	s, err := core.Replay(j.All())
	got, _ := json.Marshal(s)
	if want, werr := json.Marshal(h.Snapshot()); err != nil || werr != nil || string(got) != string(want) {
		t.Errorf("it leads to another state, %v\n%s\n%s", err, got, want)
	}
	if _, err := core.Replay(func(yield func(core.Event, error) bool) { yield(core.Event{}, errFlaky) }); !errors.Is(err, errFlaky) {
		t.Errorf("%v", err)
	}
	j.Events = slices.Delete(j.Events, 2, 3)
	if s, err := core.Replay(j.All()); s != nil || !errors.Is(err, core.ErrEvent) {
		t.Errorf("%v", err)
	}
}

func encoded(t *testing.T, e core.Event) []byte {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Who waits for questions gets each, and is told of the end.
func TestNextQuestion(t *testing.T) {
	eventually.Ends(t)
	synctest.Test(t, func(t *testing.T) {
		c := failing()
		c.Questions, c.Responders = looptest.Asks{}, []core.Responder{looprun.Await()}
		observed := 0
		c.Observe = func(core.Event, *core.State) { observed++ }
		run, err := looprun.Start(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() { // another that waits, and answers nothing
			for {
				if _, err := run.NextQuestion(t.Context()); err != nil {
					ended <- err
					return
				}
				time.Sleep(time.Second)
			}
		}()
		var guards []core.GuardID
		for _, option := range []string{"skip", "nothing", "cancel"} {
			q, err := run.NextQuestion(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			guards = append(guards, q.Guard)
			if err := run.Answer(t.Context(), q.ID, core.Answer{Option: option}); err != nil {
				t.Fatal(option, err)
			}
		}
		res, err := run.Wait()
		if err != nil || res.Status != core.StatusCancelled || observed == 0 {
			t.Errorf("%+v, %v; %v; %d events", res, err, guards, observed)
		}
		if err := <-ended; !errors.Is(err, looprun.ErrEnded) {
			t.Errorf("%v", err)
		}
		if q, err := run.NextQuestion(t.Context()); !errors.Is(err, looprun.ErrEnded) {
			t.Errorf("%v, %v", q, err)
		}
	})
}

// Who waits in vain can stop waiting.
func TestNextQuestionGivesUp(t *testing.T) {
	c := failing()
	c.Work = engine.Func(func(ctx context.Context, _ engine.Invocation) error {
		<-ctx.Done()
		return nil
	})
	run, err := looprun.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	bored := errors.New("bored")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(bored)
	if q, err := run.NextQuestion(ctx); !errors.Is(err, bored) {
		t.Errorf("%v, %v", q, err)
	}
	run.Stop(bored)
	_, _ = run.Wait()
}
