package session

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

func TestOptionCommandIsEndedAtItsLimit(t *testing.T) {
	c := optionCommand{line: "echo started; sleep 5", dir: t.TempDir(), limit: 50 * time.Millisecond, killAfter: time.Second}
	end, err := c.run(context.Background(), core.Question{})
	if want := "it took longer than 50ms and was ended"; err != nil || end.Findings != want {
		t.Errorf("%+v, %v, not %q", end, err, want)
	}
	if end.ExitCode == 0 {
		t.Error("it looks as if it had ended well")
	}
}

func TestOptionCommandShowsOneLine(t *testing.T) {
	for _, test := range []struct{ what, line, want string }{
		{"standard error", "echo oops >&2; exit 3", "oops"},
		{"blank lines before it", `printf '\n \t\nhere\n'`, "here"},
		{"nothing", "true", ""},
		{"an escape sequence and a tab", `printf '\033]0;title\007a\tb\n'`, "a b"},
		{"a long one", "printf %0300d 0", strings.Repeat("0", optionLine-1) + "…"},
		{"more than is read", "yes | head -c 100000", "y"},
	} {
		c := optionCommand{line: test.line, dir: t.TempDir(), limit: time.Minute}
		if end, err := c.run(context.Background(), core.Question{}); err != nil || end.Findings != test.want {
			t.Errorf("%s: %q, %v", test.what, end.Findings, err)
		}
	}
}
