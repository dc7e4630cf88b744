//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"fmt"
	"testing"
	"time"
)

func TestPipedInputIsNotRead(t *testing.T) {
	su := asking()
	su.stdin = "\n\n\ncontinue\n"
	s := start(t, su)
	s.marks("Cancel")
	s.press(down)
	s.marks("Continue +5")
	s.press(down)
	s.marks("Accept current")
	s.press(enter)
	s.chose("accept", "Accept current")
}

func TestCtrlDIsNoAnswer(t *testing.T) {
	for name, first := range map[string]string{"at once": "", "after text": "cont", "on continue": down} {
		t.Run(name, func(t *testing.T) {
			s := start(t, asking())
			s.marks("Cancel")
			s.press(first)
			if first == down {
				s.marks("Continue +5")
			}
			s.press(ctrlD)
			if out := s.unanswered(); !out.NoAnswer {
				t.Errorf("got %+v, want no answer", out)
			}
			s.shows("No answer")
		})
	}
}

func TestTextDoesNothing(t *testing.T) {
	for _, text := range []string{"accept\r", "k\r", "jj\n", "yes\r\r\r", "\t\r", " \r", "1\r", "?\r"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			s := start(t, asking())
			s.marks("Cancel")
			s.press(text, down)
			s.marks("Continue +5")
			s.press(up)
			s.marks("Cancel")
			s.press(enter)
			s.chose("cancel", "Cancel")
		})
	}
}

func TestTypedAhead(t *testing.T) {
	for _, text := range []string{"\n", "\n\n\n", "yes\n", up + up + "\n", "yes\n" + ctrlD, "no newline"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			su := asking()
			su.Held = true
			s := start(t, su)
			s.shows("held")
			s.press(text)
			s.letGo()
			s.marks("Cancel")
			s.press(down)
			s.marks("Continue +5")
			s.press(enter)
			s.chose("continue", "Continue +5")
		})
	}
}

func TestLateKeys(t *testing.T) {
	for _, text := range []string{enter, down + enter, up + up + enter, ctrlD, "\x1b", "\x1b["} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			su := asking()
			su.mute, su.Report = true, time.Hour
			s := start(t, su)
			s.shows("one moment")
			s.press(text)
			s.press("\x1b[0n")
			s.marks("Cancel")
			s.press(down)
			s.marks("Continue +5")
			s.press(down)
			s.marks("Accept current")
			s.press(enter)
			s.chose("accept", "Accept current")
		})
	}
}

func TestTerminalThatNeverReports(t *testing.T) {
	su := asking()
	su.mute = true
	s := start(t, su)
	s.marks("Cancel")
	s.press(enter)
	s.chose("cancel", "Cancel")
}

func TestCtrlCInterrupts(t *testing.T) {
	for name, first := range map[string]string{
		"at once": "", "on continue": down, "after text": "abc", "in a sequence": "\x1b[1;", "extended": "\x1b[99;5u",
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, asking())
			s.marks("Cancel")
			s.press(first)
			if first != "\x1b[99;5u" {
				s.press(ctrlC)
			}
			s.interrupted()
			s.shows("No answer: interrupted.")
		})
	}
}

func TestCtrlCBeforeKeysCount(t *testing.T) {
	su := asking()
	su.mute, su.Report = true, time.Hour
	s := start(t, su)
	s.shows("one moment")
	s.press(ctrlC)
	s.interrupted()
}

func TestStrayEscapes(t *testing.T) {
	for _, text := range []string{
		"\x1b", "\x1b\x1b", "\x1b[", "\x1bO", "\x1bx", "\x1b\r", "\x1b[\r", "\x1b[1;5", "\x1b[1;5A", "\x1b[24;80R", "\x1b[?1;2c",
		"\x1b[200~", "\x1b[200~accept\r\x1b[201~", "\x1b]11;rgb:1e1e/1e1e/1e1e\x07", "\x1b]11;rgb:0/0/0\x1b\\",
		"\x1bP1$r0m\x1b\\", "\x1b[<0;10;10M\x1b[<0;10;10m", "\x1b[I\x1b[O", "\x1b[3~", "\x1b[H\x1b[F", "\x00\xff\xfe\x9bA",
		"\x1b[M !!", "\x1b[13u",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			s := start(t, asking())
			s.marks("Cancel")
			s.press(text, down)
			s.sees("a prompt", func(screen string) bool { return marked(screen) != "" })
			s.press(up + down) // an unfinished string takes the first keys
			s.sees("the cursor to move", func(screen string) bool { return marked(screen) == "Continue +5" })
			s.press(up)
			s.marks("Cancel")
			s.press(enter)
			s.chose("cancel", "Cancel")
		})
	}
}
