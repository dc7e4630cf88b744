package user

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
)

// What keys send.
const (
	up    = "\x1b[A"
	down  = "\x1b[B"
	enter = "\r"
	ctrlC = "\x03"
	ctrlD = "\x04"
	ctrlZ = "\x1a"
)

// typist is a terminal at which things are typed at set times.
type typist struct {
	began  time.Time
	script []typed
}

type typed struct {
	at   time.Duration
	text string
}

func (p *typist) Write(b []byte) (int, error) { return len(b), nil }

func (p *typist) Read(b []byte, deadline time.Time) (int, error) {
	if len(p.script) == 0 {
		if deadline.IsZero() {
			return 0, io.EOF
		}
		time.Sleep(time.Until(deadline))
		return 0, os.ErrDeadlineExceeded
	}
	due := p.began.Add(p.script[0].at)
	if !deadline.IsZero() && due.After(deadline) {
		time.Sleep(time.Until(deadline))
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(time.Until(due))
	n := copy(b, p.script[0].text)
	if p.script[0].text = p.script[0].text[n:]; p.script[0].text == "" {
		p.script = p.script[1:]
	}
	return n, nil
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// Which keys count, with the waits that people get.
func TestKeyboard(t *testing.T) {
	const report = "\x1b[0n"
	for _, tt := range []struct {
		name   string
		script []typed
		want   []key
		err    error
	}{
		{"keys after the report and a pause", []typed{{0, report}, {ms(300), up}, {ms(301), enter}}, []key{keyUp, keyEnter}, core.ErrNoAnswer},
		{"keys before the report", []typed{{ms(1), enter}, {ms(500), report}, {ms(900), up}}, []key{keyUp}, core.ErrNoAnswer},
		{"keys right after the report", []typed{{0, report}, {ms(200), enter}}, nil, core.ErrNoAnswer},
		{"the pause begins again", []typed{{0, report}, {ms(200), enter}, {ms(400), enter}, {ms(600), enter}, {ms(900), up}}, []key{keyUp}, core.ErrNoAnswer},
		{"no report", []typed{{ms(900), enter}, {ms(1200), up}}, []key{keyUp}, core.ErrNoAnswer},
		{"a held key", []typed{{0, report}, {ms(100), "\r\r"}, {ms(200), "\r\r"}, {ms(440), "\r"}, {ms(680), "\r"}}, nil, core.ErrNoAnswer},
		{"Ctrl-C at any time", []typed{{ms(1), "\x03"}}, nil, core.ErrInterrupted},
		{"Ctrl-\\ at any time", []typed{{ms(1), "\x1c"}}, nil, errQuit},
		{"Ctrl-\\ later, in a sequence", []typed{{0, report}, {ms(500), "\x1b[\x1c"}}, nil, errQuit},
		{"Ctrl-\\ of the extended keyboards", []typed{{0, report}, {ms(500), "\x1b[92;5u"}}, nil, errQuit},
		{"Ctrl-\\ of xterm's extended keyboard", []typed{{0, report}, {ms(500), "\x1b[27;5;92~"}}, nil, errQuit},
		{"Ctrl-D early does nothing", []typed{{ms(1), "\x04"}, {ms(2), report}, {ms(500), down}}, []key{keyDown}, core.ErrNoAnswer},
		{"Ctrl-D", []typed{{0, report}, {ms(500), "\x04"}, {ms(501), enter}}, nil, core.ErrNoAnswer},
		{"Enter after text", []typed{{0, report}, {ms(500), "x"}, {ms(700), enter}}, nil, core.ErrNoAnswer},
		{"Enter long after text", []typed{{0, report}, {ms(500), "x"}, {ms(800), enter}}, []key{keyEnter}, core.ErrNoAnswer},
		{"a pasted line", []typed{{0, report}, {ms(500), "yes\ryes\r"}}, nil, core.ErrNoAnswer},
		{"an arrow in two parts", []typed{{0, report}, {ms(500), "\x1b"}, {ms(550), "[B"}}, []key{keyDown}, core.ErrNoAnswer},
		{"an arrow whose rest is late", []typed{{0, report}, {ms(500), "\x1b"}, {ms(700), "[B"}, {ms(1000), enter}}, []key{keyEnter}, core.ErrNoAnswer},
		{"Escape, then Enter", []typed{{0, report}, {ms(500), "\x1b"}, {ms(700), enter}}, []key{keyEnter}, core.ErrNoAnswer},
		{"a late report", []typed{{ms(1500), report}, {ms(1600), up}}, []key{keyUp}, core.ErrNoAnswer},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &keyboard{
					source: &typist{time.Now(), tt.script}, timing: normalTiming, items: 4, cursor: 3,
					changed: func() bool { return false },
				}
				var got []key
				for {
					next, err := k.next()
					if err != nil {
						if !errors.Is(err, tt.err) {
							t.Errorf("ended with %v, want %v", err, tt.err)
						}
						break
					}
					if next.key != keyNone {
						got = append(got, next.key)
					}
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("got %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// A character that chooses counts when it stands alone, or with one Enter: what is
// pasted comes in pieces, and none of them is a choice.
func TestKeyboardOfHotKeys(t *testing.T) {
	const report = "\x1b[0n"
	for _, tt := range []struct {
		name  string
		typed []typed
		want  string // characters that chose, ⏎, ↓
	}{
		{"alone", []typed{{ms(300), "g"}}, "g"},
		{"with Enter", []typed{{ms(300), "g\r"}}, "g⏎"},
		{"with Enter a moment later", []typed{{ms(300), "g"}, {ms(320), "\r"}}, "g⏎"},
		{"in text", []typed{{ms(300), "go"}}, ""},
		{"in text in pieces", []typed{{ms(300), "g"}, {ms(320), "o"}}, ""},
		{"in text in pieces, with Enter", []typed{{ms(300), "g"}, {ms(320), "o"}, {ms(340), "\r"}}, ""},
		{"before the lines of a paste", []typed{{ms(300), "g\r\r"}}, ""},
		{"before the lines of a paste, in pieces", []typed{{ms(300), "g"}, {ms(310), "\r"}, {ms(320), "\r"}}, ""},
		{"a line before others", []typed{{ms(300), "g"}, {ms(310), "\r"}, {ms(320), "rm"}}, ""},
		{"twice, by hand", []typed{{ms(300), "g"}, {ms(1300), "g"}}, "gg"},
		{"a move in a sentence by hand", []typed{{ms(300), "o"}, {ms(600), "k"}, {ms(900), " "}, {ms(1200), "j"}, {ms(1500), "g"}}, ""},
		{"moves by hand", []typed{{ms(300), "j"}, {ms(600), "j"}, {ms(900), "g"}}, "↓↓g"},
		{"first of a sentence by hand", []typed{{ms(300), "g"}, {ms(600), "o"}, {ms(900), "g"}}, "g"},
		{"in a sentence by hand", []typed{{ms(300), "o"}, {ms(600), "g"}, {ms(900), "g"}, {ms(1200), "\r"}}, "⏎"},
		{"long after a sentence", []typed{{ms(300), "o"}, {ms(1300), "g"}}, "g"},
		{"a mark", []typed{{ms(300), "c"}, {ms(600), "\r"}}, "c⏎2"},
		{"a mark, and a sentence", []typed{{ms(300), "c"}, {ms(600), "o"}, {ms(900), "c"}, {ms(1200), "\r"}}, "c⏎-1"},
		{"a mark, and one that chooses, soon", []typed{{ms(300), "c"}, {ms(600), "g"}, {ms(900), "\r"}}, "c⏎-1"},
		{"a mark, and one that chooses, later", []typed{{ms(300), "c"}, {ms(1300), "g"}}, "cg"},
		{"a mark, and text much later", []typed{{ms(300), "c"}, {ms(5000), "x"}, {ms(6000), "\r"}}, "c⏎-1"},
		{"a mark, and words", []typed{{ms(300), "c"}, {ms(600), "w"}}, "cw"},
		{"a mark, and a move", []typed{{ms(300), "c"}, {ms(600), up}, {ms(900), "\r"}}, "c⏎1"},
		{"a mark, a move, and a sentence", []typed{{ms(300), "c"}, {ms(600), up}, {ms(900), "x"}, {ms(1200), "\r"}}, "c⏎-1"},
		{"a mark twice", []typed{{ms(300), "c"}, {ms(600), "c\r"}}, "cc⏎2"},
		{"a mark, and a blank", []typed{{ms(300), "c"}, {ms(1500), " "}, {ms(1900), "\r"}}, "c⏎2"},
		{"a mark, and a move by a letter, later", []typed{{ms(300), "c"}, {ms(1300), "k"}, {ms(1600), "\r"}}, "c⏎1"},
		{"with an arrow", []typed{{ms(300), "g"}, {ms(310), down}}, "g↓"},
		{"a move alone", []typed{{ms(300), "j"}}, "↓"},
		{"a move with Enter", []typed{{ms(300), "j\r"}}, "↓"},
		{"a move with Enter, in pieces", []typed{{ms(300), "j"}, {ms(320), "\r"}}, "↓"},
		{"a move that is held", []typed{{ms(300), "j"}, {ms(330), "j"}, {ms(360), "j"}}, "↓↓↓"},
		{"a move in text", []typed{{ms(300), "jg"}}, ""},
		{"a move in text in pieces", []typed{{ms(300), "j"}, {ms(320), "g"}}, "↓"},
		{"a move in text in pieces, with Enter", []typed{{ms(300), "j"}, {ms(320), "g"}, {ms(340), "\r"}}, "↓"},
		{"a move, and a choice by hand", []typed{{ms(300), "j"}, {ms(360), "g"}}, "↓g"},
		{"a move, and Enter by hand", []typed{{ms(300), "j"}, {ms(600), "\r"}}, "↓⏎"},
		{"what chooses nothing", []typed{{ms(300), "x"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &keyboard{
					source: &typist{time.Now(), slices.Concat([]typed{{0, report}}, tt.typed)}, timing: normalTiming, items: 4, cursor: -1,
					hot: func(c byte) bool { return c == 'g' || c == 'c' || c == 'w' }, changed: func() bool { return false },
				}
				got := ""
				for {
					next, err := k.next()
					if err != nil {
						break
					}
					switch next.key {
					case keyHot:
						got += string(next.text)
						if next.text == 'c' {
							k.offer(2)
						}
					case keyDown:
						got += "↓"
					case keyEnter:
						if got += "⏎"; strings.HasPrefix(got, "c") {
							got += fmt.Sprint(k.cursor)
						}
					}
				}
				if got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// What counts in a field, and in a list of which several can be ticked.
func TestKeyboardOfOtherPrompts(t *testing.T) {
	const report = "\x1b[0n"
	for _, tt := range []struct {
		name   string
		typing bool
		script []typed
		want   string // text, with ⏎, ␣ for a tick, ↑
	}{
		{"text and Enter", true, []typed{{0, report}, {ms(300), "a b"}, {ms(400), enter}}, "a b⏎"},
		{"Enter with text", true, []typed{{0, report}, {ms(300), "a\r"}, {ms(349), enter}, {ms(400), enter}}, "a  ⏎"},
		{"Enter at once", true, []typed{{0, report}, {ms(300), enter}}, "⏎"},
		{"text before the report", true, []typed{{ms(1), "early"}, {ms(400), "early"}, {ms(500), report}, {ms(600), "early"}, {ms(900), "x"}}, "x"},
		{"arrows in a field", true, []typed{{0, report}, {ms(300), up + down + "\x1b[3~" + "x"}}, "x"},
		{"a tick", false, []typed{{0, report}, {ms(300), " "}, {ms(350), enter}}, "␣⏎"},
		{"Enter with a tick", false, []typed{{0, report}, {ms(300), " \r"}, {ms(349), enter}, {ms(350), enter}}, "␣⏎"},
		{"a blank in text", false, []typed{{0, report}, {ms(300), "yes please"}, {ms(549), " "}, {ms(550), up}}, "↑"},
		{"a blank before text", false, []typed{{0, report}, {ms(300), " yes"}}, ""},
		{"a blank after text", false, []typed{{0, report}, {ms(300), "yes"}, {ms(550), " "}}, "␣"},
		{"a blank before the report", false, []typed{{ms(1), " "}, {ms(500), report}}, ""},
		{"two ticks", false, []typed{{0, report}, {ms(300), " "}, {ms(310), up}, {ms(320), " "}}, "␣↑␣"},
		{"an old mouse report", false, []typed{{0, report}, {ms(300), "\x1b[M !!"}, {ms(600), "\x1b[M"}, {ms(650), "  "}, {ms(900), " "}}, "␣"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &keyboard{
					source: &typist{time.Now(), tt.script}, timing: normalTiming, items: 4, typing: tt.typing, ticks: !tt.typing,
					changed: func() bool { return false },
				}
				got := ""
				for {
					next, err := k.next()
					if err != nil {
						break
					}
					switch next.key {
					case keyText:
						got += string(next.text)
					case keyNone:
					default:
						got += map[key]string{keyEnter: "⏎", keyTick: "␣", keyUp: "↑"}[next.key]
					}
				}
				if got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// How the bytes are cut into reads changes nothing, and keys that choose or
// move come from their own bytes only.
func FuzzDecoder(f *testing.F) {
	for _, s := range []string{"\x1b[A\r", "\x1b[1;5B", "\x1b]0;x\x07\r", "yes\n", "\x1b[0n\x1b[99;5u", "\x1b\x1b[B", "\x1bP\x1b\\\r"} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		now := time.Unix(0, 0)
		var whole, parts decoder
		want := whole.decode(b, now)
		cut = min(max(cut, 0), len(b))
		got := append(parts.decode(b[:cut], now), parts.decode(b[cut:], now)...)
		if !slices.Equal(got, want) {
			t.Fatalf("%q in two parts gives %v, whole %v", b, got, want)
		}
		count := func(what ...byte) (n int) {
			for _, c := range b {
				if slices.Contains(what, c) {
					n++
				}
			}
			return n
		}
		keys := map[key]int{}
		for _, k := range want {
			keys[k.key]++
		}
		if keys[keyEnter] > count('\r', '\n') || keys[keyUp]+keys[keyDown] > count(0x1b) || keys[keyEnd] > count(0x04) {
			t.Fatalf("%q gives %v", b, want)
		}
	})
}
