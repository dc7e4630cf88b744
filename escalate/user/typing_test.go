//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

func TestPipedInputIsNotRead(t *testing.T) {
	su := asking()
	su.stdin = "\n\n\ncontinue\n"
	s := start(t, su)
	s.onCancel()
	s.press(home)
	s.marks("Continue +5")
	s.press(down)
	s.marks("Accept current")
	s.press(enter)
	s.chose("accept", "Accept current")
}

func TestTextDoesNothing(t *testing.T) {
	for _, text := range []string{"accept\r", "k\r", "jj\n", "yes\r\r\r", "\t\r", " \r", "x\r", "1x", "ga"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			s := start(t, asking())
			s.onCancel()
			s.press(text, home)
			s.marks("Continue +5")
			s.press(down, down)
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
			s.onCancel()
			s.press(home)
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
			s.onCancel()
			s.press(home)
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
	s.onCancel()
	s.press(enter)
	s.chose("cancel", "Cancel")
}

func TestCtrlCInterrupts(t *testing.T) {
	for name, first := range map[string]string{
		"at once": "", "on continue": down, "after text": "abc", "in a sequence": "\x1b[1;", "extended": "\x1b[99;5u",
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, asking())
			s.onCancel()
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
		"\x1bP1$r0m\x1b\\", "\x1b[<0;10;10M\x1b[<0;10;10m", "\x1b[I\x1b[O", "\x1b[3~", "\x00\xff\xfe\x9bA",
		"\x1b[M !!", "\x1b[13u",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			s := start(t, asking())
			s.onCancel()
			s.press(text, down)
			s.sees("a prompt", func(screen string) bool { return marked(screen) != "" })
			s.press(up + home) // an unfinished string takes the first keys
			s.sees("the cursor to move", func(screen string) bool { return marked(screen) == "Continue +5" })
			s.press(down, down)
			s.marks("Cancel")
			s.press(enter)
			s.chose("cancel", "Cancel")
		})
	}
}

// A key marks, and Enter takes what is marked. An Enter that comes with its key, as on a
// slow line, has to be pressed again.
func TestKeysMark(t *testing.T) {
	for _, tt := range []struct{ name, keys, marked, id, hint string }{
		{"a letter that goes on", "g", "Continue +5", "continue", ready},
		{"a capital", "G", "Continue +5", "continue", ready},
		{"a number that goes on", "1", "Continue +5", "continue", ready},
		{"a letter and Enter", "g" + enter, "Continue +5", "continue", said(againNote)},
		{"a letter that ends", "a", "Accept current", "accept", "this ends the run"},
		{"a number that ends", "3", "Cancel", "cancel", "this ends the run"},
		{"a letter that ends, and Enter", "c" + enter, "Cancel", "cancel", said(againNote)},
		{"a key that no option has, before", "xc", "", "", said(pasteNote)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, asking())
			unmarked(s)
			s.press(tt.keys)
			s.sees("the mark", func(screen string) bool { return marked(screen) == tt.marked && strings.Contains(screen, tt.hint) })
			s.press(enter)
			if tt.id == "" {
				s.press(home)
				s.marks("Continue +5")
				s.opens("c", "Cancel")
				tt.id, tt.marked = "cancel", "Cancel"
			}
			s.chose(tt.id, tt.marked)
		})
	}
}

// A sentence that is typed takes nothing, nor does its Enter.
func TestSentenceTakesNothing(t *testing.T) {
	for _, text := range []string{"try again", "cancel it", "please wait", "do it", "ok", "accept that", "give up", "aa", "no"} {
		t.Run(text, func(t *testing.T) {
			s := start(t, asking())
			unmarked(s)
			for _, c := range text {
				s.press(string(c))
			}
			s.press(enter, home)
			s.marks("Continue +5")
			if text[0] == 'g' {
				s.press(end, up, up, up, up)
				s.marks("Accept current")
				s.press(enter)
				s.chose("accept", "Accept current")
				return
			}
			s.press(enter)
			s.chose("continue", "Continue +5")
		})
	}
}

func TestEnterAloneAnswersNothing(t *testing.T) {
	s := start(t, asking())
	unmarked(s)
	s.press(enter)
	s.shows(said(unmarkedNote))
	s.opens("g", "Continue +5")
	s.chose("continue", "Continue +5")
}

func TestPauseKeepsTheQuestion(t *testing.T) {
	everyKind(t, nil, func(s *session, k kindOfPrompt) {
		k.reach(s)
		k.ready(s)
		if k.want.Text != nil {
			s.press("\x1b") // back from the field
			s.sees("the menu", func(screen string) bool { return strings.Contains(screen, "a key marks") })
		}
		s.opens("p", "Pause")
		if out := s.ends(); !out.Deferred || out.Asked || out.Interrupted || out.NoAnswer {
			s.Errorf("got %+v, want the question kept", out)
		}
	})
}

// With an option marked that ends the run, words say why, and the field says what they end.
func TestWordsAreTheReason(t *testing.T) {
	s := start(t, asking())
	unmarked(s)
	s.press("c")
	s.marks("Cancel")
	s.press("w")
	s.shows("Enter: type words for “Cancel”")
	s.press(enter)
	s.shows("type why · Enter: Cancel, which ends the run")
	s.press("too dear")
	s.sees("the words", func(screen string) bool { return marked(screen) == "too dear" })
	s.press(enter)
	s.answered(byPerson(core.Answer{Option: "cancel"}, "too dear"))
}

// Words belong to no option whose mark is gone: neither after Backspace nor after a sentence.
func TestWordsForgetARemovedMark(t *testing.T) {
	for name, keys := range map[string][]string{"backspace": {"\x7f"}, "a sentence": {"a", "\x7f"}} {
		t.Run(name, func(t *testing.T) {
			s := start(t, asking())
			unmarked(s)
			s.press("c")
			s.marks("Cancel")
			s.press(keys...)
			s.sees("no mark", func(screen string) bool { return marked(screen) == "" })
			s.press("w")
			s.shows("Enter: continue with your words alone")
		})
	}
}

// Where nothing is marked, no reason is asked for: it would be for no answer.
func TestReasonNeedsAnAnswer(t *testing.T) {
	su := asking()
	su.Question = commandAsks(core.KindConfirm, nil)
	s := start(t, su)
	unmarked(s)
	s.opens("w", "Say why")
	s.shows("mark an answer first")
	s.press("n")
	s.marks("No")
	s.press("w")
	s.shows("Enter: type words for “No”")
	s.press(enter)
	s.shows("type why · Enter: No")
	s.press("no backup")
	s.sees("the words", func(screen string) bool { return marked(screen) == "no backup" })
	s.press(enter)
	s.answered(byPerson(core.Answer{Option: core.No}, "no backup"))
}

// Longer words come from an editor.
func TestWordsFromAnEditor(t *testing.T) {
	su := asking()
	su.Env = append(su.Env, `EDITOR=printf 'use sha256\nand keep the tests\n' >`)
	s := start(t, su)
	unmarked(s)
	s.opens("e", "Type what to do")
	s.answered(byPerson(core.Answer{Option: "continue", OwnWords: true, Guidance: "use sha256\nand keep the tests"}, "typed at the terminal"))
}

// Words are for the first option that goes on, where none is marked: never for one that
// ends the run.
func TestWordsAreGuidance(t *testing.T) {
	for _, first := range []string{""} {
		t.Run(first, func(t *testing.T) {
			s := start(t, asking())
			unmarked(s)
			s.opens("w", "Type what to do")
			s.shows("type what to do · Enter continues with these words alone")
			s.press("use sha256")
			s.sees("the words", func(screen string) bool { return marked(screen) == "use sha256" })
			s.press("\x1b")
			s.sees("the menu", func(screen string) bool { return strings.Contains(screen, "a key marks") })
			s.press(enter)
			s.shows("type what to do · Enter continues with these words alone")
			s.press("use sha512")
			s.sees("the words", func(screen string) bool { return marked(screen) == "use sha512" })
			s.press(enter)
			s.answered(byPerson(core.Answer{Option: "continue", OwnWords: true, Guidance: "use sha512"}, "typed at the terminal"))
		})
	}
}

func TestNoWordsAtTheCap(t *testing.T) {
	su := asking()
	su.Question.Options = su.Question.Options[1:]
	s := start(t, su)
	unmarked(s)
	s.press("w", down)
	s.marks("Accept current")
	if screen := s.screen.String(); strings.Contains(screen, "Type what to do") {
		t.Errorf("words are offered where nothing goes on\n%s", screen)
	}
}
