package looprun_test

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

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/escalate/assistant"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/signature"
)

// against is an assistant's rejection that a person is to decide about.
type against struct{ reason string }

func (a against) Error() string          { return a.reason + ": " + looprun.ErrNoAnswer.Error() }
func (a against) Unwrap() error          { return looprun.ErrNoAnswer }
func (a against) Advice() looprun.Advice { return looprun.Assistant{}.AdviseAgainst(a.reason) }

// world is a run that goes through many processes: it is killed, interrupted,
// deferred and resumed, and asks the same questions again.
type world struct {
	t       *testing.T
	seed    uint64
	r       *rand.Rand
	journal killed
	loop    *looprun.Loop
	calls   []call // of an assistant that heeds advice
	polite  looprun.Responder
}

type call struct {
	after int // events
	q     looprun.Question
}

// killed is a journal whose process dies after so many events; 0: it does not.
type killed struct {
	looprun.MemoryJournal
	left int
}

var errKilled = errors.New("killed")

func (j *killed) Append(e looprun.Event) error {
	if j.left--; j.left == 0 {
		return errKilled
	}
	return j.MemoryJournal.Append(e)
}

// asked is a question of the command: two names, two texts, and no name.
func (w *world) asked() looprun.Question {
	q := looprun.Question{
		AskID: []string{"", "q1", "drop", "drop", "keep"}[w.r.IntN(5)], Kind: looprun.KindConfirm,
		Text: []string{"Drop it?", "Drop  IT?", "Really drop it?", "Keep it?"}[w.r.IntN(4)],
	}
	if w.r.IntN(4) == 0 {
		q.Kind, q.Options = looprun.KindSelect, []looprun.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}
	}
	return q
}

func (w *world) Run(ctx context.Context, _ looprun.Iteration) (looprun.IterationResult, error) {
	d := looprun.IterationResult{IterationFinished: looprun.IterationFinished{Outcome: looprun.OutcomeNotDone}}
	d.Signature = signature.Signature{Failing: -1, Passed: -1, Total: -1, Hash: signature.Hash(w.r.IntN(3)), Label: "label"}
	for range w.r.IntN(3) {
		_, _ = w.loop.Ask(ctx, fmt.Sprint(w.r.Int()), w.asked()) // whatever comes of it, the run goes on
	}
	if w.r.IntN(4) == 0 {
		q := w.asked()
		q.Returned = true
		d.Said = append(d.Said, looprun.QuestionAsked{Question: q})
	}
	return d, nil
}

// goOn is an answer that lets the question through.
func goOn(q looprun.Question, by string) looprun.Answer {
	a := looprun.Answer{Option: "continue", Responder: by, Reason: "go on"}
	switch {
	case q.From == looprun.FromCommand && q.Kind == looprun.KindConfirm:
		a.Option = looprun.Yes
	case q.From == looprun.FromCommand:
		a.Option = "a"
	}
	return a
}

func refuses(q looprun.Question, by string) looprun.Answer {
	a := looprun.Answer{Option: "cancel", Responder: by, Reason: "no"}
	if q.From == looprun.FromCommand {
		a = looprun.Answer{Option: looprun.No, Responder: by, Reason: "no"}
	}
	return a
}

// someone answers, one way or another, whether or not it may.
func (w *world) someone(by string) looprun.Responder {
	return looprun.ResponderFunc(func(_ context.Context, q looprun.Question, _ *looprun.State) (looprun.Answer, error) {
		switch n := w.r.IntN(12); {
		case n < 4:
			return looprun.Answer{}, looprun.ErrNoAnswer
		case n == 4:
			return refuses(q, by), nil
		case n == 5 && by == looprun.RespondedByUser:
			return looprun.Answer{}, looprun.ErrInterrupted
		case n < 8:
			return looprun.Answer{}, looprun.ErrDeferred
		}
		a := goOn(q, by)
		if a.Person = by == looprun.RespondedByUser; !a.Person {
			a.Option = []string{a.Option, "accept", "skip", "debug"}[w.r.IntN(4)]
			a.Rule, a.Unlisted = fmt.Sprint("p.yaml:", w.r.Int()), by == looprun.RespondedByPolicy
		}
		return a, nil
	})
}

// heeding is an assistant that is asked only what it may be.
func (w *world) heeding() looprun.Responder {
	return looprun.ResponderFunc(func(ctx context.Context, q looprun.Question, s *looprun.State) (looprun.Answer, error) {
		if q.Advice == nil {
			w.calls = append(w.calls, call{len(w.journal.Events), q})
		}
		if w.polite != nil {
			return w.polite.Respond(ctx, q, s)
		}
		switch {
		case q.Advice != nil:
			return looprun.Answer{}, looprun.ErrNoAnswer
		case w.r.IntN(3) == 0:
			return looprun.Answer{}, against{"it drops a column"}
		case w.r.IntN(3) == 0 && q.Kind == looprun.KindConfirm:
			return refuses(q, looprun.RespondedByAssistant), nil
		}
		return goOn(q, looprun.RespondedByAssistant), nil
	})
}

// live is one process of the run; false: it cannot go on.
func (w *world) live(first bool) bool {
	heeds := w.heeding()
	responders := []looprun.Responder{w.someone(looprun.RespondedByPolicy), heeds, w.someone(looprun.RespondedByUser), w.someone(looprun.RespondedByDetached)}
	if w.r.IntN(3) == 0 { // one that answers whatever it is asked
		responders[1] = w.someone(looprun.RespondedByAssistant)
	}
	w.journal.left = w.r.IntN(60)
	w.loop = &looprun.Loop{
		Guards: guards.Default(), Runner: w, Journal: &w.journal, Questions: asks{}, Responders: responders,
		Debug: debugs(func(context.Context) (looprun.DebugFinished, error) { return looprun.DebugFinished{}, nil }),
	}
	l := looprun.Limits{Iterations: 4, Runtime: time.Hour, Loop: 2, Errors: 3}
	var err error
	if first {
		err = w.loop.Start(looprun.RunStarted{RunID: "r", Limits: l, Caps: looprun.Caps{Iterations: 40}})
	} else {
		s := replay(w.t, w.journal.Events)
		if s.Ended && !s.Ending.Status.Resumable() || s.Seq == 0 {
			return false
		}
		if p := s.Pending(); len(p) > 0 && w.r.IntN(6) == 0 { // a person, at rest
			a := goOn(p[0], looprun.RespondedByUser)
			if a.Person = true; w.r.IntN(2) == 0 {
				a = refuses(p[0], looprun.RespondedByUser)
				a.Person = true
			}
			w.journal.left = 0
			_, _ = looprun.Record(s, &w.journal, nil, s.Elapsed, looprun.QuestionAnswered{QuestionID: p[0].ID, Answer: a})
			w.journal.left = w.r.IntN(60)
		}
		err = w.loop.Resume(*s, looprun.RunResumed{})
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
	asked    map[string]looprun.Question
	rejected []looprun.Question
	signs    []signature.Hash // at the rejections of guards' questions
	sign     signature.Hash
	answer   looprun.QuestionAnswered
	repeats  int
	cleared  int
}

func (m *memory) has(q looprun.Question) bool {
	return slices.ContainsFunc(m.matching(q), func(b bool) bool { return b })
}

func (m *memory) matching(q looprun.Question) []bool {
	text := func(q looprun.Question) string {
		return strings.ToLower(strings.Join(strings.Fields(q.Text), " ")) + string(q.Kind)
	}
	out := make([]bool, len(m.rejected))
	for i, r := range m.rejected {
		switch {
		case q.From != r.From:
		case q.From == looprun.FromCommand:
			out[i] = text(q) == text(r) || q.AskID == r.AskID && q.AskID != "" && q.AskID != "q1"
		default:
			out[i] = q.Guard == r.Guard && (m.signs[i] == m.sign || m.signs[i] == 0 || m.sign == 0)
		}
	}
	return out
}

func (m *memory) reject(q looprun.Question) {
	m.rejected, m.signs = append(m.rejected, q), append(m.signs, m.sign)
}

func (m *memory) clear(q looprun.Question) {
	matching := m.matching(q)
	var rejected []looprun.Question
	var signs []signature.Hash
	for i := range matching {
		if !matching[i] {
			rejected, signs = append(rejected, m.rejected[i]), append(signs, m.signs[i])
		}
	}
	m.cleared += len(m.rejected) - len(rejected)
	m.rejected, m.signs = rejected, signs
}

func (m *memory) see(e looprun.Event) {
	switch d := e.Data.(type) {
	case looprun.IterationFinished:
		m.sign = d.Signature.Hash
	case looprun.QuestionAsked:
		m.asked[d.ID] = d.Question
		if m.has(d.Question) {
			if m.repeats++; d.From == looprun.FromCommand {
				m.reject(d.Question)
			}
		}
	case looprun.AdviceGiven:
		m.reject(m.asked[d.QuestionID])
	case looprun.QuestionAnswered:
		m.answered(e, d)
	case looprun.ActionApplied:
		if m.answer.Person && d.Action != looprun.ActionCancel && d.Action != looprun.ActionPause && !d.Pending {
			m.clear(m.asked[m.answer.QuestionID])
		}
		if d.Action == looprun.ActionContinue && m.has(m.asked[m.answer.QuestionID]) {
			m.w.t.Fatalf("seed %d, event %d: it goes on, and nobody said so: %+v", m.w.seed, e.Seq, d)
		}
	}
}

func (m *memory) answered(e looprun.Event, d looprun.QuestionAnswered) {
	q := m.asked[d.QuestionID]
	command := q.From == looprun.FromCommand
	if command && d.Person && (q.Kind != looprun.KindConfirm || d.Option == looprun.Yes) {
		m.clear(q)
	}
	if !command {
		m.answer = d
	}
	no := command && d.Option == looprun.No || !command && slices.Contains([]string{"cancel", "pause"}, d.Option)
	if !d.Person && !no && m.has(q) {
		m.w.t.Fatalf("seed %d, event %d: %s answers %q to what was rejected, %+v", m.w.seed, e.Seq, d.Responder, d.Option, q)
	}
	if d.Responder == looprun.RespondedByAssistant && (command && d.Option == looprun.No || !command && d.Option == "cancel") {
		m.reject(q)
	}
}

// check reads the journal again, and what the assistant was asked meanwhile.
func (w *world) check() *memory {
	m := &memory{w: w, asked: map[string]looprun.Question{}}
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
	all := rounds.Of(80)
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
func advised(t *testing.T, n int) *looprun.State {
	t.Helper()
	s := folded(t, begun, first)
	for i := range n {
		apply(t, s, commandConfirms(fmt.Sprint("ask-", i), fmt.Sprint("Drop table ", i, "?")))
		apply(t, s, looprun.AdviceGiven{QuestionID: fmt.Sprint("ask-", i), Advice: looprun.Advice{Text: "do not"}})
		apply(t, s, looprun.QuestionAnswered{QuestionID: fmt.Sprint("ask-", i), Answer: looprun.Answer{Option: looprun.No, Responder: looprun.RespondedByAssistant}})
		apply(t, s, looprun.QuestionDelivered{QuestionID: fmt.Sprint("ask-", i), To: "socket"})
	}
	return s
}

func commandConfirms(id, text string) looprun.QuestionAsked {
	return looprun.QuestionAsked{Question: looprun.Question{ID: id, From: looprun.FromCommand, Kind: looprun.KindConfirm, Text: text}}
}

func apply(t *testing.T, s *looprun.State, d looprun.Data) {
	t.Helper()
	if err := s.Apply(looprun.Event{Seq: s.Seq + 1, Data: d}); err != nil {
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
		apply(t, s, looprun.QuestionAnswered{QuestionID: "again", Answer: looprun.Answer{Option: looprun.Yes, Responder: looprun.RespondedByUser, Person: true}})
		apply(t, s, commandConfirms("new", "May I?"))
		if q := s.Asked[1].Question; (q.Advice != nil) != c.want {
			t.Errorf("after %d: another question has the advice %+v, want some %v", c.rejected, q.Advice, c.want)
		}
		if len(s.Advised) > 64 {
			t.Errorf("after %d: %d are kept", c.rejected, len(s.Advised))
		}
	}
}

// In journals of the first edition an assistant could say yes after its no. That is
// no person's, so the question is still a rejected one.
func TestAnOldYesAfterANoLetsNothingThrough(t *testing.T) {
	s := folded(t, begun, first, commandConfirms("ask-1", "Drop it?"),
		looprun.AdviceGiven{QuestionID: "ask-1", Advice: looprun.Advice{Text: "The assistant recommended rejecting this: “no”"}},
		looprun.QuestionAnswered{QuestionID: "ask-1", Answer: looprun.Answer{Option: looprun.Yes, Responder: looprun.RespondedByAssistant}},
		looprun.QuestionDelivered{QuestionID: "ask-1", To: "socket"}, commandConfirms("ask-2", "Drop it?"))
	if s.Asked[0].Question.Advice == nil {
		t.Error("it is asked as if nothing had been said")
	}
}

// A person reads what was said first, and nothing is preselected.
func TestAQuestionForAPersonBeginsWithTheAdvice(t *testing.T) {
	advice := looprun.Assistant{}.AdviseAgainst("It is\x1b[31m stuck.")
	q := looprun.Question{Text: "Go on?", Default: "continue", Advice: &advice, Details: []string{advice.Text, "3 of 3"}}
	got := q.ForPerson()
	if want := "The assistant recommended rejecting this: “It is stuck.”\n\nGo on?"; got.Text != want || got.Default != "" || !got.Open || !slices.Equal(got.Details, []string{"3 of 3"}) {
		t.Errorf("%+v", got)
	}
	if q.Default == "" || len(q.Details) != 2 {
		t.Errorf("the question itself was changed: %+v", q)
	}
	if text := (looprun.Assistant{}).AdviseAgainst(" \n").Text; text != "The assistant recommended rejecting this: (no reason given)" {
		t.Errorf("%q", text)
	}
	if q := (looprun.Question{Text: "Go on?", Default: "continue"}); q.ForPerson().Default != "continue" {
		t.Error("a question without advice loses its default")
	}
}

// After advice an answer that is no person's may only stop.
func TestWhatMayBeAnsweredAgainstAdvice(t *testing.T) {
	advice := looprun.Assistant{}.AdviseAgainst("stuck")
	trip := looprun.Question{Advice: &advice, Options: []looprun.Option{
		{ID: "continue", Action: looprun.ActionContinue},
		{ID: "accept", Action: looprun.ActionAccept},
		{ID: "skip", Action: looprun.ActionSkip},
		{ID: "debug", Action: looprun.ActionDebug},
		{ID: "run", Action: looprun.ActionRun},
		{ID: "decompose", Action: looprun.ActionDecompose},
		{ID: "cancel", Action: looprun.ActionCancel},
		{ID: "pause", Action: looprun.ActionPause},
		{ID: "reject", Action: looprun.ActionReject},
	}}
	for _, o := range trip.Options {
		_, err := trip.Resolve(looprun.Answer{Option: o.ID, Responder: looprun.RespondedByPolicy})
		if stops := slices.Contains([]string{"cancel", "pause", "reject"}, o.ID); (err == nil) != stops {
			t.Errorf("a policy's %s: %v", o.ID, err)
		}
		if _, err := trip.Resolve(looprun.Answer{Option: o.ID, Responder: looprun.RespondedByUser, Person: true}); err != nil {
			t.Errorf("a person's %s: %v", o.ID, err)
		}
	}
	trip.Options = nil
	for _, option := range []string{"accept", "pause"} {
		_, err := trip.Resolve(looprun.Answer{Option: option, Unlisted: true, Responder: looprun.RespondedByPolicy})
		if (err == nil) != (option == "pause") {
			t.Errorf("a policy's unlisted %s: %v", option, err)
		}
	}
}

// Nobody's silence lets through what was rejected, however the asker reads it.
func TestNobodyAnswersWhatWasRejected(t *testing.T) {
	var got []error
	var loop *looprun.Loop
	r := works(func(ctx context.Context, _ looprun.Iteration) looprun.IterationFinished {
		for _, q := range []looprun.Question{
			{AskID: "drop", Kind: looprun.KindConfirm, Text: "Drop it?"},
			{AskID: "drop", Kind: looprun.KindConfirm, Text: "Drop it?", Exclusive: true},
			{AskID: "drop", Kind: looprun.KindSelect, Text: "Drop it?", Options: []looprun.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}},
		} {
			a, err := loop.Ask(ctx, fmt.Sprint(len(got)), q)
			if err == nil && a.Answer.Option != looprun.No {
				t.Errorf("answered %+v", a.Answer)
			}
			got = append(got, err)
		}
		return looprun.IterationFinished{Outcome: looprun.OutcomeDone}
	})
	rejects := looprun.ResponderFunc(func(_ context.Context, q looprun.Question, _ *looprun.State) (looprun.Answer, error) {
		if q.Advice != nil {
			return looprun.Answer{}, looprun.ErrNoAnswer
		}
		return looprun.Answer{}, against{"it drops a column"}
	})
	run := start(t, defaults, r, rejects)
	loop = run.Loop
	run.run(t)
	if len(got) != 3 || got[0] != nil || !errors.Is(got[1], looprun.ErrAdvised) || !errors.Is(got[2], looprun.ErrAdvised) || !errors.Is(got[2], looprun.ErrNoAnswer) {
		t.Errorf("got %v", got)
	}
}

// A guard's question is the same at the same signature; one that is not known could
// be any.
func TestAdviceOnAGuardsQuestion(t *testing.T) {
	for _, c := range []struct {
		then, now signature.Hash
		guard     looprun.GuardID
		want      bool
	}{
		{1, 1, looprun.LoopDetected, true},
		{1, 2, looprun.LoopDetected, false},
		{1, 0, looprun.LoopDetected, true},
		{0, 2, looprun.LoopDetected, true},
		{1, 1, looprun.MaxIterations, false},
	} {
		ended := func(n int, h signature.Hash) looprun.IterationFinished {
			d := looprun.IterationFinished{Iteration: n, Outcome: looprun.OutcomeNotDone}
			d.Signature.Hash = h
			return d
		}
		asked := question
		asked.Guard = looprun.LoopDetected
		s := folded(t, begun, first, ended(1, c.then), tripped, asked,
			looprun.AdviceGiven{QuestionID: "q", Advice: looprun.Advice{Text: "do not"}}, looprun.QuestionClosed{QuestionID: "q"},
			looprun.IterationStarted{Iteration: 2}, ended(2, c.now), looprun.GuardTripped{Trip: looprun.Trip{Guard: c.guard, Iteration: 2}})
		asked.Guard = c.guard
		apply(t, s, asked)
		if (s.Question.Advice != nil) != c.want {
			t.Errorf("rejected at %d, asked by %s at %d: the advice is %+v, want some %v", c.then, c.guard, c.now, s.Question.Advice, c.want)
		}
	}
}
