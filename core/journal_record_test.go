package core_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

var errLost = errors.New("input/output error")

// lossy is a journal that loses one event, or fails in one sync, and is well again
// after it.
type lossy struct {
	core.MemoryJournal
	event, sync int // the numbers of those; 0: none
	events      int
	syncs       int
	after       []core.EventType // what was written after the failure
}

func (j *lossy) failed() bool {
	return j.event > 0 && j.events >= j.event || j.sync > 0 && j.syncs >= j.sync
}

func (j *lossy) Append(e core.Event) error {
	if j.failed() {
		j.after = append(j.after, e.Data.Type())
	}
	if j.events++; j.events == j.event {
		return errLost
	}
	return j.MemoryJournal.Append(e)
}

func (j *lossy) Sync() error {
	if j.syncs++; j.syncs == j.sync {
		return errLost
	}
	return nil
}

// What cannot be put on record does not happen: whichever event is lost, and
// whichever sync fails, the run ends there as failed, and nothing but that is
// written, also when the journal could be written again.
func TestNothingFollowsWhatCannotBeRecorded(t *testing.T) {
	for name, setUp := range recorded {
		t.Run(name, func(t *testing.T) {
			try := func(j *lossy) (res core.Result, err error) {
				synctest.Test(t, func(t *testing.T) {
					l := &engine.Loop{Guards: guards.Default(), Journal: j, Questions: looptest.Asks{}}
					start := setUp(l)
					if err = l.Start(start); err == nil {
						res, err = l.Run(t.Context())
					}
				})
				return res, err
			}
			whole := &lossy{}
			if res, err := try(whole); err != nil || whole.events < 8 {
				t.Fatalf("without a failure: %+v, %v after %d events", res, err, whole.events)
			}
			check := func(j *lossy, what string) {
				t.Helper()
				res, err := try(j)
				if !errors.Is(err, errLost) || j.events > 1 && (res.Status != core.StatusFailed || res.ExitCode != core.ExitFailed) {
					t.Errorf("%s: got %+v, %v", what, res, err)
				}
				if len(j.after) > 1 || len(j.after) == 1 && j.after[0] != core.TypeRunFinished {
					t.Errorf("%s: on record after it are %v", what, j.after)
				}
			}
			for n := range whole.events {
				check(&lossy{event: n + 1}, fmt.Sprintf("without event %d, %s", n+1, whole.Events[n].Data.Type()))
			}
			for n := range whole.syncs {
				check(&lossy{sync: n + 1}, fmt.Sprintf("without sync %d", n+1))
			}
		})
	}
}

// recorded are runs in which everything happens that is put on record. Each sets
// the loop up.
var recorded = map[string]func(*engine.Loop) core.RunStarted{
	"answers": func(l *engine.Loop) core.RunStarted {
		l.Runner = &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}
		l.Debug = looptest.Debugs(func(context.Context) (core.DebugFinished, error) {
			return core.DebugFinished{Findings: "so"}, nil
		})
		l.Responders = []core.Responder{
			core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
				return core.Answer{}, errors.New("it crashed")
			}),
			looptest.Says("nonsense", "debug", "continue", "pause"),
		}
		l.Responders = append(l.Responders, l.Responders[1])
		return core.RunStarted{RunID: "r", Limits: looptest.Defaults, Precheck: true}
	},
	"nobody answers": func(l *engine.Loop) core.RunStarted {
		l.Runner = &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}
		return core.RunStarted{RunID: "r", Limits: looptest.Defaults}
	},
	"kept for later": func(l *engine.Loop) core.RunStarted {
		l.Runner = &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Same: 1}}}
		l.Responders = []core.Responder{core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			return core.Answer{}, fmt.Errorf("do not: %w", core.ErrDeferred)
		})}
		return core.RunStarted{RunID: "r", Limits: looptest.Defaults}
	},
	"in the middle of an iteration": func(l *engine.Loop) core.RunStarted {
		l.Runner = &looptest.Script{Steps: []looptest.Play{{Outcome: core.OutcomeNotDone, Took: 20 * time.Minute}, {Outcome: core.OutcomeDone, Took: time.Hour}}}
		l.Responders = []core.Responder{looptest.Says("continue", "debug", "cancel")}
		l.Debug = looptest.Debugs(func(context.Context) (core.DebugFinished, error) { return core.DebugFinished{ExitCode: 1}, nil })
		return core.RunStarted{RunID: "r", Limits: looptest.Defaults}
	},
	"waiting": func(l *engine.Loop) core.RunStarted {
		n := 0
		l.Runner = looptest.Works(func(context.Context, core.Iteration) core.IterationFinished {
			if n++; n == 1 {
				until := time.Now().Add(5 * time.Second) // before run.alive is due
				return core.IterationFinished{Outcome: core.OutcomeWaiting, Match: "limit", Until: &until}
			}
			return core.IterationFinished{Outcome: core.OutcomeDone}
		})
		return core.RunStarted{RunID: "r", Limits: looptest.Defaults}
	},
	"what the command says": func(l *engine.Loop) core.RunStarted {
		l.Questions = looptest.Decisions{}
		l.Runner = saying(l, [][]core.Data{
			{core.SignalReceived{Signal: signal.Signal{Name: signal.Progress, Text: "on"}}, core.CostReported{USD: 1}},
			{core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}}},
			{core.QuestionAsked{Question: core.Question{Kind: core.KindConfirm, Text: "Go?", Returned: true}}},
			{core.RejectionInvalid{}},
			{core.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.Blocker, Suggested: "the other"}}},
		})
		asked := 0
		l.Responders = []core.Responder{core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
			switch asked++; {
			case asked == 1:
				return looptest.Chosen("nonsense"), nil
			case q.Kind == core.KindConfirm:
				return looptest.Chosen(core.Yes), nil
			case q.Guard == core.Rejection:
				return looptest.Chosen("reformulate"), nil
			}
			a := looptest.Chosen("override")
			a.Guidance = "ask there"
			return a, nil
		})}
		return core.RunStarted{RunID: "r", Limits: looptest.Defaults}
	},
	"the ladder": func(l *engine.Loop) core.RunStarted {
		l.Runner = saying(l, make([][]core.Data, 4))
		l.Experts = experts(func(ladder.Expert) (core.ExpertFinished, error) {
			return core.ExpertFinished{Guidance: "so"}, nil
		})
		l.Responders = []core.Responder{looptest.Says("continue")}
		return core.RunStarted{RunID: "r", Name: "task", Limits: looptest.Defaults, Ladder: ladder.Config{
			{Rung: ladder.SelfSolve, Attempts: 1}, {Rung: ladder.Experts, Attempts: 1, Experts: []ladder.Expert{{Name: "crypto"}}}, {Rung: ladder.Human},
		}}
	},
}

// saying runs iterations that fail in their own ways. Each says one thing while it
// runs and the rest with its output, and asks a question; the last is done.
func saying(l *engine.Loop, list [][]core.Data) looptest.Reports {
	return func(ctx context.Context, it core.Iteration) core.IterationResult {
		if it.Number > len(list) {
			return core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeDone}}
		}
		data := list[it.Number-1]
		if len(data) > 1 {
			_ = l.Tell(ctx, data[0])
			_, _ = l.Ask(ctx, "key", core.Question{Kind: core.KindConfirm, Text: "Now?"})
			data = data[1:]
		}
		return core.IterationResult{Said: data, IterationFinished: core.IterationFinished{
			Outcome:   core.OutcomeNotDone,
			Signature: signature.Signature{Hash: signature.Hash(it.Number), Label: fmt.Sprint("output:", it.Number), Failing: -1, Passed: -1, Total: -1},
		}}
	}
}

// Who asked what could not be recorded gets no answer, and no empty one either.
func TestAQuestionThatIsLostHasNoAnswer(t *testing.T) {
	for n := range 3 { // run.started, iteration.started, then the question, its answer, its delivery
		var l *engine.Loop
		var asked core.Asked
		var err error
		l = &engine.Loop{
			Guards: guards.Default(), Journal: &lossy{event: n + 3}, Responders: []core.Responder{looptest.Says("pg")},
			Runner: looptest.Once(func(ctx context.Context) { asked, err = l.Ask(ctx, "key", looptest.Database()) }),
		}
		if err := l.Start(core.RunStarted{RunID: "r", Limits: looptest.Defaults}); err != nil {
			t.Fatal(err)
		}
		if _, failed := l.Run(t.Context()); !errors.Is(failed, errLost) || !errors.Is(err, errLost) || asked.Answer != nil {
			t.Errorf("event %d: the run ended with %v, the command got %+v, %v", n+3, failed, asked.Answer, err)
		}
	}
}

// A second door would let something into a journal that no mask has seen and that
// cannot happen: nothing but Record says Append, and what copies the events of a run in
// the fleet, which Record made.
func TestOnlyRecordAppendsToAJournal(t *testing.T) {
	var doors []string
	err := filepath.WalkDir("..", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			where := name
			if f, ok := d.(*ast.FuncDecl); ok {
				where += ": " + f.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Append" {
					if of, ok := s.X.(*ast.Ident); !ok || of.Name != "reflect" { // whose own appends to a slice
						doors = append(doors, where)
					}
				}
				return true
			})
		}
		return nil
	})
	if want := []string{"../core/journal.go: Record", "../internal/remote/remote.go: Add"}; err != nil || !slices.Equal(doors, want) {
		t.Errorf("%q append to a journal, want %q; %v", doors, want, err)
	}
}

// What the journal could not keep has not happened; what cannot happen is not kept.
func TestRecordChangesNothingThatItDoesNotKeep(t *testing.T) {
	s := looptest.Folded(t, looptest.Begun)
	before := looptest.Encode(t, s)
	journal := &lossy{event: 1}
	if _, err := core.Record(s, journal, nil, 0, looptest.First); !errors.Is(err, errLost) {
		t.Errorf("the journal is broken: got %v", err)
	}
	if _, err := core.Record(s, journal, nil, 0, looptest.Answered); !errors.Is(err, core.ErrEvent) || journal.events != 1 {
		t.Errorf("got %v and %d events, want ErrEvent and the one that was lost", err, journal.events)
	}
	if after := looptest.Encode(t, s); string(after) != string(before) {
		t.Errorf("the state is %s, was %s", after, before)
	}
}
