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
	// never lists the actions that the policy leaves to people.
	never []core.Action
}

var (
	_ core.Questions = questions{}
	_ core.Texts     = questions{}
)

// loadQuestions reads the folders at once, because nothing may run if one of them has an
// error.
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

// Question builds the question for a trip.
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

// Text returns a text for a person, or the empty string if there is none.
func (q questions) Text(key string, values map[string]any) string {
	set, err := q.set()
	if err != nil {
		return ""
	}
	return set.Text(key, values)
}
