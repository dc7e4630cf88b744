// Package origin determines whether a process belongs to a run, either as the run's command or
// because that started it. Such a process may not answer in the person's place.
package origin

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"sync/atomic"
)

// Origin is where a request comes from. The zero value is Unknown.
type Origin int

const (
	Unknown Origin = iota // the system does not say, or the process has gone
	Inside                // a process that a run has started
	Outside               // any other process of this user
)

// The reasons why [Word.Admit] rejects a request.
var (
	ErrInside = errors.New("it comes from a run's own command")
	ErrNoWord = errors.New("its sender is unknown, and it has no token")
	ErrTries  = errors.New("too many wrong words")
	ErrWrong  = errors.New("the word is wrong")
)

// Word is what a request of unknown origin must contain. It is only shown on a person's
// screen, where a command cannot read it. The zero value matches nothing.
type Word struct {
	word  string
	wrong atomic.Int32
}

// wordLength counts characters of five bits each. After wordTries wrong attempts a Word
// matches nothing any more.
const (
	wordLength = 8
	wordTries  = 5
)

// Make chooses the word and returns it. The caller must show it on a screen.
func (w *Word) Make() string {
	w.word = rand.Text()[:wordLength]
	return w.word
}

// Check compares a word with the chosen one.
func (w *Word) Check(word string) error {
	switch {
	case w.word == "" || word == "":
		return ErrNoWord
	case w.Spent():
		return ErrTries
	case subtle.ConstantTimeCompare([]byte(w.word), []byte(word)) != 1:
		if w.wrong.Add(1) < wordTries {
			return ErrWrong
		}
		return ErrTries
	}
	return nil
}

// Spent reports whether there were so many wrong attempts that it matches nothing any more.
func (w *Word) Spent() bool { return w.wrong.Load() >= wordTries }

// Admit rejects a request from inside, and one of unknown origin without the word.
func (w *Word) Admit(from Origin, word string) error {
	switch from {
	case Inside:
		return ErrInside
	case Outside:
		return nil
	}
	return w.Check(word)
}
