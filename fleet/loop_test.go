package fleet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/loops"
)

// A loop that waits between iterations gives its slot back, and comes back to its worker and to
// its tree, which is set up once.
func TestALoopComesBackToItsWorker(t *testing.T) {
	for name, c := range map[string]struct {
		delay string
		want  time.Duration // of all waits
		back  []bool
	}{
		"delay":              {"1h", 2*time.Hour + 30*time.Minute, []bool{false, true, true}},
		"initial delay only": {"", 30 * time.Minute, []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			var back []bool
			b.OnActivity((*Worker)(nil).Place, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Prepare) (Placed, error) {
				back = append(back, in.Back)
				return b.worker.Place(ctx, in)
			})
			held := 0
			b.RegisterDelayedCallback(func() { held = len(b.worker.held) }, time.Hour)
			setups := filepath.Join(t.TempDir(), "setups")
			l := submitted(t, `echo "failure $LOOPRUN_ITERATION of many"; test "$LOOPRUN_ITERATION" = 3`, func(l *loops.Loop) {
				l.Setup, l.Options["loop_values"], l.Options["initial_delay"] = config.ShellLine("echo x >>'"+setups+"'"), "off", "30m"
				if c.delay != "" {
					l.Options["delay"] = c.delay
				}
			})
			began := b.Now()
			r := b.run(l)
			took := b.Now().Sub(began)
			if r.Status != core.StatusDone || r.Iterations != 3 || !slices.Equal(back, c.back) {
				t.Errorf("%+v, places %v", r, back)
			}
			if took < c.want || took > c.want+10*time.Minute {
				t.Errorf("it waited %s, not %s", took, c.want)
			}
			if said, err := os.ReadFile(setups); err != nil || string(said) != "x\n" {
				t.Errorf("it was set up: %q, %v", said, err)
			}
			if held != 0 {
				t.Error("it waits with a slot")
			}
		})
	}
}

// A loop that is cancelled while it waits runs nothing more, and says that it was cancelled.
func TestACancelledWait(t *testing.T) {
	t.Run("for its delay", func(t *testing.T) {
		b := newBench(t, nil)
		b.RegisterDelayedCallback(b.CancelWorkflow, time.Hour)
		r := b.run(submitted(t, "exit 1", func(l *loops.Loop) { l.Options["delay"] = "2h" }))
		if r.Status != core.StatusInterrupted || r.ExitCode != 143 || r.Iterations != 1 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("for an answer", func(t *testing.T) {
		b := newBench(t, nil)
		b.RegisterDelayedCallback(b.CancelWorkflow, time.Hour)
		if r := b.run(submitted(t, "echo the same; exit 1", nil)); r.Status != core.StatusInterrupted || r.ExitCode != 143 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("for an answer, for a time", func(t *testing.T) {
		b := newBench(t, nil)
		b.RegisterDelayedCallback(b.CancelWorkflow, time.Hour)
		l := submitted(t, "echo the same; exit 1", nil)
		l.Work.WaitAnswer = 2 * time.Hour
		if r := b.run(l); r.Status != core.StatusInterrupted || r.ExitCode != 143 || b.count(core.TypeQuestionClosed) > 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("for a rate limit", func(t *testing.T) {
		b := newBench(t, nil)
		b.RegisterDelayedCallback(b.CancelWorkflow, time.Hour)
		held := -1
		b.RegisterDelayedCallback(func() { held = len(b.worker.held) }, 30*time.Minute)
		b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(func(_ context.Context, in Iterate) (Iterated, error) {
			until := b.Now().Add(2 * time.Hour)
			return Iterated{Result: core.IterationResult{
				IterationFinished: core.IterationFinished{Iteration: in.Iteration.Number, Outcome: core.OutcomeWaiting, Match: "limit", Until: &until},
			}}, nil
		})
		r := b.run(submitted(t, "exit 1", nil))
		if r.Status != core.StatusInterrupted || r.ExitCode != 143 || held != 0 {
			t.Errorf("%+v, %d slots in use while it waits", r, held)
		}
	})
	t.Run("for a slot, at the last try", func(t *testing.T) {
		b := newBench(t, nil)
		b.OnActivity((*Worker)(nil).Place, mock.Anything, mock.Anything).Return(func(context.Context, Prepare) (Placed, error) {
			b.CancelWorkflow()
			return Placed{}, temporal.NewNonRetryableApplicationError("no", errGone, nil)
		})
		l := submitted(t, "exit 1", nil)
		l.Place.Tried = l.Work.retryFor()
		if r := b.run(l); r.Status != core.StatusInterrupted || r.ExitCode != 143 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("for its ledger, at once", func(t *testing.T) {
		b := newBench(t, nil)
		b.OnActivity((*Worker)(nil).Reserve, mock.Anything, mock.Anything).Return(Granted{OK: true}, nil)
		b.OnActivity((*Worker)(nil).Commit, mock.Anything, mock.Anything).Return(Granted{}, errors.New("no server"))
		b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Iterate) (Iterated, error) {
			b.CancelWorkflow()
			return b.worker.Iterate(ctx, in)
		})
		if r := b.run(submitted(t, "exit 1", func(l *loops.Loop) { l.Group = "team" })); r.Status != core.StatusInterrupted || r.ExitCode != 143 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("for its ledger", func(t *testing.T) { // its reservation stays
		b := newBench(t, nil)
		b.OnActivity((*Worker)(nil).Reserve, mock.Anything, mock.Anything).Return(Granted{OK: true}, nil)
		tried := 0
		b.OnActivity((*Worker)(nil).Commit, mock.Anything, mock.Anything).Return(func(context.Context, Spend) (Granted, error) {
			if tried++; tried > 1000 {
				t.Error("it is tried after the cancel")
				return Granted{OK: true}, nil
			}
			return Granted{}, errors.New("no server")
		})
		b.RegisterDelayedCallback(b.CancelWorkflow, time.Hour)
		if r := b.run(submitted(t, "exit 1", func(l *loops.Loop) { l.Group = "team" })); r.Status != core.StatusInterrupted || r.Iterations != 1 {
			t.Errorf("%+v", r)
		}
	})
}

// A question that nobody answers in its time ends the run, and one that is answered before does
// not wait for the rest.
func TestNobodyAnswersInTime(t *testing.T) {
	for _, answered := range []bool{false, true} {
		b := newBench(t, nil)
		given := new(error)
		if answered {
			given = b.answer(time.Hour, "u1", "", core.Answer{Option: "cancel"})
		}
		l := submitted(t, "echo the same; exit 1", nil)
		l.Work.WaitAnswer = 2 * time.Hour
		began := b.Now()
		r := b.run(l)
		took := b.Now().Sub(began)
		if r.Status.MayExitZero() || strings.Contains(r.Reason, "nobody answered within 2h") == answered || *given != nil {
			t.Errorf("answered %v: %+v, %v", answered, r, *given)
		}
		if took < time.Hour || (took < 2*time.Hour) != answered {
			t.Errorf("answered %v: it took %s", answered, took)
		}
	}
}

// The command of an answer that was lost with its worker may have run: it is not run again, and
// the question is asked again.
func TestAHelpThatIsLost(t *testing.T) {
	b := newBench(t, nil)
	times, after := 0, 0
	b.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == "Iterate" && times > 0 {
			after++
		}
	})
	b.OnActivity((*Worker)(nil).Debug, mock.Anything, mock.Anything).Return(func(context.Context, Respond) (Debugged, error) {
		if times++; times > 9 {
			b.CancelWorkflow()
		}
		return Debugged{}, temporal.NewHeartbeatTimeoutError()
	})
	first := b.answer(time.Hour, "u1", "", core.Answer{Option: "debug"})
	second := b.answer(2*time.Hour, "u2", "", core.Answer{Option: "cancel"})
	r := b.run(submitted(t, "echo the same; exit 1", func(l *loops.Loop) { l.Options["debug"] = "true" }))
	if r.Status.MayExitZero() || times != 1 || after > 0 || *first != nil || *second != nil {
		t.Errorf("%+v, it ran %d times, and %d iterations after it, %v, %v", r, times, after, *first, *second)
	}
}

// count is how many events of that type are recorded.
func (b *bench) count(what core.EventType) (n int) {
	b.t.Helper()
	for _, e := range b.events {
		if e.Data.Type() == what {
			n++
		}
	}
	return n
}

// answerers are who has answered, in order.
func (b *bench) answerers() (by []string) {
	b.t.Helper()
	for _, e := range b.events {
		if a, ok := e.Data.(core.QuestionAnswered); ok {
			by = append(by, a.Answer.Responder)
		}
	}
	return by
}

// What a policy or an assistant answers counts, unless it is no answer to the question, or a
// person was quicker: then the person's does.
func TestWhoseAnswerCounts(t *testing.T) {
	for name, c := range map[string]struct {
		option string
		after  time.Duration // the worker answers then, and a person after an hour
		want   string
	}{
		"the policy's": {"cancel", 0, core.RespondedByPolicy},
		"no option":    {"no-such-option", 0, core.RespondedByUser},
		"too late":     {"continue", 2 * time.Hour, core.RespondedByUser},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.OnActivity((*Worker)(nil).Respond, mock.Anything, mock.Anything).After(c.after).Return(
				Responded{Answer: &core.Answer{Option: c.option, Responder: core.RespondedByPolicy, Reason: "so"}}, nil)
			b.answer(time.Hour, "u1", "", core.Answer{Option: "cancel", Reason: "enough"})
			l := submitted(t, "echo the same; exit 1", nil)
			l.Work.Responds = true
			r := b.run(l)
			if by := b.answerers(); r.Status.MayExitZero() || !slices.Equal(by, []string{c.want}) {
				t.Errorf("%+v, answered by %v, not by %s", r, by, c.want)
			}
		})
	}
}

// when_stuck answers on a fleet that has no policy and no assistant.
func TestWhenStuckAnswersOnAFleet(t *testing.T) {
	b := newBench(t, nil)
	r := b.run(submitted(t, "echo the same; exit 1", func(l *loops.Loop) {
		l.Options["when_stuck"], l.Options["wait_answer"] = "echo another; exit 1", "1s"
	}))
	if by := b.answerers(); r.Guard != core.LoopDetected || r.Iterations != 6 || !slices.Equal(by, []string{core.RespondedByWhenStuck}) {
		t.Errorf("%+v, answered by %v", r, by)
	}
}

// An iteration ends when the run has had its time.
func TestAnIterationEndsWithItsTime(t *testing.T) {
	b := newBench(t, nil)
	r := b.run(submitted(t, "exec sleep 100000", func(l *loops.Loop) { l.Options["max_runtime"], l.Options["detached"] = "1s", "deny" }))
	if r.Status != core.StatusTripped || r.Guard != core.MaxRuntime {
		t.Errorf("%+v", r)
	}
}

// An iteration reserves what the dearest one has cost, at first a dollar.
func TestWhatAnIterationReserves(t *testing.T) {
	var reserved []float64
	var committed []Spend
	b := labelled(t, func(_ context.Context, s Spend) (Granted, error) {
		reserved = append(reserved, s.USD)
		return Granted{OK: true}, nil
	}, &committed)
	l := submitted(t, `printf 'LOOPRUN_COST\nUSD: %s\n' $((4-LOOPRUN_ITERATION)); test $LOOPRUN_ITERATION = 3`, func(l *loops.Loop) {
		l.Group, l.Options["signals"], l.Options["loop_threshold"] = "team", "text", "off"
	})
	if r := b.run(l); r.Status != core.StatusDone || !slices.Equal(reserved, []float64{1, 3, 3}) || len(committed) != 3 {
		t.Errorf("%+v reserved %v; %v", r, reserved, committed)
	}
}

// The history of a ledger is cut when it has become long, and not what it knows.
func TestALedgerIsCut(t *testing.T) {
	env := new(testsuite.WorkflowTestSuite).NewTestWorkflowEnvironment()
	env.RegisterWorkflow(Ledger)
	update := func(after time.Duration, id, name string, arg any) {
		env.RegisterDelayedCallback(func() {
			env.SetContinueAsNewSuggested(id == "last")
			env.UpdateWorkflow(name, id, &testsuite.TestUpdateCallback{OnAccept: func() {}, OnReject: func(err error) { t.Error(err) }, OnComplete: func(any, error) {}}, arg)
		}, after)
	}
	spend := Spend{Group: "team", Key: "a", USD: 2}
	update(time.Hour, "first", updateLimit, 5.0)
	update(2*time.Hour, "second", updateReserve, spend)
	update(3*time.Hour, "last", updateReserve, spend)
	env.ExecuteWorkflow(Ledger, Budget{Spent: 1})
	var next *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("it ended: %v", err)
	}
	var b Budget
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &b); err != nil || b.Limit == nil || *b.Limit != 5 || b.Spent != 1 || b.Reserved["a"] != 2 {
		t.Errorf("it goes on with %+v, %v", b, err)
	}
}

// A refusal ends a loop also while a question of it is open.
func TestARefusalWhileAQuestionIsOpen(t *testing.T) {
	b := newBench(t, nil)
	placed := 0
	b.OnActivity((*Worker)(nil).Place, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Prepare) (Placed, error) {
		if placed++; placed > 1 {
			return Placed{}, refuse("its list does not allow it")
		}
		return b.worker.Place(ctx, in)
	})
	b.OnActivity((*Worker)(nil).Respond, mock.Anything, mock.Anything).Return(Responded{}, temporal.NewHeartbeatTimeoutError())
	b.OnActivity((*Worker)(nil).Debug, mock.Anything, mock.Anything).Return(Debugged{}, temporal.NewHeartbeatTimeoutError())
	b.answer(time.Hour, "u1", "", core.Answer{Option: "debug"})
	l := submitted(t, "echo the same; exit 1", func(l *loops.Loop) { l.Options["debug"] = "true" })
	l.Work.Responds = true
	r := b.run(l)
	if r.Status != core.StatusFailed || r.ExitCode != core.ExitFailed || r.Reason != "its list does not allow it" || placed != 2 {
		t.Errorf("%+v, placed %d times", r, placed)
	}
}

// cutWhile runs a loop whose history is to be cut after its first iteration, which costs three
// dollars; do is called while that is committed.
func cutWhile(t *testing.T, do func(b *bench)) (*bench, error) {
	t.Helper()
	b := newBench(t, nil)
	b.OnActivity((*Worker)(nil).Reserve, mock.Anything, mock.Anything).Return(Granted{OK: true}, nil)
	b.OnActivity((*Worker)(nil).Commit, mock.Anything, mock.Anything).Return(func(context.Context, Spend) (Granted, error) {
		b.SetContinueAsNewSuggested(true)
		do(b)
		return Granted{OK: true}, nil
	})
	b.ExecuteWorkflow(Run, submitted(t, `printf 'LOOPRUN_COST\nUSD: 3\n'; exit 1`, func(l *loops.Loop) { l.Group, l.Options["signals"] = "team", "text" }))
	return b, b.GetWorkflowError()
}

func TestACancelWhileTheHistoryIsCut(t *testing.T) {
	b, err := cutWhile(t, func(b *bench) { b.CancelWorkflow() })
	if err != nil {
		t.Fatal(err)
	}
	var r core.Result
	if err := b.GetWorkflowResult(&r); err != nil || r.Status != core.StatusInterrupted || r.Iterations != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// What an iteration is expected to cost is known also after the history was cut.
func TestACutKeepsTheDearestIteration(t *testing.T) {
	_, err := cutWhile(t, func(*bench) {})
	var next *workflow.ContinueAsNewError
	if !errors.As(err, &next) {
		t.Fatalf("it ended: %v", err)
	}
	var in Loop
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &in); err != nil {
		t.Fatal(err)
	}
	var reserved []float64
	var committed []Spend
	b := labelled(t, func(_ context.Context, s Spend) (Granted, error) {
		reserved = append(reserved, s.USD)
		return Granted{Reason: "it is spent"}, nil
	}, &committed)
	in.Work.WaitAnswer = time.Hour
	if r := b.run(in); r.Guard != core.MaxCost || !slices.Equal(reserved, []float64{3}) {
		t.Errorf("%+v, reserved %v", r, reserved)
	}
}

// A loop that has ended waits until its ledger is back, and then lists say so no longer.
func TestACommitIsTriedAgain(t *testing.T) {
	b := newBench(t, nil)
	tried := 0
	b.OnActivity((*Worker)(nil).Reserve, mock.Anything, mock.Anything).Return(Granted{OK: true}, nil)
	b.OnActivity((*Worker)(nil).Commit, mock.Anything, mock.Anything).Return(func(context.Context, Spend) (Granted, error) {
		if tried++; tried < 3 {
			return Granted{}, errors.New("no server")
		}
		return Granted{OK: true}, nil
	})
	var notes []Note
	b.OnUpsertMemo(mock.Anything).Run(func(args mock.Arguments) {
		note, _ := args.Get(0).(map[string]any)[memoNote].(Note)
		notes = append(notes, note)
	}).Return(nil)
	b.run(submitted(t, "true", func(l *loops.Loop) { l.Group = "team" }))
	if n := len(notes); tried != 3 || n < 2 || !strings.Contains(notes[n-2].Reason, "waiting for the budget") || notes[n-1].Reason != "" {
		t.Errorf("tried %d times, lists show %+v", tried, notes)
	}
}

// A run without a time limit has iterations without one.
func TestAnIterationWithoutALimit(t *testing.T) {
	b := newBench(t, nil)
	var most, left time.Duration = 0, -1
	b.OnActivity((*Worker)(nil).Iterate, mock.Anything, mock.Anything).Return(func(ctx context.Context, in Iterate) (Iterated, error) {
		info := activity.GetInfo(ctx)
		most, left = info.Deadline.Sub(info.StartedTime), in.Left
		return b.worker.Iterate(ctx, in)
	})
	r := b.run(submitted(t, "true", func(l *loops.Loop) { l.Options["max_runtime"] = "off" }))
	if r.Status != core.StatusDone || left != 0 || most < 365*24*time.Hour {
		t.Errorf("%+v, it had %s, and the server gave it %s", r, left, most)
	}
}

// A loop that cannot start runs nothing, and is an error.
func TestALoopThatCannotStart(t *testing.T) {
	b := newBench(t, nil)
	l := submitted(t, "true", nil)
	l.Started.Limits = core.Limits{} // neither stated nor off
	b.execute(l)
	if err := b.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), "the loop cannot start: ") || len(b.events) > 0 {
		t.Errorf("%v, %d events", err, len(b.events))
	}
}

// A list shows which guard asks, and none after the answer.
func TestAListShowsWhichGuardAsks(t *testing.T) {
	b := newBench(t, nil)
	var shown []string
	b.OnUpsertTypedSearchAttributes(mock.Anything).Run(func(args mock.Arguments) {
		attributes, _ := args.Get(0).(temporal.SearchAttributes)
		status, _ := attributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(AttrStatus))
		guard, _ := attributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(AttrQuestion))
		if status == Asking || guard != "" {
			shown = append(shown, status+" "+guard)
		}
	}).Return(nil)
	b.answer(time.Hour, "u1", "", core.Answer{Option: "cancel"})
	b.run(submitted(t, "echo the same; exit 1", nil))
	if want := Asking + " " + string(core.LoopDetected); !slices.Equal(shown, []string{want}) {
		t.Errorf("lists show %q, not %q", shown, want)
	}
}

// A list offers a debug command where there is one: a worker has no terminal for a shell.
func TestWhatAListOffers(t *testing.T) {
	for _, debug := range []string{"", "true"} {
		b := newBench(t, nil)
		var offered []string
		b.OnUpsertMemo(mock.Anything).Run(func(args mock.Arguments) {
			if note, _ := args.Get(0).(map[string]any)[memoNote].(Note); note.Question != nil {
				offered = note.Question.Options
			}
		}).Return(nil)
		b.answer(time.Hour, "u1", "", core.Answer{Option: "cancel"})
		b.run(submitted(t, "echo the same; exit 1", func(l *loops.Loop) {
			if debug != "" {
				l.Options["debug"] = debug
			}
		}))
		if !slices.Contains(offered, "cancel") || slices.Contains(offered, "debug") != (debug != "") {
			t.Errorf("debug %q: %v", debug, offered)
		}
	}
}

// An iteration does not begin after a cancel, although its ledger grants it.
func TestACancelWhileItReserves(t *testing.T) {
	var committed []Spend
	var b *bench
	b = labelled(t, func(context.Context, Spend) (Granted, error) {
		b.CancelWorkflow()
		return Granted{OK: true}, nil
	}, &committed)
	r := b.run(submitted(t, "true", func(l *loops.Loop) { l.Group = "team" }))
	if begun := b.count(core.TypeIterationStarted); r.Status != core.StatusInterrupted || begun > 0 || len(committed) > 0 {
		t.Errorf("%+v, %v, %d begun", r, committed, begun)
	}
}

// The first check has no command that costs something.
func TestAPrecheckIsFree(t *testing.T) {
	var committed []Spend
	b := labelled(t, func(context.Context, Spend) (Granted, error) { return Granted{OK: true}, nil }, &committed)
	r := b.run(submitted(t, "touch done", func(l *loops.Loop) { l.Group, l.Check = "team", "test -e done" }))
	if r.Status != core.StatusDone || len(committed) != 2 || committed[0].Silent || committed[0].USD != 0 || !committed[1].Silent {
		t.Errorf("%+v, %+v", r, committed)
	}
}

// What was running for an answer when the loop was cancelled is not on record as its result.
func TestACancelWhileItHelps(t *testing.T) {
	for _, failed := range []error{nil, temporal.NewHeartbeatTimeoutError()} {
		b := newBench(t, nil)
		b.OnActivity((*Worker)(nil).Debug, mock.Anything, mock.Anything).Return(func(context.Context, Respond) (Debugged, error) {
			b.CancelWorkflow()
			return Debugged{}, failed
		})
		b.answer(time.Hour, "u1", "", core.Answer{Option: "debug"})
		r := b.run(submitted(t, "echo the same; exit 1", func(l *loops.Loop) { l.Options["debug"] = "true" }))
		if ended := b.count(core.TypeDebugFinished); r.Status != core.StatusInterrupted || r.ExitCode != 143 || ended > 0 {
			t.Errorf("%v: %+v, %d commands ended", failed, r, ended)
		}
	}
}
