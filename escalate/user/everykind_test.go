//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

func TestEveryKindIsAnswered(t *testing.T) {
	everyKind(t, nil, func(s *session, k kindOfPrompt) {
		s.shows("━━ The command asks · Release ━━")
		s.shows("Which one should it be?")
		s.there(k)
		s.finishes(k)
		if err := k.question.Accepts(k.want); err != nil {
			t.Errorf("the loop would not take it: %v", err)
		}
	})
}

func TestEnterAloneInEveryKind(t *testing.T) {
	everyKind(t, nil, func(s *session, k kindOfPrompt) {
		s.there(k)
		s.press(enter)
		s.sees(k.enter, func(screen string) bool {
			return strings.Contains(screen, k.enter)
		})
		s.press(ctrlC)
		s.interrupted()
	})
}

func TestTypedAheadInEveryKind(t *testing.T) {
	for _, text := range []string{"\n", "yes\n", up + up + "\n", " \n", "yes\n" + ctrlD, "no newline"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			everyKind(t, func(su *setup) { su.Held = true }, func(s *session, k kindOfPrompt) {
				s.shows("held")
				s.press(text)
				s.letGo()
				s.there(k)
				s.finishes(k)
			})
		})
	}
}

func TestLateKeysInEveryKind(t *testing.T) {
	for _, text := range []string{enter, "yes" + enter, " ", down + enter, ctrlD, "\x1b["} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			everyKind(t, func(su *setup) { su.mute, su.Report = true, time.Hour }, func(s *session, k kindOfPrompt) {
				s.shows(said("hint_wait"))
				s.press(text)
				s.press("\x1b[0n")
				if k.name == "other" { // its field is one more prompt
					unmarked(s)
					s.opens("w", "Answer in words")
					s.shows(said("hint_wait"))
					s.press(text)
					s.press("\x1b[0n")
					k.ready(s)
				} else {
					s.there(k)
				}
				s.finishes(k)
			})
		})
	}
}

func TestPastedLineInEveryKind(t *testing.T) {
	for _, text := range []string{"yes\r", " \r", "y\rn\r", "a b c\r\r"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			everyKind(t, nil, func(s *session, k kindOfPrompt) {
				s.there(k)
				s.press(text)
				switch {
				case k.want.Text != nil:
					s.press("\x15")
					k.ready(s)
				case k.want.Options != nil && text == " \r": // a tick can be seen, and is no answer
					s.marks("[x] Red")
					s.press(" ")
					k.ready(s)
				default: // which note is the last depends on how the terminal cuts the text into reads
					s.sees("a note and no mark", func(screen string) bool {
						return marked(screen) == "" && slices.ContainsFunc([]string{said(pasteNote), said(againNote), said(unmarkedNote), said(sentenceNote)}, func(note string) bool { return strings.Contains(screen, note) })
					})
					if k.want.Options != nil {
						s.press(down)
						k.ready(s)
					}
				}
				s.finishes(k)
			})
		})
	}
}

func TestCtrlDEndsNothingInAnyKind(t *testing.T) {
	for name, first := range map[string]string{"at once": "", "after text": "yes", "after an arrow": down, "after a blank": " "} {
		t.Run(name, func(t *testing.T) {
			everyKind(t, nil, func(s *session, k kindOfPrompt) {
				s.there(k)
				s.press(first, ctrlD)
				s.shows(said(endNote))
				s.press(ctrlC)
				s.interrupted()
			})
		})
	}
}

func TestCtrlCInEveryKind(t *testing.T) {
	for name, first := range map[string]string{"at once": "", "after text": "yes", "in a sequence": "\x1b]0;"} {
		t.Run(name, func(t *testing.T) {
			everyKind(t, nil, func(s *session, k kindOfPrompt) {
				s.there(k)
				s.press(first, ctrlC)
				s.interrupted()
				s.shows("No answer: interrupted.")
			})
		})
	}
}

func TestStrayEscapesInEveryKind(t *testing.T) {
	for _, text := range []string{
		"\x1b", "\x1b\x1b", "\x1b[", "\x1bO", "\x1b\r", "\x1b[\r", "\x1b[1;5A", "\x1b[24;80R", "\x1b[200~", "\x1b[200~\x1b[201~",
		"\x1b]11;rgb:1e1e/1e1e/1e1e\x07", "\x1bP1$r0m\x1b\\", "\x1b[<0;10;10M", "\x1b[I\x1b[O", "\x00\xff\xfe", "\x1b[M !!", "\x1b[13u",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			everyKind(t, nil, func(s *session, k kindOfPrompt) {
				s.there(k)
				s.press(text + "\x07\x1b\\") // which ends a sequence without an end
				k.ready(s)
				s.finishes(k)
			})
		})
	}
}

func TestResizeInEveryKind(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {160, 50}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			everyKind(t, nil, func(s *session, k kindOfPrompt) {
				s.there(k)
				const old = "left of the old size"
				s.screen.Write([]byte("\x1b7\x1b[H" + old + "\x1b8"))
				s.resize(size[0], size[1])
				s.sees("the prompt drawn anew", func(screen string) bool {
					return !strings.Contains(screen, old) && strings.Count(screen, "The command asks") == 1
				})
				k.ready(s)
				s.finishes(k)
			})
		})
	}
}

func TestSignalInEveryKind(t *testing.T) {
	everyKind(t, nil, func(s *session, k kindOfPrompt) {
		s.there(k)
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		s.interrupted()
		s.shows("No answer: interrupted.")
	})
}

// Somebody else has answered, or who asked is gone.
func TestContextEndsInEveryKind(t *testing.T) {
	for _, state := range []string{"ready", "changed", "waiting"} {
		t.Run(state, func(t *testing.T) {
			everyKind(t, func(su *setup) {
				su.Heeds = []syscall.Signal{syscall.SIGUSR1}
				if state == "waiting" {
					su.mute, su.Report = true, time.Hour
				}
			}, func(s *session, k kindOfPrompt) {
				switch state {
				case "waiting":
					s.shows(said("hint_wait"))
				case "changed":
					s.there(k)
					s.press("x", down)
				default:
					s.there(k)
				}
				if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
					t.Fatal(err)
				}
				s.withdrawn()
			})
		})
	}
}

// One question is asked at a time; one that waits for its turn can be withdrawn.
func TestContextEndsBeforeTheTurn(t *testing.T) {
	su := setup{scenario: scenario{Question: commandAsks(core.KindConfirm, nil), Heeds: []syscall.Signal{syscall.SIGUSR1}, Taken: true}}
	s := start(t, su)
	s.shows("taken")
	if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if out := s.ends(); !out.Elsewhere || out.Asked || out.Interrupted || strings.Contains(s.screen.String(), "asks") {
		t.Errorf("got %+v, want the cause\n%s", out, s.screen.String())
	}
}

func TestTerminalGoesAwayInEveryKind(t *testing.T) {
	everyKind(t, nil, func(s *session, k kindOfPrompt) {
		s.there(k)
		s.gone()
	})
}

func TestPanicInEveryKind(t *testing.T) {
	everyKind(t, func(su *setup) { su.PanicOn = 2 }, func(s *session, k kindOfPrompt) {
		if k.name == "other" {
			unmarked(s)
			s.press("w")
		} else {
			k.ready(s)
			s.press(enter)
		}
		if out := s.unanswered(); out.NoAnswer || !strings.Contains(out.Err, "the prompt broke") {
			t.Errorf("got %+v, want the panic as an error", out)
		}
	})
}
