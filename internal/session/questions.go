package session

import (
	"slices"
	"sync"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/templates"
)

// questions are the templates of a run. The built-in ones are read when they
// are needed first: most runs end without a question, and reading them takes
// longer than all else that looprun does before the command starts.
type questions struct {
	set func() (*templates.Set, error)
	dir string // where the run takes place
	// never are the actions that the policy leaves to persons.
	never []core.Action
}

var (
	_ core.Questions = questions{}
	_ core.Texts     = questions{}
)

// loadQuestions reads the folders at once, since nothing is to run when
// something is wrong with one.
func loadQuestions(dir string, dirs []string, debug bool) (questions, error) {
	q := questions{sync.OnceValues(func() (*templates.Set, error) {
		set, err := templates.Load(dirs...)
		if err != nil {
			return nil, err
		}
		return set.WithDebug(debug), nil
	}), dir, nil}
	if len(dirs) == 0 {
		return q, nil
	}
	_, err := q.set()
	return q, err
}

// Question makes the question for a trip.
func (q questions) Question(s *core.State, trip core.Trip) (core.Question, error) {
	set, err := q.set()
	if err != nil {
		return core.Question{}, err
	}
	question, err := set.Question(s, trip)
	question.CI = ciFacts(q.dir)
	question.Never = slices.Concat(question.Never, q.never)
	return question, err
}

// Text is a text that a person reads, or empty where there is none.
func (q questions) Text(key string, values map[string]any) string {
	set, err := q.set()
	if err != nil {
		return ""
	}
	return set.Text(key, values)
}
