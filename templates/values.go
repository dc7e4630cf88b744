package templates

import (
	"cmp"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// How much of a command's output a question shows.
const (
	shownErrors = 3
	shownLines  = 3
	lineLength  = 160      // characters of one line
	valueLength = 500      // characters of one value
	readBytes   = 16 << 10 // bytes of a value that are looked at
)

// clean makes a value safe to show: text without control and escape characters and of limited
// length, and no nil lists.
func clean(v any) any {
	switch v := v.(type) {
	case string:
		return termsafe.Cut(termsafe.Text(head(v)), valueLength)
	case []string:
		return convert.Each(v, func(s string) string { return line(s, valueLength) })
	}
	return v
}

// line returns one line of at most n characters of a command's output.
func line(s string, n int) string { return termsafe.Short(head(s), n) }

// head limits how much of a text of any length is examined.
func head(s string) string { return s[:min(len(s), readBytes)] }

func (s *source) max() string {
	g := s.trip.Guard.Spec()
	if text := g.Text(s.state.Limits); text != "off" && g.Words() == nil {
		return text
	}
	return ""
}

func (s *source) count() int {
	switch {
	case s.trip.Guard == core.ConsecutiveErrors && s.state.ErrorRun > 0:
		return s.state.ErrorRun
	case s.trip.Repeats > 0:
		return s.trip.Repeats
	case s.trip.Window > 0:
		return s.trip.Window
	}
	return s.state.Iterations
}

func (s *source) cycle() []string {
	labels := s.state.Labels[max(0, len(s.state.Labels)-s.trip.Period):]
	return convert.Each(labels, func(k core.KnownIssue) string { return line(s.state.NamedIn(k, s.texts), lineLength) })
}

// attempt is a failed iteration, or several consecutive ones that failed alike.
type attempt struct {
	first, number      int
	label, why, output string
}

func (a attempt) like(b attempt) bool {
	return a.label == b.label && a.why == b.why && a.output == b.output
}

// errors returns the last failed attempts, one per line.
func (s *source) errors() []string {
	var attempts []attempt
	for _, d := range s.state.History {
		if d.Outcome == core.OutcomeDone {
			continue
		}
		why := cmp.Or(d.Detail, s.texts.say("error_exit", facts{"Code": d.ExitCode}))
		a := attempt{number: d.Iteration, label: line(d.SaysIn(s.texts), lineLength), why: line(why, lineLength), output: d.Telling()}
		if a.why == a.label {
			a.why = ""
		}
		if strings.Contains(a.label, a.output) {
			a.output = ""
		}
		if n := len(attempts); n > 0 && a.like(attempts[n-1]) {
			a.first = cmp.Or(attempts[n-1].first, attempts[n-1].number)
			attempts[n-1] = a
			continue
		}
		attempts = append(attempts, a)
	}
	var lines []string
	for _, a := range attempts[max(0, len(attempts)-shownErrors):] {
		lines = append(lines, s.texts.say("error_line", facts{
			"First": a.first, "Iteration": a.number, "Label": a.label, "Why": a.why, "OutputLine": a.output,
		}))
	}
	return lines
}

// summary returns the progress of the work, in the words of the messages.
func (s *source) summary() string {
	last := s.state.Last
	p := last.Progress()
	switch {
	case last == nil:
		return s.texts.say("summary_none", nil)
	case last.Outcome == core.OutcomeDone && s.state.Subtask != nil && !s.state.Passed:
		return line(s.state.Summary(), lineLength)
	case last.Outcome == core.OutcomeDone:
		return s.texts.say("summary_done", nil)
	case p != nil && p.Failing >= 0:
		n := p.Note()
		return s.texts.say(n.Key, n.Values)
	case last.Says() != "":
		return s.texts.say("summary_label", facts{"Label": line(last.SaysIn(s.texts), lineLength)})
	}
	return s.texts.say("summary_unknown", nil)
}

func (s *source) passing(p *core.Progress) string {
	return s.texts.say("state_passing", facts{"Tests": p.Tests, "Tasks": p.Tasks, "Passing": p.Passed, "Total": max(0, p.Total)})
}

// formatDuration returns a duration in words, rounded to the second.
func formatDuration(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return plural.Duration(d.Round(time.Second))
}
