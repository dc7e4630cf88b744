//go:build unix

package completion_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/looprun/looprun/internal/completion"
	"github.com/looprun/looprun/internal/looptest/shelltest"
)

// hostile are words that some shell would make something of. Each of them,
// completed and entered, has to arrive as it is, and to have no other effect.
var hostile = []string{
	"plain", "$(touch pwned)", "`touch pwned`", ";touch pwned", "x;touch pwned", "&touch pwned", "|touch pwned", "x>pwned", "a b",
	"it's", `say "so"`, `back\slash`, `end\`, "!!", "x!y", "~root", "*", "?wned", "[ab]", "{a,b}", "(x)", "#x", "$HOME", "${HOME}", "%x", "=ls", "^a^b", "é漢",
	"a'b\"c$(touch pwned)`touch pwned`", "--flag=$(touch pwned)",
}

func TestHostileWordsInShells(t *testing.T) {
	for _, shell := range []completion.Shell{completion.Bash, completion.Zsh, completion.Fish} {
		t.Run(string(shell), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			shelltest.Program(t, dir, "prog", "cat .reply")
			s := shelltest.Start(t, shell, dir, "prog")
			for _, word := range hostile {
				help := "\x1b]0;owned\x07 $(touch pwned) `touch pwned` %F{red}%n\tx\ny"
				reply(t, s, shell, completion.Reply{Mode: completion.Words, Candidates: []completion.Candidate{{Value: word, Help: help}}}, false)
				want := []string{word}
				if shell == completion.Fish && word == "~root" { // it cannot be said to fish
					want = []string{""}
				}
				if got := s.Tab("prog ", ""); !slices.Equal(got, want) {
					t.Errorf("%q arrived as %q", word, got)
				}
				if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
					t.Fatalf("%q was run", word)
				}
			}
		})
	}
}

// Within quotes bash inserts what it is given as it is.
func TestHostileWordsInQuotes(t *testing.T) {
	dir := t.TempDir()
	shelltest.Program(t, dir, "prog", "cat .reply")
	s := shelltest.Start(t, completion.Bash, dir, "prog")
	for _, word := range hostile {
		reply(t, s, completion.Bash, completion.Reply{Mode: completion.Words, Candidates: []completion.Candidate{{Value: word}}}, true)
		want, rest := []string{""}, `"`
		if word == "plain" || word == "=ls" { // bash closes the quote
			want, rest = []string{word}, ""
		}
		if got := s.Tab(`prog "`, rest); !slices.Equal(got, want) {
			t.Errorf("%q arrived as %q", word, got)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Fatal("one of them was run")
	}
}

func reply(t *testing.T, s *shelltest.Session, shell completion.Shell, r completion.Reply, quoted bool) {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b, shell, quoted); err != nil {
		t.Fatal(err)
	}
	s.Write(".reply", b.String())
}
