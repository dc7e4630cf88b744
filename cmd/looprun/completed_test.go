package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/completion"
)

// The words before the one that is completed are read as a command line is.
func TestTheWordsBeforeTab(t *testing.T) {
	app := model()
	for _, tt := range []struct {
		typed string // its words are separated by blanks; the last is completed
		mode  completion.Mode
		has   string // a candidate that is offered
		not   string // and one that is not
	}{
		{"", "words", "show", "--"},
		{"-qc ", "words", "", "show"},
		{"-qc x sh", "words", "show", ""},
		{"-cx sh", "words", "show", ""},
		{"--once --o", "words", "", "--once"},
		{"-o check=x --check", "words", "", "--check"},
		{"--check x --chec", "words", "", "--check"},
		{"--color ", "words", "always", "show"},
		{"--backoff ", "words", "exponential", "show"},
		{"-o ", "words", "backoff=", "show"},
		{"-o backoff=", "words", "exponential", "true"},
		{"run --", "words", "--check", "show"},
		{"policy ", "words", "check", "show"},
		{"policy nonsense ", "words", "", "check"},
		{"--nonsense ", "words", "show", ""},
		{"--policy ", "files", "", "show"},
		{"show --format ", "words", "json", ""},
		{"show --format json --", "words", "--pending", "--format"},
		{"show -- ", "words", "", "show"},
		{"-- ", "command 1", "", ""},
		{"run --once -- make ", "command 3", "", ""},
		{"run --policy -- ", "command 3", "", ""},
	} {
		r := completed(app, strings.Split(tt.typed, " "))
		mode := string(r.Mode)
		if r.Mode == completion.Command {
			mode += fmt.Sprintf(" %d", r.CommandAt)
		}
		offers := func(word string) bool {
			return slices.ContainsFunc(r.Candidates, func(c completion.Candidate) bool { return c.Value == word })
		}
		if mode != string(tt.mode) || tt.has != "" && !offers(tt.has) || tt.not != "" && offers(tt.not) {
			t.Errorf("%q: %s %v; want %s with %q and without %q", tt.typed, mode, r.Candidates, tt.mode, tt.has, tt.not)
		}
	}
}
