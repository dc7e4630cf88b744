package session

import (
	"bytes"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
)

// Where the system does not say who answers, only the word on the screen admits.
func TestAToken(t *testing.T) {
	var none answerToken
	if none.admit(originUnknown, "") == nil || none.admit(originUnknown, "WORD") == nil {
		t.Error("without a token somebody unknown may answer")
	}
	var made answerToken
	made.make()
	var other answerToken
	other.make()
	if len(made.word) != tokenLength || made.word == other.word {
		t.Fatalf("the tokens are %q and %q", made.word, other.word)
	}
	if err := made.admit(originUnknown, made.word); err != nil {
		t.Error(err)
	}
	if made.admit(originInside, made.word) == nil {
		t.Error("the run's own command may answer with the token")
	}
	if made.admit(originUnknown, "") == nil {
		t.Error("somebody unknown may answer without the token")
	}
	for range tokenTries {
		if err := made.admit(originUnknown, other.word); err == nil {
			t.Error("a wrong token is taken")
		}
	}
	if made.admit(originUnknown, made.word) == nil {
		t.Error("a token can be guessed without end")
	}
	if err := made.admit(originOutside, ""); err != nil {
		t.Errorf("somebody outside: %v", err)
	}
}

// The token is on a screen or nowhere.
func TestWhereATokenIsShown(t *testing.T) {
	for _, c := range []struct{ known, screen, interactive, shown bool }{
		{false, true, false, true}, {false, false, false, false}, {true, true, false, false}, {false, true, true, false},
	} {
		var out bytes.Buffer
		to := &talk{s: &Session{app: &Program{Say: &console.Observer{Messages: console.Messages{W: &out}}}, opts: &config.Options{Interactive: c.interactive}}}
		to.showToken(c.known, c.screen)
		if got := strings.Contains(out.String(), "--token"); got != c.shown || (to.token.word != "") != c.shown {
			t.Errorf("%+v: it says %q, and the token is %q", c, out.String(), to.token.word)
		}
	}
}
