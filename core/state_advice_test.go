package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/escalate/assistant"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/signature"
)

// against is an assistant's rejection that a person is to decide about.
type against struct{ reason string }

func (a against) Error() string       { return a.reason + ": " + core.ErrNoAnswer.Error() }
func (a against) Unwrap() error       { return core.ErrNoAnswer }
func (a against) Advice() core.Advice { return core.Assistant{}.AdviseAgainst(a.reason) }

// world is a run that goes through many processes: it is killed, interrupted,
// deferred and resumed, and asks the same questions again.
type world struct {
	t       *testing.T
	seed    uint64
	r       *rand.Rand
	journal killed
	loop    *engine.Loop
	calls   []call // of an assistant that heeds advice
	polite  core.Responder
}

type call struct {
	after int // events
	q     core.Question
}

// killed is a journal whose process dies after so many events; 0: it does not.
type killed struct {
	core.MemoryJournal
	left int
}

var errKilled = errors.New("killed")

func (j *killed) Append(e core.Event) error {
	if j.left--; j.left == 0 {
		return errKilled
	}
	return j.MemoryJournal.Append(e)
}

// asked is a question of the command: two names, two texts, and no name.
func (w *world) asked() core.Question {
	q := core.Question{
		AskID: []string{"", "q1", "drop", "drop", "keep"}[w.r.IntN(5)], Kind: core.KindConfirm,
		Text: []string{"Drop it?", "Drop  IT?", "Really drop it?", "Keep it?"}[w.r.IntN(4)],
	}
	if w.r.IntN(4) == 0 {
		q.Kind, q.Options = core.KindSelect, []core.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}
	}
	return q
}

func (w *world) Run(ctx context.Context, _ core.Iteration) (core.IterationResult, error) {
	d := core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeNotDone}}
	d.Signature = signature.Signature{Failing: -1, Passed: -1, Total: -1, Hash: signature.Hash(w.r.IntN(3)), Label: "label"}
	for range w.r.IntN(3) {
		_, _ = w.loop.Ask(ctx, fmt.Sprint(w.r.Int()), w.asked()) // whatever comes of it, the run goes on
	}
	if w.r.IntN(4) == 0 {
		q := w.asked()
		q.Returned = true
		d.Said = append(d.Said, core.QuestionAsked{Question: q})
	}
	return d, nil
}

// goOn is an answer that lets the question through.
func goOn(q core.Question, by string) core.Answer {
	a := core.Answer{Option: "continue", Responder: by, Reason: "go on"}
	switch {
	case q.From == core.FromCommand && q.Kind == core.KindConfirm:
		a.Option = core.Yes
	case q.From == core.FromCommand:
		a.Option = "a"
	}
	return a
}

func refuses(q core.Question, by string) core.Answer {
	a := core.Answer{Option: "cancel", Responder: by, Reason: "no"}
	if q.From == core.FromCommand {
		a = core.Answer{Option: core.No, Responder: by, Reason: "no"}
	}
	return a
}

// someone answers, one way or another, whether or not it may.
func (w *world) someone(by string) core.Responder {
	return core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
		switch n := w.r.IntN(12); {
		case n < 4:
			return core.Answer{}, core.ErrNoAnswer
		case n == 4:
			return refuses(q, by), nil
		case n == 5 && by == core.RespondedByUser:
			return core.Answer{}, core.ErrInterrupted
		case n < 8:
			return core.Answer{}, core.ErrDeferred
		}
		a := goOn(q, by)
		if a.Person = by == core.RespondedByUser; !a.Person {
			a.Option = []string{a.Option, "accept", "skip", "debug"}[w.r.IntN(4)]
			a.Rule, a.Unlisted = fmt.Sprint("p.yaml:", w.r.Int()), by == core.RespondedByPolicy
		}
		return a, nil
	})
}

// heeding is an assistant that is asked only what it may be.
func (w *world) heeding() core.Responder {
	return core.ResponderFunc(func(ctx context.Context, q core.Question, s *core.State) (core.Answer, error) {
		if q.Advice == nil {
			w.calls = append(w.calls, call{len(w.journal.Events), q})
		}
		if w.polite != nil {
			return w.polite.Respond(ctx, q, s)
		}
		switch {
		case q.Advice != nil:
			return core.Answer{}, core.ErrNoAnswer
		case w.r.IntN(3) == 0:
			return core.Answer{}, against{"it drops a column"}
		case w.r.IntN(3) == 0 && q.Kind == core.KindConfirm:
			return refuses(q, core.RespondedByAssistant), nil
		}
		return goOn(q, core.RespondedByAssistant), nil
	})
}

// live is one process of the run; false: it cannot go on.
func (w *world) live(first bool) bool {
	heeds := w.heeding()
	responders := []core.Responder{w.someone(core.RespondedByPolicy), heeds, w.someone(core.RespondedByUser), w.someone(core.RespondedByDetached)}
	if w.r.IntN(3) == 0 { // one that answers whatever it is asked
		responders[1] = w.someone(core.RespondedByAssistant)
	}
	w.journal.left = w.r.IntN(60)
	w.loop = &engine.Loop{
		Guards: guards.Default(), Runner: w, Journal: &w.journal, Questions: looptest.Asks{}, Responders: responders,
		Debug: looptest.Debugs(func(context.Context) (core.DebugFinished, error) { return core.DebugFinished{}, nil }),
	}
	l := core.Limits{Iterations: 4, Runtime: time.Hour, Loop: 2, Errors: 3}
	var err error
	if first {
		err = w.loop.Start(core.RunStarted{RunID: "r", Limits: l, Caps: core.Caps{Iterations: 40}})
	} else {
		s := looptest.Replay(w.t, w.journal.Events)
		if s.Ended && !s.Ending.Status.Resumable() || s.Seq == 0 {
			return false
		}
		if p := s.Pending(); len(p) > 0 && w.r.IntN(6) == 0 { // a person, at rest
			a := goOn(p[0], core.RespondedByUser)
			if a.Person = true; w.r.IntN(2) == 0 {
				a = refuses(p[0], core.RespondedByUser)
				a.Person = true
			}
			w.journal.left = 0
			_, _ = core.Record(s, &w.journal, nil, s.Elapsed, core.QuestionAnswered{QuestionID: p[0].ID, Answer: a})
			w.journal.left = w.r.IntN(60)
		}
		err = w.loop.Resume(*s, core.RunResumed{})
	}
	if err == nil {
		_, err = w.loop.Run(w.t.Context())
	}
	if err != nil && !errors.Is(err, errKilled) {
		w.t.Fatalf("seed %d: %v", w.seed, err)
	}
	return true
}

// memory is what must be remembered of the journal, found out anew: the questions
// that were rejected and that no person has let through.
type memory struct {
	w        *world
	asked    map[string]core.Question
	rejected []core.Question
	signs    []signature.Hash // at the rejections of guards' questions
	sign     signature.Hash
	answer   core.QuestionAnswered
	repeats  int
	cleared  int
}

func (m *memory) has(q core.Question) bool {
	return slices.ContainsFunc(m.matching(q), func(b bool) bool { return b })
}

func (m *memory) matching(q core.Question) []bool {
	text := func(q core.Question) string {
		return strings.ToLower(strings.Join(strings.Fields(q.Text), " ")) + string(q.Kind)
	}
	out := make([]bool, len(m.rejected))
	for i, r := range m.rejected {
		switch {
		case q.From != r.From:
		case q.From == core.FromCommand:
			out[i] = text(q) == text(r) || q.AskID == r.AskID && q.AskID != "" && q.AskID != "q1"
		default:
			out[i] = q.Guard == r.Guard && (m.signs[i] == m.sign || m.signs[i] == 0 || m.sign == 0)
		}
	}
	return out
}

func (m *memory) reject(q core.Question) {
	m.rejected, m.signs = append(m.rejected, q), append(m.signs, m.sign)
}

func (m *memory) clear(q core.Question) {
	matching := m.matching(q)
	var rejected []core.Question
	var signs []signature.Hash
	for i := range matching {
		if !matching[i] {
			rejected, signs = append(rejected, m.rejected[i]), append(signs, m.signs[i])
		}
	}
	m.cleared += len(m.rejected) - len(rejected)
	m.rejected, m.signs = rejected, signs
}

func (m *memory) see(e core.Event) {
	switch d := e.Data.(type) {
	case core.IterationFinished:
		m.sign = d.Signature.Hash
	case core.QuestionAsked:
		m.asked[d.ID] = d.Question
		if m.has(d.Question) {
			if m.repeats++; d.From == core.FromCommand {
				m.reject(d.Question)
			}
		}
	case core.AdviceGiven:
		m.reject(m.asked[d.QuestionID])
	case core.QuestionAnswered:
		m.answered(e, d)
	case core.ActionApplied:
		if m.answer.Person && d.Action != core.ActionCancel && d.Action != core.ActionPause && !d.Pending {
			m.clear(m.asked[m.answer.QuestionID])
		}
		if d.Action == core.ActionContinue && m.has(m.asked[m.answer.QuestionID]) {
			m.w.t.Fatalf("seed %d, event %d: it goes on, and nobody said so: %+v", m.w.seed, e.Seq, d)
		}
	}
}

func (m *memory) answered(e core.Event, d core.QuestionAnswered) {
	q := m.asked[d.QuestionID]
	command := q.From == core.FromCommand
	if command && d.Person && (q.Kind != core.KindConfirm || d.Option == core.Yes) {
		m.clear(q)
	}
	if !command {
		m.answer = d
	}
	no := command && d.Option == core.No || !command && slices.Contains([]string{"cancel", "pause"}, d.Option)
	if !d.Person && !no && m.has(q) {
		m.w.t.Fatalf("seed %d, event %d: %s answers %q to what was rejected, %+v", m.w.seed, e.Seq, d.Responder, d.Option, q)
	}
	if d.Responder == core.RespondedByAssistant && (command && d.Option == core.No || !command && d.Option == "cancel") {
		m.reject(q)
	}
}

// check reads the journal again, and what the assistant was asked meanwhile.
func (w *world) check() *memory {
	m := &memory{w: w, asked: map[string]core.Question{}}
	calls := w.calls
	for i, e := range w.journal.Events {
		for len(calls) > 0 && calls[0].after == i {
			w.called(m, calls[0])
			calls = calls[1:]
		}
		m.see(e)
	}
	for _, c := range calls {
		w.called(m, c)
	}
	return m
}

func (w *world) called(m *memory, c call) {
	if m.has(c.q) {
		w.t.Fatalf("seed %d, after event %d: an assistant is asked what was rejected: %+v", w.seed, c.after, c.q)
	}
}

// There is no way from an assistant's no to going on without a person, through any
// order of asking, advising, deferring, being killed, interrupted and resumed, and
// asking again under the same name or in the same words.
func TestNothingGoesOnAgainstAdvice(t *testing.T) {
	repeats, cleared, lives := 0, 0, 0
	all := max(8, rounds.Of(25))
	for seed := range uint64(all) {
		w := &world{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 15))}
		for n := 0; n < 12 && w.live(n == 0); n++ {
			lives++
		}
		m := w.check()
		repeats, cleared = repeats+m.repeats, cleared+m.cleared
	}
	if 10*repeats < 8*all || 10*cleared < 8*all || lives < 4*all {
		t.Errorf("%d rejected questions were asked again, persons let %d through, %d processes: too few to say anything", repeats, cleared, lives)
	}
}

// The same with the real assistant, which says no or yes as it likes.
func TestTheAssistantIsNotAskedAgain(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "assistant.sh")
	if err := os.WriteFile(script, []byte(`read -r line <"$1"; tail -n +2 "$1" >"$1.new"; mv "$1.new" "$1"
case $(cat) in
*'"kind":"confirm"'*) echo '{"reason": "so", "answer": '"$line"'}' ;;
*'"new_approach"'*|*'"guard":'*) [ "$line" = true ] && echo '{"reason": "so", "answer": "continue"}' || echo '{"reason": "so", "answer": "cancel"}' ;;
*) echo '{"reason": "so", "answer": "a"}' ;;
esac`), 0o600); err != nil {
		t.Fatal(err)
	}
	repeats := 0
	for seed := range uint64(12) {
		w := &world{t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 16))}
		said := filepath.Join(dir, fmt.Sprint(seed))
		var lines strings.Builder
		for range 400 {
			fmt.Fprintln(&lines, w.r.IntN(2) == 0)
		}
		if err := os.WriteFile(said, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		w.polite = assistant.New(assistant.Options{Command: fmt.Sprintf("sh %s %s", script, said), Escalation: seed%2 == 0, Delays: []time.Duration{}})
		for n := 0; n < 6 && w.live(n == 0); n++ {
		}
		if len(w.calls) == 0 {
			continue
		}
		repeats += w.check().repeats
	}
	if repeats == 0 {
		t.Error("no rejected question was asked again")
	}
}

// advised is the state of a run in which an assistant rejected so many questions.
func advised(t *testing.T, n int) *core.State {
	t.Helper()
	s := looptest.Folded(t, looptest.Begun, looptest.First)
	for i := range n {
		apply(t, s, commandConfirms(fmt.Sprint("ask-", i), fmt.Sprint("Drop table ", i, "?")))
		apply(t, s, core.AdviceGiven{QuestionID: fmt.Sprint("ask-", i), Advice: core.Advice{Text: "do not"}})
		apply(t, s, core.QuestionAnswered{QuestionID: fmt.Sprint("ask-", i), Answer: core.Answer{Option: core.No, Responder: core.RespondedByAssistant}})
		apply(t, s, core.QuestionDelivered{QuestionID: fmt.Sprint("ask-", i), To: "socket"})
	}
	return s
}

func commandConfirms(id, text string) core.QuestionAsked {
	return core.QuestionAsked{Question: core.Question{ID: id, From: core.FromCommand, Kind: core.KindConfirm, Text: text}}
}

func apply(t *testing.T, s *core.State, d core.Data) {
	t.Helper()
	if err := s.Apply(core.Event{Seq: s.Seq + 1, Data: d}); err != nil {
		t.Fatal(err)
	}
}

// What is remembered is bounded, and past the bound every question is a person's,
// also when that person has let some through.
func TestAdviceBeyondWhatIsKeptIsOnEverything(t *testing.T) {
	for _, c := range []struct {
		rejected int
		want     bool
	}{{3, false}, {64, false}, {65, true}} {
		s := advised(t, c.rejected)
		apply(t, s, commandConfirms("again", "Drop table 1?"))
		if s.Asked[0].Question.Advice == nil {
			t.Errorf("after %d: a rejected question is asked as if it were new", c.rejected)
		} else if q := s.Asked[0].Question; !slices.Contains(q.Details, q.Advice.Text) {
			t.Errorf("after %d: who answers elsewhere reads %q", c.rejected, q.Details)
		}
		apply(t, s, core.QuestionAnswered{QuestionID: "again", Answer: core.Answer{Option: core.Yes, Responder: core.RespondedByUser, Person: true}})
		apply(t, s, commandConfirms("new", "May I?"))
		if q := s.Asked[1].Question; (q.Advice != nil) != c.want {
			t.Errorf("after %d: another question has the advice %+v, want some %v", c.rejected, q.Advice, c.want)
		}
		if len(s.Advised) > 64 {
			t.Errorf("after %d: %d are kept", c.rejected, len(s.Advised))
		}
	}
}

// A person reads what was said first, and nothing is preselected.
func TestAQuestionForAPersonBeginsWithTheAdvice(t *testing.T) {
	advice := core.Assistant{}.AdviseAgainst("It is\x1b[31m stuck.")
	q := core.Question{Text: "Go on?", Default: "continue", Advice: &advice, Details: []string{advice.Text, "3 of 3"}}
	got := q.ForPerson()
	if want := "The assistant recommended rejecting this: “It is stuck.”\n\nGo on?"; got.Text != want || got.Default != "" || !got.Open || !slices.Equal(got.Details, []string{"3 of 3"}) {
		t.Errorf("%+v", got)
	}
	if q.Default == "" || len(q.Details) != 2 {
		t.Errorf("the question itself was changed: %+v", q)
	}
	if text := (core.Assistant{}).AdviseAgainst(" \n").Text; text != "The assistant recommended rejecting this: (no reason given)" {
		t.Errorf("%q", text)
	}
	if q := (core.Question{Text: "Go on?", Default: "continue"}); q.ForPerson().Default != "continue" {
		t.Error("a question without advice loses its default")
	}
}

// After advice an answer that is no person's may only stop.
func TestWhatMayBeAnsweredAgainstAdvice(t *testing.T) {
	advice := core.Assistant{}.AdviseAgainst("stuck")
	trip := core.Question{Advice: &advice, Options: []core.Option{
		{ID: "continue", Action: core.ActionContinue},
		{ID: "accept", Action: core.ActionAccept},
		{ID: "skip", Action: core.ActionSkip},
		{ID: "debug", Action: core.ActionDebug},
		{ID: "run", Action: core.ActionRun},
		{ID: "decompose", Action: core.ActionDecompose},
		{ID: "cancel", Action: core.ActionCancel},
		{ID: "pause", Action: core.ActionPause},
		{ID: "reject", Action: core.ActionReject},
	}}
	for _, o := range trip.Options {
		_, err := trip.Resolve(core.Answer{Option: o.ID, Responder: core.RespondedByPolicy})
		if stops := slices.Contains([]string{"cancel", "pause", "reject"}, o.ID); (err == nil) != stops {
			t.Errorf("a policy's %s: %v", o.ID, err)
		}
		if _, err := trip.Resolve(core.Answer{Option: o.ID, Responder: core.RespondedByUser, Person: true}); err != nil {
			t.Errorf("a person's %s: %v", o.ID, err)
		}
	}
	trip.Options = nil
	for _, option := range []string{"accept", "pause"} {
		_, err := trip.Resolve(core.Answer{Option: option, Unlisted: true, Responder: core.RespondedByPolicy})
		if (err == nil) != (option == "pause") {
			t.Errorf("a policy's unlisted %s: %v", option, err)
		}
	}
}

// Nobody's silence lets through what was rejected, however the asker reads it.
func TestNobodyAnswersWhatWasRejected(t *testing.T) {
	var got []error
	var loop *engine.Loop
	r := looptest.Works(func(ctx context.Context, _ core.Iteration) core.IterationFinished {
		for _, q := range []core.Question{
			{AskID: "drop", Kind: core.KindConfirm, Text: "Drop it?"},
			{AskID: "drop", Kind: core.KindConfirm, Text: "Drop it?", Exclusive: true},
			{AskID: "drop", Kind: core.KindSelect, Text: "Drop it?", Options: []core.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}},
		} {
			a, err := loop.Ask(ctx, fmt.Sprint(len(got)), q)
			if err == nil && a.Answer.Option != core.No {
				t.Errorf("answered %+v", a.Answer)
			}
			got = append(got, err)
		}
		return core.IterationFinished{Outcome: core.OutcomeDone}
	})
	rejects := core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
		if q.Advice != nil {
			return core.Answer{}, core.ErrNoAnswer
		}
		return core.Answer{}, against{"it drops a column"}
	})
	run := looptest.Start(t, looptest.Defaults, r, rejects)
	loop = run.Loop
	run.ToEnd(t)
	if len(got) != 3 || got[0] != nil || !errors.Is(got[1], core.ErrAdvised) || !errors.Is(got[2], core.ErrAdvised) || !errors.Is(got[2], core.ErrNoAnswer) {
		t.Errorf("got %v", got)
	}
}

// A guard's question is the same at the same signature; one that is not known could
// be any.
func TestAdviceOnAGuardsQuestion(t *testing.T) {
	for _, c := range []struct {
		then, now signature.Hash
		guard     core.GuardID
		want      bool
	}{
		{1, 1, core.LoopDetected, true},
		{1, 2, core.LoopDetected, false},
		{1, 0, core.LoopDetected, true},
		{0, 2, core.LoopDetected, true},
		{1, 1, core.MaxIterations, false},
	} {
		ended := func(n int, h signature.Hash) core.IterationFinished {
			d := core.IterationFinished{Iteration: n, Outcome: core.OutcomeNotDone}
			d.Signature.Hash = h
			return d
		}
		asked := looptest.Question
		asked.Guard = core.LoopDetected
		s := looptest.Folded(t, looptest.Begun, looptest.First, ended(1, c.then), looptest.Tripped, asked,
			core.AdviceGiven{QuestionID: "q", Advice: core.Advice{Text: "do not"}}, core.QuestionClosed{QuestionID: "q"},
			core.IterationStarted{Iteration: 2}, ended(2, c.now), core.GuardTripped{Trip: core.Trip{Guard: c.guard, Iteration: 2}})
		asked.Guard = c.guard
		apply(t, s, asked)
		if (s.Question.Advice != nil) != c.want {
			t.Errorf("rejected at %d, asked by %s at %d: the advice is %+v, want some %v", c.then, c.guard, c.now, s.Question.Advice, c.want)
		}
	}
}
