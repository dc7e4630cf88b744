package console

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestMessagesInColour(t *testing.T) {
	var out bytes.Buffer
	m := &Messages{W: &out, Colour: true}
	m.News("news")
	m.Header("iteration 1")
	m.Warn("one\ntwo")
	m.Problem(errors.New("wrong \x1b[31mred\x1b[0m"))
	m.Detail("not shown")
	const by = "\x1b[2mlooprun:\x1b[m "
	want := by + "news\n" + by + "\x1b[1miteration 1\x1b[m\n" + by + "\x1b[33mwarning: one\x1b[m\n" + by + "\x1b[33mtwo\x1b[m\n" + by + "\x1b[31mwrong red\x1b[m\n"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

// TestMessagesFitTheTerminal: no line is wider than the terminal, and no word is lost.
func TestMessagesFitTheTerminal(t *testing.T) {
	const text = "iteration 1: not done after 2s: 1 test failing: TestLogin: got 401, want 200"
	for _, columns := range []int{24, 40, 80, 200} {
		var out strings.Builder
		m := &Messages{W: &out, Columns: func() int { return columns }}
		m.Printf("%s", text)
		var words []string
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := len(line); n > columns {
				t.Errorf("%d columns: %q has %d", columns, line, n)
			}
			words = append(words, strings.Fields(strings.TrimPrefix(line, "looprun:"))...)
		}
		if got := strings.Join(words, " "); got != text {
			t.Errorf("%d columns: it says %q", columns, got)
		}
	}
	var out strings.Builder
	m := &Messages{W: &out}
	m.Printf("%s", text)
	if got := out.String(); got != "looprun: "+text+"\n" {
		t.Errorf("in a pipe it says %q", got)
	}
}
