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
		{"Ctrl-D", []typed{{0, report}, {ms(500), "\x04"}, {ms(501), enter}}, []key{keyEnter}, core.ErrNoAnswer},
		{"Enter after a key that no option has", []typed{{0, report}, {ms(500), "x"}, {ms(501), enter}}, []key{keyEnter}, core.ErrNoAnswer},
		{"Enter after text", []typed{{0, report}, {ms(500), "x"}, {ms(800), "y"}, {ms(1100), enter}}, nil, core.ErrNoAnswer},
		{"Enter with an arrow", []typed{{0, report}, {ms(500), up + enter}}, []key{keyUp}, core.ErrNoAnswer},
		{"a pasted line", []typed{{0, report}, {ms(500), "yes\ryes\r"}}, nil, core.ErrNoAnswer},
		{"an arrow in two parts", []typed{{0, report}, {ms(500), "\x1b"}, {ms(550), "[B"}}, []key{keyDown}, core.ErrNoAnswer},
		{"an arrow whose rest is late", []typed{{0, report}, {ms(500), "\x1b"}, {ms(700), "[B"}, {ms(1000), enter}}, nil, core.ErrNoAnswer},
		{"Escape, then Enter", []typed{{0, report}, {ms(500), "\x1b"}, {ms(700), enter}}, nil, core.ErrNoAnswer},
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

// A key marks, whenever it comes; a sentence, and what is pasted, marks nothing.
func TestKeyboardMarks(t *testing.T) {
	const report = "\x1b[0n"
	for _, tt := range []struct {
		name   string
		cursor int
		typed  string // a character a key; what is in parentheses comes in one read
		want   string // the item that is marked, or - for none, after each key that did something; ⏎ for an Enter that takes
	}{
		{"a letter and Enter", -1, "g\r", "0 0⏎"},
		{"a digit and Enter", -1, "2\r", "1 1⏎"},
		{"a letter with its Enter", -1, "(g\r)\r", "0 0! 0⏎"},
		{"Enter alone", -1, "\r", "-!"},
		{"digits move the mark", -1, "123\r", "0 1 2 2⏎"},
		{"a digit that no option has", -1, "29\r", "1 1! 1⏎"},
		{"a letter that no option has, then one that an option has", -1, "xc\r", "-! 1 1⏎"},
		{"a letter moves the mark of an arrow", 0, "c\r", "1 1⏎"},
		{"a second letter", -1, "cg\r", "1 -! -!"},
		{"the same letter twice", -1, "cc\r", "1 -! -!"},
		{"a second letter that no option has", -1, "cx\r", "1 -! -!"},
		{"a blank after a mark", -1, "c \r", "1 -! -!"},
		{"a blank after a digit", -1, "2 \r", "1 -! -!"},
		{"a sentence, then a key", -1, "cancel it\rc\r", "1 -! -! -! -! -! -! -! -! -! 1 1⏎"},
		{"a sentence that marks nothing", -1, "ok\r", "-! -! -!"},
		{"a sentence that began too early", -1, "o ic\r", "-! -! -! -! -!"},
		{"a sentence at a default", 0, "no\r", "0! -! -!"},
		{"a sentence, Backspace, and a key", -1, "cax\x7fc\r", "1 -! -! - 1 1⏎"},
		{"words for an option", -1, "cw\r", "1 3 3⏎"},
		{"words for an option, as a sentence", -1, "cwg\r", "1 3 -! -!"},
		{"pasted text", -1, "(cancel)\r", "-! -! -! -! -! -! -!"},
		{"a pasted line", -1, "(cancel\r)", "-! -! -! -! -! -! -!"},
		{"a pasted key with its lines", -1, "(c\r\r)\r", "1 1! 1! 1⏎"},
		{"a letter of several bytes", -1, "(é)c\r", "-! 1 1⏎"},
		{"control characters", 0, "\t\x00\r", "0⏎"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script, at := []typed{{0, report}}, 300
				for rest := tt.typed; rest != ""; at++ { // no timer decides: a millisecond apart
					part := rest[:1]
					if part == "(" {
						part = rest[1:strings.IndexByte(rest, ')')]
						rest = rest[2:]
					}
					script, rest = append(script, typed{ms(at), part}), rest[len(part):]
				}
				k := &keyboard{
					source: &typist{time.Now(), script}, timing: normalTiming, items: 4, cursor: tt.cursor, words: 3,
					changed: func() bool { return false },
				}
				k.item = func(c byte) int {
					if i := strings.IndexByte("gc_w1234", c); i >= 0 {
						return i % 4
					}
					return -1
				}
				var got []string
				for {
					next, err := k.next()
					if err != nil {
						break
					}
					if next.key == keyNone && k.note == "" {
						continue // keys count from here on
					}
					state := "-"
					if k.cursor >= 0 {
						state = fmt.Sprint(k.cursor)
					}
					if k.entered {
						state += "⏎"
					}
					if k.note != "" {
						state += "!"
					}
					got = append(got, state)
				}
				if got := strings.Join(got, " "); got != tt.want {
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
		{"Enter with a tick", false, []typed{{0, report}, {ms(300), " \r"}, {ms(350), enter}}, "␣⏎"},
		{"a blank in text", false, []typed{{0, report}, {ms(300), "yes please"}, {ms(549), " "}, {ms(550), up}}, "↑"},
		{"a blank before text", false, []typed{{0, report}, {ms(300), " yes"}}, ""},
		{"a blank after text", false, []typed{{0, report}, {ms(300), "yes"}, {ms(550), " "}}, ""},
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

// What stands in a sequence is no key, whatever it is.
func TestASequenceIsNoKey(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b]0;x\x18y\r": "", "\x1bPx\x1ay\r\x1b[Ay": "↑y", "\x1b#OHy": "Hy", "\x1bOHy": "homey", "\x1bk\r": "", "\x1b \r": "",
		"\x1b]lx\u009cy\r\x1b\\": "",
	} {
		var d decoder
		got := ""
		for _, k := range d.decode([]byte(text), time.Unix(1, 0)) {
			got += map[key]string{keyText: string(k.text), keyEnter: "⏎", keyUp: "↑", keyFirst: "home"}[k.key]
		}
		if got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
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
