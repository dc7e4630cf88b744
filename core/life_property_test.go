package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// mortal is a journal that takes so many records and then no more, as when looprun is
// killed; negative: it takes all.
type mortal struct {
	core.MemoryJournal
	left int
}

var errNoMore = errors.New("killed")

func (m *mortal) Append(e core.Event) error {
	if m.left == 0 {
		return errNoMore
	}
	m.left--
	return m.MemoryJournal.Append(e)
}

// life is a run from its start over every resume to its end, and the model of what
// must hold in it. The model reads the events one by one and computes nothing that the
// state computes for it.
type life struct {
	t       *testing.T
	r       *rand.Rand
	seed    uint64
	journal mortal
	state   *core.State
	mask    func(string) string
	backoff engine.Backoff
	fresh   bool // no iteration has run since the last resume
	deadly  int  // how often it is killed at once
	guided  int  // guidance that was made up

	counts   *core.IterationFinished // the last that is evidence
	baseline *core.Progress
	counted  int
	limits   core.Limits
	prechk   bool         // the precheck is still to be run
	pending  []string     // guidance that no iteration has had yet
	held     string       // guidance that holds until other words replace it
	had      []string     // guidance of the running iteration
	unread   int          // signals in a row, and as it was when the iteration began
	before   int          //
	returned core.Outcome // what the runner returned
	answer   *core.Answer // recorded, and not yet carried out
	over     core.Status  // what somebody decided for good
	until    *time.Time   // what has to be waited out
	ended    time.Time    // the last iteration
	tripped  core.GuardTripped
}

// lockedSource can be drawn from while an iteration runs and somebody is asked.
type lockedSource struct {
	mu sync.Mutex
	rand.Source
}

func (s *lockedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Source.Uint64()
}

func (l *life) fail(format string, args ...any) {
	l.t.Helper()
	var story []string
	for _, e := range l.journal.Events[max(0, len(l.journal.Events)-25):] {
		story = append(story, fmt.Sprintf("%d %s %.200s", e.Seq, e.Data.Type(), fmt.Sprintf("%+v", e.Data)))
	}
	l.t.Fatalf("seed %d: %s\n%s", l.seed, fmt.Sprintf(format, args...), strings.Join(story, "\n"))
}

// Run is one iteration, of any kind that there is.
func (l *life) Run(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
	r := l.r
	want := l.pending
	if l.held != "" && !slices.Contains(want, l.held) {
		want = append([]string{l.held}, want...)
	}
	if got := strings.Fields(it.Guidance); it.Number > 0 && !slices.Equal(tokens(got), want) {
		l.fail("iteration %d is told %v, want %v", it.Number, tokens(got), want)
	}
	l.had, l.fresh = slices.Clone(l.pending), l.fresh && it.Number == 0
	d := core.IterationResult{IterationFinished: core.IterationFinished{Outcome: core.OutcomeNotDone, ExitCode: 1}}
	failing := r.IntN(5)
	switch r.IntN(12) {
	case 0, 1:
		d.Outcome = core.OutcomeError
	case 2, 3:
		d.Outcome = core.OutcomeWaiting
	case 4:
		if it.Number > 2 {
			d.Outcome, d.ExitCode = core.OutcomeDone, 0
		}
	}
	for range []int{0, 0, 1, 2, 3}[r.IntN(5)] {
		if it.Number > 0 {
			d.Said = append(d.Said, core.SignalReceived{Signal: signal.Signal{Name: signal.Progress}, Problem: "nonsense"})
		}
	}
	select {
	case <-time.After(time.Duration(r.IntN(6)) * time.Minute):
	case <-ctx.Done():
		failing = 0 // what it printed so far has fewer failures
	}
	h := signature.Hash(1 + failing)
	d.Signature = signature.Signature{Kind: signature.KindTestFail, Hash: h, Loose: h, Label: fmt.Sprint("f", failing), Failing: failing, Passed: 1, Total: failing + 1}
	l.returned = d.Outcome
	return d, nil
}

// tokens are the pieces of guidance that the test made.
func tokens(words []string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, "g#") })
}

// answers is everybody who can be asked: a rule that always goes on, somebody who
// decides anything, or nobody.
func (l *life) answers(ctx context.Context, q core.Question, _ *core.State) (core.Answer, error) {
	r := l.r
	if r.IntN(3) == 0 {
		select {
		case <-time.After(time.Duration(r.IntN(5)) * time.Minute):
		case <-ctx.Done():
			return core.Answer{}, context.Cause(ctx)
		}
	}
	l.guided++
	a := core.Answer{Guidance: fmt.Sprintf("g#%d", l.guided), Reason: "said so", Responder: core.RespondedByUser, Person: true}
	switch n := r.IntN(20); {
	case n < 8:
		a.Option, a.Responder, a.Person = "continue", core.RespondedByPolicy, false
	case n < 12:
		return a, core.ErrDeferred
	case n < 15:
		return a, core.ErrNoAnswer
	default:
		a.Option = []string{"skip", "debug", "pause", "accept", "cancel"}[n-15]
	}
	return a, nil
}

// observe holds the event, and the state behind it, against the model.
func (l *life) observe(e core.Event, s *core.State) {
	switch d := e.Data.(type) {
	case core.RunStarted:
		l.limits, l.prechk = d.Limits, d.Precheck
	case core.RunResumed:
		if d.Limits != nil {
			l.limits = *d.Limits
		}
		l.unread = l.before
	case core.IterationStarted:
		l.starts(d, s)
	case core.IterationFinished:
		l.finishes(d)
	case core.SignalReceived:
		l.unread++
	case core.WaitFinished:
		l.until = nil
	case core.GuardTripped:
		l.tripped = d
	case core.QuestionAsked:
		limit := l.tripped.Guard == core.MaxIterations || l.tripped.Guard == core.MaxRuntime
		if limit && slices.ContainsFunc(d.Given, func(g core.Given) bool { return g.Option == "continue" }) {
			l.fail("going on raised the limit, and counts as given: %v", d.Given)
		}
	case core.QuestionAnswered:
		l.answer = &d.Answer
	case core.AnswerInvalid:
		l.answer = nil // it is asked again
	case core.InterruptReceived, core.DebugFinished:
		l.answer = nil // it is asked again
	case core.QuestionClosed:
		if l.answer != nil {
			l.fail("the answer %q was dropped", l.answer.Option)
		}
	case core.ActionApplied:
		l.acts(d)
	}
	l.compare(e, s)
}

func (l *life) starts(d core.IterationStarted, s *core.State) {
	switch {
	case l.answer != nil:
		l.fail("iteration %d starts, and the answer %q was not carried out", d.Iteration, l.answer.Option)
	case l.over != "":
		l.fail("iteration %d starts, and the run is %s", d.Iteration, l.over)
	case d.Iteration > 0 && l.prechk:
		l.fail("iteration %d starts before the precheck has come to its end", d.Iteration)
	case d.Iteration != 0 && d.Iteration != l.counted+1:
		l.fail("iteration %d starts after %d", d.Iteration, l.counted)
	case l.limits.Iterations > 0 && l.counted >= l.limits.Iterations, l.limits.Runtime > 0 && s.Elapsed >= l.limits.Runtime:
		l.fail("iteration %d starts past %+v, after %s", d.Iteration, l.limits, s.Elapsed)
	case core.Evaluate(guards.Default(), s) != nil:
		l.fail("iteration %d starts, and a guard trips", d.Iteration)
	case l.until != nil && time.Now().Before(*l.until):
		l.fail("iteration %d starts before %s", d.Iteration, l.until)
	case !l.fresh && l.counted > 0 && time.Since(l.ended) < l.backoff.Base:
		l.fail("iteration %d starts %s after the last", d.Iteration, time.Since(l.ended))
	}
	l.before, l.had = l.unread, nil
}

func (l *life) finishes(d core.IterationFinished) {
	l.ended = time.Now()
	if d.Outcome == core.OutcomeInterrupted || d.Outcome == core.OutcomeWaiting || d.Cause == core.CauseMaxRuntime || d.Cause == core.CauseInterrupt {
		l.unread = l.before
		l.until = nil
		if d.Outcome == core.OutcomeWaiting {
			l.until = d.Until
		}
		return
	}
	l.counts = &d
	if d.Iteration == 0 {
		l.prechk = false
		return
	}
	l.counted++
	want := l.returned
	if d.Cause == core.CauseCrash {
		want = core.OutcomeError
	} else {
		l.pending = slices.DeleteFunc(l.pending, func(g string) bool { return slices.Contains(l.had, g) })
	}
	if l.unread >= 3 {
		l.unread = 0
		if want == core.OutcomeNotDone {
			want = core.OutcomeError
		}
	}
	l.before = l.unread
	if d.Outcome != want {
		l.fail("iteration %d is %s (%s), want %s", d.Iteration, d.Outcome, d.Detail, want)
	}
	if l.baseline == nil {
		l.baseline = d.Progress()
	}
}

func (l *life) acts(d core.ActionApplied) {
	if d.Pending {
		return
	}
	if l.answer == nil || l.answer.Option != d.Option {
		l.fail("%s is carried out, and the answer is %+v", d.Option, l.answer)
	}
	l.answer, l.limits, l.baseline = nil, d.Limits, l.counts.Progress()
	switch d.Action {
	case core.ActionCancel:
		l.over = core.StatusCancelled
	case core.ActionAccept:
		l.over = core.StatusAccepted
	case core.ActionContinue, core.ActionSkip, core.ActionPause:
		said := tokens(strings.Fields(d.Guidance))
		l.pending = append(l.pending, said...)
		if len(said) > 0 {
			l.held = said[len(said)-1]
		}
	}
}

// compare says whether the state has of the run what the model has.
func (l *life) compare(e core.Event, s *core.State) {
	if got, want := fmt.Sprintf("%+v", s.Baseline), fmt.Sprintf("%+v", l.baseline); got != want {
		l.fail("behind %s the baseline is %s, want %s", e.Data.Type(), got, want)
	}
	failing, improved := "", false
	if p := l.counts.Progress(); p != nil {
		failing = p.String()
		improved = l.baseline != nil && p.Failing < l.baseline.Failing
	}
	if s.Improved() != improved {
		l.fail("behind %s improved is %v", e.Data.Type(), s.Improved())
	}
	if failing != "" && l.counts.Outcome != core.OutcomeDone && s.Summary() != failing {
		l.fail("behind %s the summary is %q, want %q", e.Data.Type(), s.Summary(), failing)
	}
	if s.Limits != l.limits {
		l.fail("behind %s the limits are %+v, want %+v", e.Data.Type(), s.Limits, l.limits)
	}
}

// part runs the loop until it ends, is interrupted, or dies.
func (l *life) part(resume *core.RunResumed) {
	r := l.r
	l.journal.left = -1
	if r.IntN(3) == 0 {
		l.journal.left = 2 + r.IntN(25)
	}
	if l.deadly > 0 { // it dies early in the first iteration, and then about its question
		l.deadly--
		l.journal.left = 3
		if l.deadly == 0 {
			l.journal.left = 5 + r.IntN(10)
		}
	}
	loop := &engine.Loop{
		Guards: guards.Default(), Questions: looptest.Asks{}, Journal: &l.journal, Runner: l, Responders: []core.Responder{core.ResponderFunc(l.answers)},
		Mask: l.mask, Observe: l.observe, Backoff: l.backoff, Debug: looptest.Debugs(func(context.Context) (core.DebugFinished, error) { return core.DebugFinished{ExitCode: 1}, nil }),
	}
	if r.IntN(4) == 0 {
		loop.Debug = nil
	}
	l.fresh = true
	var err error
	if resume == nil {
		limits := core.Limits{Iterations: 1 + r.IntN(5), Runtime: time.Duration(1+r.IntN(12)) * time.Minute / time.Duration(1+l.deadly), Loop: 2 + r.IntN(3), Errors: 1 + r.IntN(3)}
		err = loop.Start(core.RunStarted{RunID: "r", Limits: limits, Caps: core.Caps{Iterations: 20, Runtime: time.Hour}, Precheck: r.IntN(3) == 0})
	} else {
		err = loop.Resume(*l.state, *resume)
	}
	ctx, interrupt := context.WithCancelCause(context.Background())
	defer interrupt(nil)
	if r.IntN(3) == 0 {
		time.AfterFunc(time.Duration(r.IntN(15*60))*time.Second, func() { interrupt(&engine.Interrupt{Signal: "SIGINT", Code: 130}) })
	}
	if err == nil {
		_, err = loop.Run(ctx)
	}
	if err != nil && !errors.Is(err, errNoMore) {
		l.fail("it failed: %v", err)
	}
	l.state = looptest.Replay(l.t, l.journal.Events)
	if l.over != "" && l.state.Ending.Status != l.over {
		l.fail("it ended as %+v, and somebody said %s", l.state.Ending, l.over)
	}
}

// rest is what can happen to a run that rests: its question is answered.
func (l *life) rest() {
	l.journal.left = -1
	q := l.state.Question
	if q == nil || l.state.Answer != nil || l.r.IntN(2) == 0 {
		return
	}
	l.guided++
	a := core.Answer{Option: []string{"continue", "continue", "debug", "accept", "cancel"}[l.r.IntN(5)], Responder: core.RespondedByUser, Person: true, Guidance: fmt.Sprintf("g#%d", l.guided)}
	if _, err := l.state.Resolve(a); err != nil {
		return
	}
	e, err := core.Record(l.state, &l.journal, l.mask, l.state.Elapsed, core.QuestionAnswered{QuestionID: q.ID, Answer: a})
	if err != nil {
		l.fail("an answer at rest: %v", err)
	}
	l.observe(e, l.state)
}

// resumed is how it is resumed: as it was, or under other limits and caps.
func (l *life) resumed() *core.RunResumed {
	d := &core.RunResumed{}
	limits := l.state.Limits
	switch l.r.IntN(4) {
	case 0:
		limits.Iterations, limits.Runtime = limits.Iterations+1+l.r.IntN(3), limits.Runtime+time.Duration(l.r.IntN(10))*time.Minute
		d.Limits, d.Caps = &limits, &core.Caps{Iterations: 30, Runtime: 2 * time.Hour}
	case 1:
		limits.Iterations, limits.Errors = max(1, limits.Iterations-1), core.Off
		limits.IdleIterations = 1
		d.Limits = &limits
	case 2:
		d.Caps = &core.Caps{Iterations: l.state.Iterations + l.r.IntN(3), Runtime: l.state.Elapsed + time.Duration(l.r.IntN(3))*time.Minute + 1}
	}
	return d
}

// Whole runs with everything that can befall them: interrupts, max_runtime in the middle
// of an iteration, limits to wait for, kills, prechecks, answers during an iteration and
// at rest, resumes under other limits, and a mask. Nothing of what was promised gives.
func TestLivesHoldWhatWasPromised(t *testing.T) {
	words := regexp.MustCompile(`[a-z_]{4,}`)
	for seed := range uint64(rounds.Of(80)) {
		synctest.Test(t, func(t *testing.T) {
			l := &life{t: t, r: rand.New(&lockedSource{Source: rand.NewPCG(seed, 3)}), seed: seed}
			if seed%2 == 0 {
				l.mask = func(s string) string { return words.ReplaceAllString(s, "***") }
			}
			if seed%3 == 0 {
				l.backoff.Base = time.Minute
			}
			if seed%5 == 0 {
				l.deadly = 3
			}
			l.part(nil)
			for range 8 {
				if s := l.state; s.Seq == 0 || s.Ended && !s.Ending.Status.Resumable() {
					break
				}
				l.rest()
				l.part(l.resumed())
			}
		})
	}
}
