package console

import (
	"bytes"
	"errors"
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
