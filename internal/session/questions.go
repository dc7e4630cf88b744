package session

import (
	"slices"
	"sync"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/templates"
)

// questions are the templates of a run. The built-in ones are read on first use: most runs end
// without a question, and reading them takes longer than everything else that looprun does
// before the command starts.
type questions struct {
	set func() (*templates.Set, error)
	dir string // where the run takes place
	// looks is the agent that looks for a cause; empty if the debug command does, or a shell.
	looks string
	// never lists the actions that the policy leaves to people.
	never []core.Action
	// counts means that the policy asks how many files have changed.
	counts bool
}

var (
	_ core.Questions = questions{}
	_ core.Texts     = questions{}
)

// StrayTemplate is the warning about a YAML file of a pack that is ignored.
const StrayTemplate = "%s is no template and is ignored: it has none of the keys guard, header, question, options"

// loadQuestions reads the folders at once, because nothing may run if one of them has an
// error.
func (s *Session) loadQuestions() (questions, error) {
	dirs := s.opts.Templates
	q := questions{dir: s.dir, set: sync.OnceValues(func() (*templates.Set, error) {
		set, err := templates.Load(dirs...)
		if err != nil {
			return nil, err
		}
		return set.WithDebug(s.debugs()), nil
	})}
	if s.opts.Debug == "" {
		q.looks = s.opts.Agent
	}
	if len(dirs) == 0 {
		return q, nil
	}
	set, err := q.set()
	if err != nil {
		return q, err
	}
	for _, pack := range set.Packs() {
		for _, file := range pack.Strays {
			s.app.Say.Warn(StrayTemplate, file)
		}
	}
	return q, nil
}

// Question builds the question for a trip.
func (q questions) Question(s *core.State, trip core.Trip) (core.Question, error) {
	set, err := q.set()
	if err != nil {
		return core.Question{}, err
	}
	question, err := set.WithCI(ciFacts(q.dir, s.Started, q.counts || set.Asks("ChangedFiles"))).Question(s, trip)
	for i, o := range question.Options {
		if o.Action == core.ActionDebug && q.looks != "" {
			question.Options[i].Description = q.looks + " looks for the cause, and changes nothing"
		}
	}
	question.Never = slices.Concat(question.Never, q.never)
	return question, err
}

// Text returns a text for a person, or the empty string if there is none.
func (q questions) Text(key string, values map[string]any) string {
	set, err := q.set()
	if err != nil {
		return ""
	}
	return set.Text(key, values)
}

// partial returns the warning that a partial result was accepted.
func (q questions) partial(guard core.GuardID) string {
	set, err := q.set()
	if err != nil {
		return ""
	}
	return set.AcceptedWarning(guard)
}
