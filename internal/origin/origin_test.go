package origin

import (
	"errors"
	"testing"
)

// Where the system does not say who asks, only the word on the screen admits.
func TestAWord(t *testing.T) {
	var none Word
	if none.Admit(Unknown, "") == nil || none.Admit(Unknown, "WORD") == nil {
		t.Error("without a word somebody unknown is let in")
	}
	var made, other Word
	word, wrong := made.Make(), other.Make()
	if len(word) != wordLength || word == wrong {
		t.Fatalf("the words are %q and %q", word, wrong)
	}
	if err := made.Admit(Unknown, word); err != nil {
		t.Error(err)
	}
	if err := made.Admit(Inside, word); !errors.Is(err, ErrInside) {
		t.Errorf("the run's own command with the word: %v", err)
	}
	if err := made.Admit(Unknown, ""); !errors.Is(err, ErrNoWord) {
		t.Errorf("somebody unknown without the word: %v", err)
	}
	for n := range wordTries {
		want := ErrWrong
		if n == wordTries-1 {
			want = ErrTries // it is over
		}
		if err := made.Admit(Unknown, wrong); !errors.Is(err, want) {
			t.Errorf("wrong word %d: %v", n, err)
		}
	}
	if err := made.Admit(Unknown, word); !errors.Is(err, ErrTries) {
		t.Errorf("a word can be guessed without end: %v", err)
	}
	if err := made.Admit(Outside, ""); err != nil {
		t.Errorf("somebody outside: %v", err)
	}
}
