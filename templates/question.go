package templates

import (
	"fmt"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
)

// Question returns the question for a trip. It always includes the evidence, as data and in
// words: where it comes from, what fails and why, the work's last lines, earlier answers, and
// the progress of the run. The caller sets the id. An error means that a template could not be
// filled in, which cannot happen with files that [Load] accepted.
func (s *Set) Question(state *core.State, trip core.Trip) (core.Question, error) {
	t := s.Template(trip.Guard)
	src := newSource(state, trip, s.ci, s.texts)
	values := src.facts()
	q := core.Question{
		Guard: trip.Guard, Kind: core.KindSelect,
		Header: t.Header, Short: termsafe.Cut(t.Short, maxShort),
		Default: t.Default, Exclusive: t.Exclusive, Never: t.Never,
		Evidence: &src.has, CI: s.ci,
	}
	var err error
	if q.Text, err = fill(t.Question, values, textLimit); err != nil {
		return core.Question{}, fmt.Errorf("%s: question: %w", t.File, err)
	}
	q.Details = src.details(values, q.Text)
	for _, o := range t.Options {
		if why := s.missing(o, src); why != "" {
			q.Details = append(q.Details, s.texts.say("detail_not_offered", facts{"Label": o.Label, "Why": why}))
			continue
		}
		option, err := o.fill(values)
		if err != nil {
			return core.Question{}, fmt.Errorf("%s: option %s: %w", t.File, o.ID, err)
		}
		option.Shell = option.Action == core.ActionDebug && !s.debug
		q.Options = append(q.Options, option)
	}
	if _, ok := q.Option(q.Default); !ok {
		q.Default = ""
	}
	return q, nil
}

func (o Option) fill(values facts) (core.Option, error) {
	filled := o.Option
	var err error
	if filled.Description, err = fillLine(o.Description, values); err != nil {
		return filled, err
	}
	filled.Guidance, err = fill(o.Guidance, values, guidanceLimit)
	return filled, err
}

// missing returns why a requirement of the option is not met; "" if all are.
func (s *Set) missing(o Option, src *source) string {
	state := src.state
	met := map[string]bool{
		"check":       len(state.Check) > 0,
		"promise":     state.Promise != "",
		"debug":       s.debug,
		"signature":   state.Last != nil && state.Last.Signature.Hash != 0,
		"subtasks":    len(src.rejection.Alternatives) > 0,
		"alternative": phrase(src.rejection.Suggested) != "",
	}
	for _, need := range o.Requires {
		if !met[need] {
			return s.texts.say("why_"+need, nil)
		}
	}
	return ""
}

func indented(lines []string) []string {
	return convert.Each(lines, func(line string) string { return "  " + termsafe.Cut(line, valueLength) })
}

// Text returns the wording of the loop's own additions to a question and of the prompt; with it
// the set implements [core.Texts]. An unknown key gives an empty text.
func (s *Set) Text(key string, values map[string]any) string { return s.texts.Text(key, values) }

// Text is say, as [core.Texts] has it.
func (m *messages) Text(key string, values map[string]any) string { return m.say(key, values) }
