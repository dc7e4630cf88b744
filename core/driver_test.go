package core_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
	"github.com/looprun/looprun/templates"
)

// workflow runs a loop as a workflow engine does: it has the state from its text alone,
// after every event, and a clock of its own.
type workflow struct {
	t      *testing.T
	r      *rand.Rand
	driver core.Driver
	events []core.Event
	now    time.Time
	active time.Duration
}

func (e *workflow) record(d core.Data) error {
	event := core.Event{Seq: e.driver.State.Seq + 1, Time: e.now, Elapsed: e.active.Truncate(time.Millisecond), Data: d}
	if err := e.driver.State.Apply(event); err != nil {
		return err
	}
	line, err := json.Marshal(event)
	if err != nil {
		return err
	}
	var read core.Event
	if err := json.Unmarshal(line, &read); err != nil {
		return err
	}
	e.events = append(e.events, read)
	next, trip := e.driver.State.Next(e.driver.Guards)
	text := looptest.Encode(e.t, e.driver.State)
	*e.driver.State = core.State{}
	if err := json.Unmarshal(text, e.driver.State); err != nil {
		return err
	}
	if again, same := e.driver.State.Next(e.driver.Guards); again != next || fmt.Sprintf("%+v", trip) != fmt.Sprintf("%+v", same) {
		e.t.Fatalf("behind %s: next is %s, %+v; from the text it is %s, %+v", d.Type(), next, trip, again, same)
	}
	if back := looptest.Encode(e.t, e.driver.State); !bytes.Equal(back, text) {
		e.t.Fatalf("behind %s: the state reads back as another:\n%s\n%s", d.Type(), text, back)
	}
	return nil
}

// drive takes steps until the run has ended.
func (e *workflow) drive() {
	first := true
	for range 3000 {
		e.now = e.now.Add(time.Second)
		s := e.driver.State
		next, err := e.driver.Next()
		if err != nil {
			e.t.Fatal(err)
		}
		switch next {
		case core.NextEnd:
			return
		case core.NextPrecheck:
			err = e.iterate(0, first)
		case core.NextIterate:
			err = e.iterate(s.NextIteration(), first)
			first = false
		case core.NextAsk:
			err = e.ask(*s.Question)
		case core.NextAsked:
			err = e.ask(*s.Unanswered())
		case core.NextAct:
			err = e.driver.Debugged(core.DebugFinished{ExitCode: e.r.IntN(2), Findings: "found"})
		case core.NextExpert:
			err = e.driver.Advised(core.ExpertFinished{ExitCode: e.r.IntN(2), Guidance: "advice"})
		case core.NextConfirm:
			end := e.result()
			if end.Outcome = core.OutcomeNotDone; e.r.IntN(3) == 0 {
				end.Outcome = core.OutcomeDone
			}
			err = e.driver.Confirmed(end, e.r.IntN(3))
		case core.NextWait:
			e.now = *s.Until
			err = e.record(core.WaitFinished{})
		default:
			e.t.Fatalf("next is %s", next)
		}
		if err != nil {
			e.t.Fatalf("%s: %v", next, err)
		}
	}
	e.t.Fatal("the run does not end")
}

func (e *workflow) iterate(n int, first bool) error {
	if i := e.driver.State.Interrupt; i != nil {
		e.t.Fatalf("iteration %d begins after %+v", n, i)
	}
	it, err := e.driver.Begin(n, first)
	if err != nil {
		return err
	}
	if left, ok := e.driver.Remaining(e.active); ok && left <= 0 {
		e.t.Fatalf("iteration %d begins with %s left", n, left)
	}
	e.active += time.Duration(e.r.IntN(90)) * time.Second
	e.now = e.now.Add(time.Minute)
	switch e.r.IntN(12) {
	case 0:
		return e.driver.Withdraw("its worker was lost", e.r.IntN(2) == 0)
	case 1:
		return errors.Join(e.record(core.InterruptReceived{Signal: "SIGTERM", Code: 143}), e.driver.Withdraw("its worker was told to end", true))
	case 2, 3:
		if over, err := e.overtime(); over || err != nil {
			return err
		}
	}
	text := jsonOf(e.t, e.result()) // it comes from another machine
	var result core.IterationResult
	if err := json.Unmarshal(text, &result); err != nil {
		return err
	}
	return e.driver.Finish(it, result)
}

// overtime asks in the middle of the iteration, where a deadline has passed; true: the
// iteration has come to its end.
func (e *workflow) overtime() (bool, error) {
	if err := e.record(core.RunAlive{}); err != nil {
		return false, err
	}
	if tripped, err := e.driver.Overdue(); !tripped || err != nil {
		return false, err
	}
	for {
		next, err := e.driver.Next()
		switch {
		case err != nil:
			return false, err
		case next == core.NextAsk:
			err = e.ask(*e.driver.State.Question)
		case next == core.NextAct:
			err = e.driver.Debugged(core.DebugFinished{ExitCode: 1})
		case next == core.NextGoOn:
			return false, nil
		default:
			return true, e.record(core.IterationFinished{Iteration: e.driver.State.Open, Outcome: core.OutcomeError, Cause: core.CauseMaxRuntime})
		}
		if err != nil {
			return false, err
		}
	}
}

func (e *workflow) result() core.IterationResult {
	r := e.r
	outcomes := []core.Outcome{core.OutcomeNotDone, core.OutcomeNotDone, core.OutcomeNotDone, core.OutcomeError, core.OutcomeWaiting, core.OutcomeDone}
	var d core.IterationResult
	d.Outcome, d.Tree, d.Content = outcomes[r.IntN(len(outcomes)-r.IntN(2))], signature.Hash(1+r.IntN(3)), signature.Hash(1+r.IntN(3))
	failing := r.IntN(4)
	h := signature.Hash(1 + failing)
	d.Check = &core.CheckRun{DurationMS: 1, Hash: h, Loose: h}
	d.Signature = signature.Signature{Kind: signature.KindTestFail, Hash: h, Loose: h, Label: fmt.Sprint("f", failing), Failing: failing, Passed: 1, Total: failing + 1}
	task := rejection.Task{Title: fmt.Sprint("part ", r.IntN(9))}
	for _, data := range []core.Data{
		core.SignalReceived{Signal: signal.Signal{Name: signal.Blocked, Text: "no key"}},
		core.SignalReceived{Signal: signal.Signal{Name: signal.Progress}, Problem: "nonsense"},
		core.SignalReceived{Signal: signal.Signal{Name: signal.Expert}},
		core.QuestionAsked{Question: looptest.Database()},
		core.CostReported{USD: 0.1, Tokens: 7},
		core.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.ScopeCreep, Suggested: "another", Alternatives: []rejection.Task{task}}},
		core.RejectionSubmitted{Rejection: rejection.Rejection{ReasonType: rejection.Blocker}},
	} {
		if r.IntN(6) == 0 {
			d.Said = append(d.Said, data)
		}
	}
	return d
}

// ask has the question answered, deferred, or left.
func (e *workflow) ask(q core.Question) error {
	if err := e.driver.Answer(q.ID+"-other", core.Answer{}); err == nil {
		e.t.Fatal("an answer to no question is taken")
	}
	switch e.r.IntN(12) {
	case 0:
		return e.driver.Unanswered(q.ID, "nobody answered")
	case 1:
		return e.driver.Defer()
	case 2:
		a := core.Advice{Text: "do not", Reason: "so"}
		return e.record(core.AdviceGiven{QuestionID: q.ID, Responder: core.RespondedByAssistant, Advice: a})
	}
	ids := append(q.OptionIDs(), "none of them")
	a := core.Answer{Option: ids[e.r.IntN(len(ids))], Responder: core.RespondedByUser, Person: true, Guidance: "so"}
	if slices.Contains(ids, "decompose") {
		a.Option = "decompose"
	}
	before := e.driver.State.Seq
	err := e.driver.Answer(q.ID, a)
	if (err != nil) != (e.driver.State.Seq == before) || err == nil && a.Option == "none of them" {
		e.t.Fatalf("%q: %v, and event %d is the last after %d", a.Option, err, e.driver.State.Seq, before)
	}
	return nil
}

// lifeOf runs one whole life: it is resumed for as long as it can be.
func lifeOf(t *testing.T, seed uint64, questions core.Questions) []core.Event {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	e := &workflow{t: t, r: r, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	e.driver = core.Driver{
		State: &core.State{}, Now: func() time.Time { return e.now }, Record: e.record,
		Guards: guards.Default(), Questions: questions, Debug: r.IntN(2) == 0,
	}
	limits := core.Limits{
		Iterations: 2 + r.IntN(6), Runtime: time.Duration(2+r.IntN(9)) * time.Minute, Loop: 2 + r.IntN(3), Errors: 1 + r.IntN(3),
		Cost: 0.3, Tokens: 20, IdleIterations: 2, WorkspaceCycles: 2,
	}
	start := core.RunStarted{Confirm: true, RunID: "r", Name: "task", Limits: limits, Caps: core.DefaultCaps(limits), Precheck: r.IntN(3) == 0}
	if r.IntN(2) == 0 {
		start.Ladder = ladder.Config{{Rung: ladder.SelfSolve, Attempts: 2}, {Rung: ladder.Experts, Experts: []ladder.Expert{{Name: "one", Command: "true"}}}, {Rung: ladder.Human}}
	}
	err := e.driver.Start(start)
	for range 4 {
		if err != nil {
			t.Fatal(err)
		}
		e.drive()
		if !e.driver.State.Ending.Status.Resumable() {
			break
		}
		err = e.driver.Resume(core.RunResumed{})
	}
	return e.events
}

// The same calls give the same events, from a state that was text in between too; and
// the events give the state.
func TestDriverFromItsText(t *testing.T) {
	set, err := templates.Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[core.EventType]bool{}
	for n := range rounds.Of(80) {
		seed := uint64(n + 35) // these have every type of event below
		events := lifeOf(t, seed, set)
		if again := lifeOf(t, seed, set); !bytes.Equal(jsonOf(t, events), jsonOf(t, again)) {
			t.Fatalf("seed %d: another course the second time", seed)
		}
		looptest.Replay(t, events)
		for _, e := range events {
			seen[e.Data.Type()] = true
		}
	}
	for _, want := range []core.EventType{
		core.TypeIterationWithdrawn, core.TypeInterruptReceived, core.TypeQuestionAnswered, core.TypeActionApplied, core.TypeDebugFinished,
		core.TypeExpertFinished, core.TypeWaitStarted, core.TypeSubtaskFinished, core.TypeRejectionDecided, core.TypeAdviceGiven, core.TypeMessageRefused, core.TypeRunResumed, core.TypeCheckRerun,
	} {
		if !seen[want] && !testing.Short() { // which tries too few to have them all
			t.Errorf("no run has a %s", want)
		}
	}
}

// A worker that is lost for the third time makes the iteration an error; before that the
// iteration has not begun.
func TestAnIterationIsWithdrawn(t *testing.T) {
	var events []core.Data
	s := &core.State{}
	d := core.Driver{State: s, Now: time.Now, Guards: guards.Default(), Record: func(data core.Data) error {
		events = append(events, data)
		return s.Apply(core.Event{Seq: s.Seq + 1, Data: data})
	}}
	if err := d.Start(core.RunStarted{RunID: "r", Limits: looptest.Defaults}); err != nil {
		t.Fatal(err)
	}
	if err := d.Withdraw("none runs", false); !errors.Is(err, core.ErrEvent) {
		t.Errorf("an iteration is withdrawn that nobody began: %v", err)
	}
	for n := range 6 { // every other one is handed back, which counts for nothing
		if next, err := d.Next(); next != core.NextIterate || err != nil || s.NextIteration() != 1 || s.Crashes != n/2 {
			t.Fatalf("withdrawn %d times: next is %s of %d, %v", n, next, s.NextIteration(), err)
		}
		if _, err := d.Begin(1, true); err != nil {
			t.Fatal(err)
		}
		if err := d.Withdraw("its worker was lost", n%2 == 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Next(); err != nil || s.Iterations != 1 || s.Last.Cause != core.CauseCrash || strings.Contains(s.Last.Detail, "died") || s.ErrorRun != 1 || s.Crashes != 0 {
		t.Errorf("got %+v, %v", s.Last, err)
	}
}

// A state of another format is not read as if it were of this one.
func TestStateFormat(t *testing.T) {
	text := looptest.Encode(t, looptest.Folded(t, looptest.Begun))
	if !bytes.Contains(text, []byte(`"format":1,`)) {
		t.Fatalf("no format in %s", text)
	}
	for format, want := range map[string]int64{`"format":1,`: 1, ``: 0, `"format":2,`: 0, `"format":-1,`: 0, `"format":1,"more":1,`: 0} {
		var s core.State
		if err := json.Unmarshal(bytes.Replace(text, []byte(`"format":1,`), []byte(format), 1), &s); s.Seq != want || (err == nil) != (want == 1) {
			t.Errorf("%q: %v", format, err)
		}
	}
}

// What drives a run reads no clock, starts nothing, and takes nothing from a map in an
// order that is never the same: a workflow engine replays it.
func TestTheDriverIsDeterministic(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	shell := []string{"journal.go", "evidence.go"} // Record takes the time, and Place the home
	files = slices.DeleteFunc(files, func(f string) bool {
		return strings.HasSuffix(f, "_test.go") || slices.Contains(shell, f)
	})
	maps := map[string]bool{}
	var parsed []*ast.File
	set := token.NewFileSet()
	for _, name := range files {
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				if _, ok := n.Type.(*ast.MapType); ok {
					for _, name := range n.Names {
						maps[name.Name] = true
					}
				}
			case *ast.AssignStmt:
				for i, v := range n.Rhs {
					if lit, ok := v.(*ast.CompositeLit); ok {
						if _, ok := lit.Type.(*ast.MapType); ok {
							maps[last(n.Lhs[i])] = true
						}
					}
				}
			}
			return true
		})
	}
	if !maps["ResetAt"] {
		t.Fatal("the state's map is not seen")
	}
	clocks := []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			bad := ""
			switch n := n.(type) {
			case *ast.GoStmt:
				bad = "starts a goroutine"
			case *ast.SelectStmt:
				bad = "waits for channels"
			case *ast.RangeStmt:
				if maps[last(n.X)] {
					bad = "goes over a map"
				}
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
					if pkg, ok := sel.X.(*ast.Ident); ok && (pkg.Name == "time" && slices.Contains(clocks, sel.Sel.Name) || pkg.Name == "rand" || pkg.Name == "os") {
						bad = "calls " + pkg.Name + "." + sel.Sel.Name
					}
				}
			}
			if bad != "" {
				t.Errorf("%s %s", set.Position(n.Pos()), bad)
			}
			return true
		})
	}
}

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// last is the last name of a.b.c.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
