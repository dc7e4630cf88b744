package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
)

// folder builds a report from events.
type folder struct {
	r       *Report
	state   core.State
	started time.Time              // of the iteration that runs
	waits   time.Time              // since when it waits for a limit or an answer; zero: it does not
	places  map[signature.Hash]int // of signatures in Report.Signatures
	named   int                    // how many of them have a letter of the alphabet
	spent   float64                // by the iteration that runs, in US dollars
}

// event adds one event. The state rejects impossible ones.
func (f *folder) event(e core.Event) error {
	running, cost := f.state.Running, f.state.Cost
	if err := f.state.Apply(e); err != nil {
		return err
	}
	f.cost(f.state.Cost-cost, running)
	f.wait(e)
	r := f.r
	r.Updated = e.Time
	switch d := e.Data.(type) {
	case core.RunStarted:
		r.RunID, r.Name, r.Parent = line(d.RunID, 100), line(d.Name, maxLabel), line(d.Parent, 100)
		r.Version, r.Promise = line(d.Version, 100), line(d.Promise, maxLabel)
		r.Command, r.Check, r.Started = arguments(d.Command), arguments(d.Check), e.Time
	case core.IterationStarted:
		f.started = e.Time
	case core.IterationFinished:
		f.iteration(d)
	case core.RunAlive, core.RunFinished, core.CostReported: // the state has what they say
	default:
		if !f.decision(e) {
			f.moment(e)
		}
	}
	return nil
}

// wait adds up how long the run waited for limits and answers.
func (f *folder) wait(e core.Event) {
	switch e.Data.(type) {
	case core.WaitStarted, core.QuestionAsked:
		if f.waits.IsZero() {
			f.waits = e.Time
		}
	case core.RunAlive:
	default:
		if !f.waits.IsZero() && f.state.Until == nil && len(f.state.Pending()) == 0 {
			f.r.waited += e.Time.Sub(f.waits)
			f.waits = time.Time{}
		}
	}
}

// cost adds a cost to the running iteration, or to the one that has just ended.
func (f *folder) cost(usd float64, running bool) {
	if n := len(f.r.History); n > 0 && !running {
		f.r.History[n-1].CostUSD += usd
		return
	}
	f.spent += usd
}

func (f *folder) iteration(d core.IterationFinished) {
	sig := d.Signature
	it := Iteration{
		Iteration: d.Iteration, Outcome: id(d.Outcome), ExitCode: d.ExitCode, WorkExitCode: d.WorkExitCode,
		Cause: id(d.Cause), Why: line(d.Detail, maxProse), Started: f.started, DurationMS: d.DurationMS,
		Hash: sig.Hash, Label: line(sig.Label, maxLabel), Failing: sig.Failing, Passed: sig.Passed, Total: sig.Total,
		Checks: lines(sig.Checks, maxLabel), Errors: lines(sig.Errors, maxProse),
		Excerpt: text(d.Excerpt, maxText), OutputBytes: d.OutputBytes, Promised: d.Promised, Checkpoint: line(d.Checkpoint, 100),
		Counted: d.Iteration > 0 && d.Iteration == f.state.Iterations, CostUSD: f.spent, Says: line(d.Says(), maxProse),
	}
	it.suite, it.Failures = suite(d.Signature.Facts), d.Failing(maxFailures)
	f.spent = 0
	if sig.Hash == 0 { // nothing can be said
		it.Failing, it.Passed, it.Total = -1, -1, -1
	}
	if d.OutputBytes > 0 {
		it.OutputFile = filepath.ToSlash(filepath.Join("output", filepath.Base(scratchpad.OutputFile("", d.Iteration))))
	}
	if n := len(f.r.History); n > 0 && f.r.History[n-1].Iteration == d.Iteration {
		f.r.History[n-1].OutputFile = "" // it was cut off, and its file is this one's now
	}
	it.Letter = f.letter(sig, it)
	f.r.History = append(f.r.History, it)
	if over := len(f.r.History) - MaxIterations; over > 0 {
		earlier := f.earlier()
		first := f.r.History[0]
		earlier.Iterations++
		earlier.DurationMS += first.DurationMS
		if first.Outcome == core.OutcomeError {
			earlier.Errors++
		}
		f.r.History = slices.Delete(f.r.History, 0, 1) // in place, so that its memory does not grow
	}
}

func (f *folder) earlier() *Earlier {
	if f.r.Earlier == nil {
		f.r.Earlier = new(Earlier)
	}
	return f.r.Earlier
}

// letter counts the signature and returns its letter.
func (f *folder) letter(sig signature.Signature, it Iteration) string {
	hash := f.state.Match(sig)
	if sig.Hash == 0 {
		return ""
	}
	at, seen := f.places[hash]
	if !seen {
		if len(f.r.Signatures) == MaxSignatures {
			return "…"
		}
		if f.places == nil {
			f.places = map[signature.Hash]int{}
		}
		s := Signature{Hash: hash, Kind: line(sig.Kind, 100), Label: line(sig.Label, maxLabel), First: it.Iteration, Last: it.Iteration}
		if sig.Kind == signature.KindPass {
			s.Letter = passLetter
		} else {
			s.Letter = letters(f.named)
			f.named++
		}
		at = len(f.r.Signatures)
		f.places[hash] = at
		f.r.Signatures = append(f.r.Signatures, s)
	}
	s := &f.r.Signatures[at]
	s.Says = it.Says
	if it.Counted {
		if s.Count == 0 {
			s.First = it.Iteration
		}
		s.Count++
		s.Last = it.Iteration
	}
	return s.Letter
}

// attempt describes how the ladder judged an iteration.
func attempt(d core.AttemptRecorded) string {
	switch {
	case d.Counted:
		return line(fmt.Sprintf("attempt %d, %s: %s", d.Attempt.Number, words(d.Attempt.Type), cmp.Or(d.Attempt.Approach, d.Attempt.Outcome, "no approach was named")), maxProse)
	case d.Improved:
		return "no attempt: something improved"
	}
	return "no attempt: the same approach again"
}

// moment records an event that is neither an iteration nor part of a trip, including one of an
// unknown type.
func (f *folder) moment(e core.Event) {
	if d, ok := e.Data.(core.SignalReceived); ok && d.Name == signal.Cost && d.Problem == "" {
		return // the iteration has it
	}
	m := Moment{Time: e.Time, Iteration: f.state.Iterations, Type: e.Data.Type()}
	switch d := e.Data.(type) {
	case core.RunPaused:
		m.Text = line(d.Reason, maxProse)
	case core.RunResumed:
		var parts []string
		if d.Limits != nil || d.Caps != nil {
			parts = append(parts, "with new limits")
		}
		if len(d.Config) > 0 {
			parts = append(parts, "with another configuration")
		}
		m.Text = strings.Join(parts, ", ")
	case core.InterruptReceived:
		m.Text = line(d.Signal, 100)
	case core.OrderReceived:
		m.Text = line(strings.TrimSuffix(fmt.Sprintf("%s by %s: %s", d.Order, d.Who(), d.Words), ": "), maxProse)
	case core.AnswerInvalid:
		m.Text = line(fmt.Sprintf("%s: %s", d.Responder, d.Reason), maxProse)
	case core.IterationWithdrawn:
		m.Text = line(d.Reason, maxProse)
	case core.MessageRefused:
		m.Text = line(d.Reason, maxProse)
	case core.RejectionSubmitted:
		m.Text = line(fmt.Sprintf("%s: %s", words(d.Rejection.ReasonType), d.Rejection.Summary), maxProse)
	case core.RejectionInvalid:
		m.Text = line(d.Rejection.Summary, maxProse)
	case core.RejectionDecided:
		m.Text = line(fmt.Sprintf("%s by %s: %s", d.Decision, d.Who(), cmp.Or(d.Reason, d.Rationale)), maxProse)
	case core.AttemptRecorded:
		m.Text = attempt(d)
	case core.ExpertFinished:
		m.Text = line(cmp.Or(d.Why, fmt.Sprintf("%s: %s", d.Expert, d.Guidance)), maxProse)
	case core.SignalReceived:
		m.Text = line(strings.Trim(fmt.Sprintf("%s: %s", d.Name, cmp.Or(d.Problem, d.Text, d.Question)), ": "), maxProse)
	case core.WaitStarted:
		m.Text = line(d.Match, maxProse)
	case core.TurnRepeated:
		m.Text = line(d.String(), maxProse)
	case core.SubtaskFinished:
		m.Text = line(fmt.Sprintf("%d of %d: %s", d.Number, d.Of, d.Title), maxProse)
	case core.QuestionClosed:
		m.Text = line(d.Reason, maxProse)
	}
	f.r.Moments = append(f.r.Moments, m)
	if len(f.r.Moments) > MaxMoments {
		f.earlier().Moments++
		f.r.Moments = slices.Delete(f.r.Moments, 0, 1)
	}
}

// suite returns the suite that the facts of an output name, such as a Go package, if they name
// only one.
func suite(facts []string) string {
	only := ""
	for _, f := range facts {
		if name, ok := strings.CutPrefix(f, "suite "); ok {
			if only != "" {
				return ""
			}
			only = line(name, maxLabel)
		}
	}
	return only
}
