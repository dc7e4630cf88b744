package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/protocol/ladder"
)

// refusing is a journal that cannot write one event, and then can again.
type refusing struct {
	at      int
	types   []core.EventType
	refused bool
}

func (j *refusing) Append(e core.Event) error {
	if len(j.types) == j.at && !j.refused {
		j.refused = true
		return errors.New("no space left on device")
	}
	j.types = append(j.types, e.Data.Type())
	return nil
}

func (j *refusing) Sync() error { return nil }

// advising leaves the question to a person, with a word to them.
type advising struct{}

func (advising) Error() string       { return "ask a person" }
func (advising) Is(e error) bool     { return e == core.ErrNoAnswer }
func (advising) Advice() core.Advice { return core.Advice{Text: "look at the disk"} }

// startExpert starts a run whose first failed iteration is followed by an expert.
func startExpert(t *testing.T, r engine.Runner, run experts) *looptest.Run {
	t.Helper()
	started := &looptest.Run{}
	started.Loop = &engine.Loop{Guards: guards.Default(), Journal: &started.Kept, Questions: looptest.Asks{}, Runner: r, Experts: run}
	if err := started.Start(core.RunStarted{RunID: "test", Name: "climb", Limits: looptest.Defaults, Ladder: ladder.Config{
		{Rung: ladder.SelfSolve, Attempts: 1}, {Rung: ladder.Experts, Attempts: 1, Experts: []ladder.Expert{{Name: "one"}}}, {Rung: ladder.Human},
	}}); err != nil {
		t.Fatal(err)
	}
	return started
}

// asksTwice starts a run whose command asks two questions at once; meanwhile is called while the
// first is asked, and whoever asks the second may leave then.
func asksTwice(t *testing.T, leaves bool, meanwhile func(*looptest.Run)) *looptest.Run {
	t.Helper()
	run, leave := &looptest.Run{}, func() {}
	*run = *looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
		client, gone := context.WithCancel(ctx)
		defer gone()
		if leaves {
			leave = gone
		}
		var all sync.WaitGroup
		all.Go(func() { _, _ = run.Ask(ctx, "first", looptest.Database()) })
		time.Sleep(time.Second) // of simulated time: it is asked
		all.Go(func() {
			_, _ = run.Ask(client, "second", core.Question{Kind: core.KindSelect, Text: "Which cache?", Options: looptest.Database().Options})
		})
		all.Wait()
	}), core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
		time.Sleep(time.Minute)
		if leave(); len(run.State().Pending()) > 1 {
			meanwhile(run)
		}
		return looptest.Chosen("pg"), nil
	}))
	return run
}

// A run in which one event could not be written ends as failed, whichever event that was, and
// nothing but its end is on record after it.
func TestEachEventThatCannotBeWrittenEndsTheRun(t *testing.T) {
	eventually.Ends(t)
	same := []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}
	says := func(err error) core.Responder {
		return core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) { return core.Answer{}, err })
	}
	for name, begin := range map[string]func(t *testing.T, stop func()) *looptest.Run{
		"continue, debug, cancel": func(t *testing.T, stop func()) *looptest.Run {
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: same}, looptest.Says("debug", "continue", "cancel"))
			run.Debug = looptest.Debugs(func(context.Context) (core.DebugFinished, error) { return core.DebugFinished{}, nil })
			return run
		},
		"an answer that is none": func(t *testing.T, stop func()) *looptest.Run {
			return looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: same}, looptest.Rule("go-on"))
		},
		"advice": func(t *testing.T, stop func()) *looptest.Run {
			return looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: same}, says(advising{}), looptest.Says("cancel"))
		},
		"deferred with a reason": func(t *testing.T, stop func()) *looptest.Run {
			return looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: same}, says(fmt.Errorf("in the morning: %w", core.ErrDeferred)))
		},
		"interrupted": func(t *testing.T, stop func()) *looptest.Run {
			return looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: same}, says(core.ErrInterrupted))
		},
		"max_runtime within an iteration": func(t *testing.T, stop func()) *looptest.Run {
			return looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: 20 * time.Minute}}}, looptest.Says("continue"))
		},
		"once": func(t *testing.T, stop func()) *looptest.Run {
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: same})
			run.Once = true
			return run
		},
		"the command asks": func(t *testing.T, stop func()) *looptest.Run {
			run := &looptest.Run{}
			*run = *looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) { _, _ = run.Ask(ctx, "key", looptest.Database()) }), looptest.Says("cancel"))
			return run
		},
		"the command asks twice": func(t *testing.T, stop func()) *looptest.Run {
			run := &looptest.Run{}
			q := looptest.Database() // the second time it has its answer already
			*run = *looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
				_, _ = run.Ask(ctx, "key", q)
				_, _ = run.Ask(ctx, "key", q)
			}), looptest.Says("my"))
			return run
		},
		"debug within an iteration": func(t *testing.T, stop func()) *looptest.Run {
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeDone, Took: 20 * time.Minute}}}, looptest.Says("debug", "continue"))
			run.Debug = looptest.Debugs(func(context.Context) (core.DebugFinished, error) { return core.DebugFinished{}, nil })
			return run
		},
		"a limit of others": func(t *testing.T, stop func()) *looptest.Run {
			return looptest.Start(t, looptest.Defaults, limited(func(int) *time.Time { return nil }, 1))
		},
		"a limit of others, cut short": func(t *testing.T, stop func()) *looptest.Run {
			run := looptest.Start(t, looptest.Defaults, limited(func(int) *time.Time { return nil }, 1))
			run.Observe = func(e core.Event, _ *core.State) {
				if _, ok := e.Data.(core.WaitStarted); ok {
					go func() { _ = run.GoOn(t.Context()) }()
				}
			}
			return run
		},
		"a delay": func(t *testing.T, stop func()) *looptest.Run {
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}, {Outcome: core.OutcomeDone}}})
			run.Backoff = engine.Backoff{Initial: 3 * time.Minute}
			return run
		},
		"stopped in a delay": func(t *testing.T, stop func()) *looptest.Run {
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}, {Outcome: core.OutcomeDone}}})
			run.Backoff = engine.Backoff{Initial: 3 * time.Minute}
			time.AfterFunc(time.Minute, stop)
			return run
		},
		"stopped between two iterations": func(t *testing.T, stop func()) *looptest.Run {
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}, {Outcome: core.OutcomeDone}}})
			run.Observe = func(e core.Event, _ *core.State) {
				if e.Data.Type() == core.TypeIterationFinished {
					stop()
				}
			}
			return run
		},
		"stopped while somebody is asked": func(t *testing.T, stop func()) *looptest.Run {
			return looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: same}, core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
				stop()
				return looptest.Chosen("cancel"), nil
			}))
		},
		"stopped in debug": func(t *testing.T, stop func()) *looptest.Run {
			run := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: same}, looptest.Says("debug"))
			run.Debug = looptest.Debugs(func(context.Context) (core.DebugFinished, error) { stop(); return core.DebugFinished{}, nil })
			return run
		},
		"the check runs once more": func(t *testing.T, _ func()) *looptest.Run {
			return startRerun(t, func(context.Context) (core.IterationResult, int, error) {
				return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeDone}}, 2, nil
			})
		},
		"stopped while the check runs once more": func(t *testing.T, stop func()) *looptest.Run {
			return startRerun(t, func(context.Context) (core.IterationResult, int, error) {
				stop()
				return core.IterationResult{}, 0, nil
			})
		},
		"an expert": func(t *testing.T, _ func()) *looptest.Run {
			return startExpert(t, looptest.Said(20), func(context.Context) (core.ExpertFinished, error) { return core.ExpertFinished{Guidance: "so"}, nil })
		},
		"stopped before an expert": func(t *testing.T, stop func()) *looptest.Run {
			run := startExpert(t, looptest.Said(20), nil)
			run.Observe = func(e core.Event, _ *core.State) {
				if e.Data.Type() == core.TypeAttemptRecorded {
					stop()
				}
			}
			return run
		},
		"stopped in an expert": func(t *testing.T, stop func()) *looptest.Run {
			return startExpert(t, looptest.Said(20), func(context.Context) (core.ExpertFinished, error) { stop(); return core.ExpertFinished{}, nil })
		},
		"an order": func(t *testing.T, _ func()) *looptest.Run {
			run := &looptest.Run{}
			*run = *looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) {
				_ = run.Order(ctx, core.OrderReceived{Order: core.OrderSay, Words: "mind the disk"})
			}))
			return run
		},
		"a person interrupts the command's question": func(t *testing.T, _ func()) *looptest.Run {
			run := &looptest.Run{}
			*run = *looptest.Start(t, looptest.Defaults, looptest.Once(func(ctx context.Context) { _, _ = run.Ask(ctx, "key", looptest.Database()) }), says(core.ErrInterrupted))
			return run
		},
		"who asked leaves before the turn": func(t *testing.T, _ func()) *looptest.Run { return asksTwice(t, true, func(*looptest.Run) {}) },
		"an answer before the turn": func(t *testing.T, _ func()) *looptest.Run {
			return asksTwice(t, false, func(run *looptest.Run) {
				if err := run.Answer(t.Context(), run.State().Pending()[1].ID, looptest.Chosen("pg")); err != nil {
					run.Journal = &looptest.BrokenJournal{} // who answers is told, and may try again
				}
			})
		},
		"a question beside a guard's": func(t *testing.T, _ func()) *looptest.Run {
			run := &looptest.Run{}
			limits := looptest.Defaults
			limits.Iterations = 1
			*run = *looptest.Start(t, limits, looptest.Once(func(context.Context) {}), core.ResponderFunc(func(ctx context.Context, q core.Question, _ *core.State) (core.Answer, error) {
				if q.From == core.FromCommand {
					return core.Answer{}, core.ErrNoAnswer
				}
				go func() { _, _ = run.Ask(ctx, "db", looptest.Database()) }()
				time.Sleep(time.Minute)
				return looptest.Chosen("continue"), nil
			}))
			return run
		},
		"an answer of the run before": func(t *testing.T, _ func()) *looptest.Run {
			asks := func(run *looptest.Run) looptest.Works {
				return looptest.Once(func(ctx context.Context) { _, _ = run.Ask(ctx, "key", looptest.Database()) })
			}
			before, run := &looptest.Run{}, &looptest.Run{}
			*before = *looptest.Start(t, looptest.Defaults, asks(before), says(core.ErrDeferred))
			if res, err := before.Run(t.Context()); res.Status != core.StatusPaused {
				t.Fatal(res, err)
			}
			run.Loop = &engine.Loop{Guards: before.Guards, Questions: looptest.Asks{}, Responders: []core.Responder{looptest.Says("my")}, Runner: asks(run)}
			if err := run.Resume(*before.State(), core.RunResumed{}); err != nil {
				t.Fatal(err)
			}
			return run
		},
	} {
		t.Run(name, func(t *testing.T) {
			for at := 0; ; at++ {
				if at == 1000 {
					t.Fatal("there is no end of it")
				}
				whole := false
				synctest.Test(t, func(t *testing.T) {
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					run, journal := begin(t, stop), &refusing{at: at}
					run.Journal = journal
					res, err := run.Run(ctx)
					if whole = !journal.refused; whole {
						if err != nil {
							t.Errorf("a run that is written: %v", err)
						}
						return
					}
					if err == nil || res.Status != core.StatusFailed || res.ExitCode != 125 || !strings.Contains(err.Error(), "no space left") {
						t.Errorf("event %d: got %+v, %v; want failed with 125 (%s)", at, res, err, journal.types)
					}
					for _, after := range journal.types[at:] {
						if after != core.TypeRunFinished && after != core.TypeIterationFinished {
							t.Errorf("event %d: after it came %s", at, journal.types[at:])
							break
						}
					}
				})
				if whole {
					return
				}
			}
		})
	}
}

// pointer is a guard with a pointer receiver.
type pointer struct{ id core.GuardID }

func (p *pointer) ID() core.GuardID             { return p.id }
func (p *pointer) Check(*core.State) *core.Trip { return nil }

// A loop that lacks something, or has a nil in a list, begins and resumes nothing.
func TestALoopThatLacksSomething(t *testing.T) {
	whole := looptest.Start(t, looptest.Defaults, &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone}}})
	state := whole.State()
	for name, c := range map[string]struct {
		change func(l *engine.Loop)
		want   string
	}{
		"nothing":         {func(*engine.Loop) {}, ""},
		"no guards":       {func(l *engine.Loop) { l.Guards = nil }, "Guards is empty"},
		"a nil guard":     {func(l *engine.Loop) { l.Guards = append(l.Guards[:len(l.Guards):len(l.Guards)], nil) }, "one of the guards is nil"},
		"a nil pointer":   {func(l *engine.Loop) { l.Guards = append(l.Guards[:len(l.Guards):len(l.Guards)], (*pointer)(nil)) }, "one of the guards is nil"},
		"a guard twice":   {func(l *engine.Loop) { l.Guards = append(l.Guards[:len(l.Guards):len(l.Guards)], l.Guards[0]) }, "two guards are called "},
		"a nil responder": {func(l *engine.Loop) { l.Responders = []core.Responder{nil} }, "one of the responders is nil"},
		"a nil function":  {func(l *engine.Loop) { l.Responders = []core.Responder{core.ResponderFunc(nil)} }, "one of the responders is nil"},
		"no runner":       {func(l *engine.Loop) { l.Runner = nil }, "no Runner"},
		"a nil runner":    {func(l *engine.Loop) { l.Runner = (*looptest.Script)(nil) }, "no Runner"},
	} {
		for begins, begin := range map[string]func(l *engine.Loop) error{
			"start":  func(l *engine.Loop) error { return l.Start(core.RunStarted{Limits: looptest.Defaults}) },
			"resume": func(l *engine.Loop) error { return l.Resume(*state, core.RunResumed{}) },
		} {
			l := &engine.Loop{Guards: whole.Guards, Runner: whole.Runner}
			if l.Elapsed() != 0 {
				t.Error("a loop that has not begun has taken time")
			}
			c.change(l)
			err := begin(l)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %v, want %q", begins, name, err, c.want)
			}
			if err == nil {
				continue
			}
			if _, err := l.Run(t.Context()); err == nil {
				t.Errorf("%s, %s: it runs", begins, name)
			}
		}
	}
}
