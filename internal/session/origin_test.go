package session

import (
	"bytes"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/origin"
)

// The token is on a screen or nowhere.
func TestWhereATokenIsShown(t *testing.T) {
	for _, c := range []struct{ known, screen, interactive, shown bool }{
		{false, true, false, true}, {false, false, false, false}, {true, true, false, false}, {false, true, true, false},
	} {
		var out bytes.Buffer
		to := &talk{s: &Session{app: &Program{Say: &console.Observer{Messages: console.Messages{W: &out}}}, opts: &config.Options{Interactive: c.interactive}}}
		to.showToken(c.known, c.screen)
		if got := strings.Contains(out.String(), "--token"); got != c.shown || to.token.Check("WRONG") == origin.ErrWrong != c.shown {
			t.Errorf("%+v: it says %q", c, out.String())
		}
	}
}
