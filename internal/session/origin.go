package session

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"sync/atomic"
)

// origin is where an answer comes from. Only who is known to be outside of the run
// may answer: its own command would answer itself.
type origin int

const (
	originUnknown origin = iota // the system does not say, or the process has gone
	originInside                // a process that the run has started
	originOutside
)

// answerToken is what an answer of unknown origin has to bring: a word that only the
// person's screen shows, which the command cannot read. The zero value takes none.
type answerToken struct {
	word  string
	wrong atomic.Int32
}

// tokenLength is that of the word, in characters of five bits; tokenTries is how
// many wrong ones a run takes before it takes none.
const (
	tokenLength = 8
	tokenTries  = 5
)

func (t *answerToken) make() { t.word = rand.Text()[:tokenLength] }

// admit refuses an answer from inside, and one of unknown origin without the word.
func (t *answerToken) admit(from origin, word string) error {
	switch {
	case from == originInside:
		return errors.New("a run's question cannot be answered by its own command; answer it from outside")
	case from == originOutside:
		return nil
	case t.word == "" || word == "":
		return errors.New("it is not known whether this answer comes from the run's own command; add --token WORD, which the run shows on its terminal, or answer when it has paused")
	case t.wrong.Load() >= tokenTries:
		return errors.New("too many wrong tokens; answer at the run's own terminal, or when it has paused")
	case subtle.ConstantTimeCompare([]byte(t.word), []byte(word)) != 1:
		t.wrong.Add(1)
		return errors.New("that is not the token that the run shows on its terminal")
	}
	return nil
}
