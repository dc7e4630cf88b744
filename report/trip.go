package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
)

// decision handles an event that belongs to a trip or a question; it returns false for any
// other.
func (f *folder) decision(e core.Event) bool {
	switch d := e.Data.(type) {
	case core.GuardTripped:
		f.open(Trip{
			Time: e.Time, Iteration: d.Iteration, During: d.During, Guard: id(d.Guard), Also: ids(d.Also),
			Reason: line(d.Reason, maxProse), Window: d.Window, Period: d.Period, Repeats: d.Repeats,
		})
	case core.QuestionAsked:
		f.asked(e, d.Question)
	case core.AnswerInvalid:
		return f.refused(d.QuestionID, d.Responder, d.Reason)
	case core.AdviceGiven:
		return f.refused(d.QuestionID, d.Responder, d.Text)
	case core.QuestionAnswered:
		return f.amend(d.QuestionID, func(t *Trip) {
			t.Answers = add(t.Answers, Answer{
				Option: answered(d.Answer), Label: t.label(d.Answer), Words: text(d.Guidance, maxText), Responder: line(d.Responder, 100), Assistant: named(d.Assistant),
				Reason: line(d.Reason, maxProse), Rule: line(d.Rule, maxLabel), Person: d.Person, Via: line(d.Via, maxLabel),
			})
		})
	case core.VerifyFinished:
		return f.ran(Command{Kind: "verify", Command: line(d.Command, maxProse), ExitCode: d.ExitCode, TimedOut: d.TimedOut})
	case core.DebugFinished:
		return f.ran(Command{Kind: string(id(d.Action)), ExitCode: d.ExitCode, Findings: text(d.Findings, maxText)})
	case core.ActionApplied:
		return f.amend("", func(t *Trip) { t.Effect = effectOf(d) })
	case core.QuestionClosed:
		return f.amend(d.QuestionID, func(t *Trip) { t.Closed = line(d.Reason, maxProse) })
	case core.RunSuperseded:
		return f.amend("", func(t *Trip) { t.Closed = line(d.Reason(), maxProse) })
	default:
		return false
	}
	return true
}

func effectOf(d core.ActionApplied) *Effect {
	e := &Effect{Action: id(d.Action), Limits: d.Limits, Resets: ids(d.Resets), Guidance: text(d.Guidance, maxText)}
	for _, k := range d.Known[:min(len(d.Known), maxArgs)] {
		e.Known = append(e.Known, core.KnownIssue{Hash: k.Hash, Label: line(k.Label, maxLabel)})
	}
	return e
}

// asked records the question with the trip being settled, or as one of the command.
func (f *folder) asked(e core.Event, q core.Question) {
	t := f.about("")
	if t == nil || q.Guard == "" || t.Guard != id(q.Guard) {
		at := f.state.Iterations
		if f.state.Running {
			at = f.state.Open
		}
		t = f.open(Trip{Time: e.Time, Iteration: at, During: f.state.Running, Guard: id(q.Guard)})
	}
	t.QuestionID, t.Header, t.Question = line(q.ID, 100), line(q.Header, maxLabel), text(q.Text, maxProse)
	t.Evidence = rests(q)
	t.Options = convert.Each(q.Options[:min(len(q.Options), maxAnswers)], func(o core.Option) Option {
		return Option{line(o.ID, 100), line(o.Label, maxLabel)}
	})
}

// rests returns a question's details except for its origin, the run's progress and the
// previous answers, which a report shows elsewhere.
func rests(q core.Question) []string {
	if q.Evidence == nil || q.From != "" {
		return nil
	}
	var parts [][]string
	for part := range strings.SplitSeq(strings.Join(q.Details, "\n"), "\n\n") {
		parts = append(parts, strings.Split(part, "\n"))
	}
	if len(parts) < 3 {
		return nil
	}
	parts = parts[1 : len(parts)-1]
	last := &parts[len(parts)-1]
	*last = (*last)[:max(0, len(*last)-len(q.Evidence.Before))]
	out := convert.Each(slices.Concat(parts...), func(l string) string { return text(l, maxProse) })
	return out[:min(len(out), maxArgs)]
}

// label returns the label of the chosen option; empty if the answer is a text.
func (t *Trip) label(a core.Answer) string {
	for _, o := range t.Options {
		if o.ID == line(a.Option, 100) && a.Option != "" {
			return o.Label
		}
	}
	return ""
}

func (f *folder) open(t Trip) *Trip {
	r := f.r
	r.Trips = append(r.Trips, t)
	if len(r.Trips) > MaxTrips {
		f.earlier().Trips++
		r.Trips = slices.Delete(r.Trips, 0, 1)
	}
	return &r.Trips[len(r.Trips)-1]
}

// about returns the trip that the question is about. Without an id, or with one that was never
// asked, it returns the last trip of a guard, or nil if there is none.
func (f *folder) about(id string) *Trip {
	trips := f.r.Trips
	for i := len(trips) - 1; i >= 0 && id != ""; i-- {
		if trips[i].QuestionID == id {
			return &trips[i]
		}
	}
	for i := len(trips) - 1; i >= 0; i-- {
		if trips[i].Guard != "" {
			return &trips[i]
		}
	}
	return nil
}

// amend changes the trip that the question is about, as found by about; it returns false if
// there is none.
func (f *folder) amend(id string, change func(*Trip)) bool {
	t := f.about(id)
	if t != nil {
		change(t)
	}
	return t != nil
}

func (f *folder) refused(id, responder, why string) bool {
	return f.amend(id, func(t *Trip) { t.Refused = add(t.Refused, Refused{line(responder, 100), line(why, maxProse)}) })
}

func (f *folder) ran(c Command) bool {
	return f.amend("", func(t *Trip) { t.Commands = add(t.Commands, c) })
}

// add appends to a list, dropping its oldest element when it is full.
func add[T any](list []T, v T) []T {
	if len(list) == maxAnswers {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, v)
}

// answered returns the chosen option or the text of an answer.
func answered(a core.Answer) string {
	switch {
	case a.Cancelled:
		return "cancelled"
	case len(a.Options) > 0:
		return line(strings.Join(a.Options, ", "), maxLabel)
	case a.Text != nil:
		return line(cmp.Or(a.Option, *a.Text), maxProse)
	}
	return line(a.Option, 100)
}

// decided returns the answer that settled the trip, or nil.
func (t *Trip) decided() *Answer {
	if len(t.Answers) == 0 {
		return nil
	}
	return &t.Answers[len(t.Answers)-1]
}
