//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/signature"
)

func testQuestion() looprun.Question {
	return looprun.Question{
		ID: "max_iterations-7", Guard: looprun.MaxIterations, Kind: looprun.KindSelect,
		Header:  "Iteration Limit",
		Text:    "Iteration limit (10) reached. How to proceed?",
		Details: []string{"Iteration 10 of 10", "Last output:\n  \x1b[31mFAIL\x1b]0;title\x07 auth\x1b[2J"},
		Options: []looprun.Option{
			{ID: "continue", Label: "Continue +5", Description: "Add 5 more iterations", Action: looprun.ActionContinue},
			{ID: "accept", Label: "Accept current", Action: looprun.ActionAccept},
			{ID: "cancel", Label: "Cancel", Description: "Stop the run", Action: looprun.ActionCancel},
		},
	}
}

func asking() setup { return setup{scenario: scenario{Question: testQuestion()}} }

// chose checks that a person chose that option, and that the screen says so.
func (s *session) chose(id, label string) {
	s.Helper()
	out := s.ends()
	want := looprun.Answer{Option: id, Responder: "user", Person: true, Reason: "chosen at the terminal"}
	if out.Err != "" || out.Answer.Option != want.Option || out.Answer != want {
		s.Fatalf("got %+v, want %+v\n%s", out, want, s.screen.String())
	}
	s.sees("the answer", func(screen string) bool {
		return strings.Contains(strings.Join(strings.Fields(screen), " "), fmt.Sprintf("Answer: %s (%s)", label, id))
	})
}

// unanswered checks that nothing was chosen although a person was asked.
func (s *session) unanswered() outcome {
	s.Helper()
	out := s.ends()
	if out.Answer.Option != "" || !out.Asked || out.Interrupted || out.Err == "" {
		s.Fatalf("got %+v, want no answer from a person who was asked", out)
	}
	return out
}

func (s *session) interrupted() {
	s.Helper()
	if out := s.ends(); out.Answer.Option != "" || !out.Interrupted || out.NoAnswer {
		s.Fatalf("got %+v, want an interrupt", out)
	}
}

func TestEnterChoosesCancel(t *testing.T) {
	s := start(t, asking())
	s.marks("Cancel")
	s.press(enter)
	s.chose("cancel", "Cancel")
	s.shows("Iteration limit (10) reached.")
}

func TestArrowsMove(t *testing.T) {
	for _, tt := range []struct {
		name, id, label string
		path            []string // keys
		via             []string // what each marks
	}{
		{"up", "continue", "Continue +5", []string{up, up, up}, []string{"Review …", "Accept current", "Continue +5"}},
		{"around", "continue", "Continue +5", []string{down}, []string{"Continue +5"}},
		{"keypad", "accept", "Accept current", []string{"\x1bOB", "\x1bOB"}, []string{"Continue +5", "Accept current"}},
		{"back", "cancel", "Cancel", []string{down, up}, []string{"Continue +5", "Cancel"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, asking())
			s.marks("Cancel")
			for i, k := range tt.path {
				s.press(k)
				s.marks(tt.via[i])
			}
			s.press(enter)
			s.chose(tt.id, tt.label)
		})
	}
}

func TestEvidenceIsShownClean(t *testing.T) {
	s := start(t, asking())
	s.marks("Cancel")
	for _, text := range []string{"── Iteration Limit ──", "Iteration 10 of 10", "FAIL auth", "Continue +5  – Add 5 more iterations"} {
		s.shows(text)
	}
	if s.screen.Title() != "" {
		t.Errorf("the evidence set the title to %q", s.screen.Title())
	}
	s.press(enter)
	s.chose("cancel", "Cancel")
}

// A newline that is piped into the program answers nothing.
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

// Text neither filters nor moves, and an Enter that comes with it is a pasted
// line.
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

// What is typed before the question is on the screen is thrown away.
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

// What is on its way when the question is drawn comes before the terminal's
// word that it was drawn, and is thrown away too.
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

// Escape sequences that nobody typed neither end the prompt nor choose.
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

func TestSignalWhileAsking(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		for _, heeded := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v heeded %v", sig, heeded), func(t *testing.T) {
				su := asking()
				if heeded {
					su.Heeds = []syscall.Signal{sig}
				}
				s := start(t, su)
				s.marks("Cancel")
				s.press(down)
				s.marks("Continue +5")
				if err := s.cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				s.interrupted()
				s.shows("No answer: interrupted.")
			})
		}
	}
}

// The context ends the prompt without any signal that the prompt knows of.
func TestContextEndsWhileAsking(t *testing.T) {
	su := asking()
	su.Heeds = []syscall.Signal{syscall.SIGUSR1}
	s := start(t, su)
	s.marks("Cancel")
	if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	s.interrupted()
}

func TestSignalBeforeKeysCount(t *testing.T) {
	su := asking()
	su.mute, su.Report = true, time.Hour
	s := start(t, su)
	s.shows("one moment")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.interrupted()
}

// A program that ends without returning from the prompt can put the terminal
// back.
func TestRestoreAll(t *testing.T) {
	su := asking()
	su.RestoreAllOn = 2 // the first is none, when keys begin to count
	s := start(t, su)
	s.marks("Cancel")
	s.press(down)
	if out := s.ends(); out != (outcome{}) {
		t.Fatalf("the child went on: %+v", out)
	}
}

func TestPanicIsNoAnswer(t *testing.T) {
	for name, keys := range map[string][]string{"on an arrow": {down}, "on Enter": {enter}} {
		t.Run(name, func(t *testing.T) {
			su := asking()
			su.PanicOn = 2
			s := start(t, su)
			s.marks("Cancel")
			s.press(keys...)
			out := s.unanswered()
			if out.NoAnswer || !strings.Contains(out.Err, "the prompt broke") {
				t.Errorf("got %+v, want the panic as an error", out)
			}
		})
	}
}

func TestTerminalGoesAway(t *testing.T) {
	s := start(t, asking())
	s.marks("Cancel")
	s.press(down)
	s.marks("Continue +5")
	s.hangUp()
	select {
	case out := <-s.report:
		if out.Answer.Option != "" || out.Err == "" {
			t.Errorf("got %+v, want no answer", out)
		}
	case <-time.After(patience):
		t.Fatal("the prompt did not end")
	}
}

func TestResize(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {100, 10}, {160, 50}, {20, 30}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := start(t, asking())
			s.marks("Cancel")
			s.press(down)
			s.marks("Continue +5")
			const old = "what is left of the old size"
			s.screen.Write([]byte("\x1b7\x1b[H" + old + "\x1b8"))
			s.resize(size[0], size[1])
			s.sees("the prompt drawn anew", func(screen string) bool {
				return !strings.Contains(screen, old[:12]) && strings.Count(screen, "> ") == 1 && strings.Count(screen, "Continue +5") == 1 &&
					strings.Contains(screen, "arrows move")
			})
			s.press(down)
			s.sees("the cursor to move", func(screen string) bool { return strings.HasPrefix(marked(screen), "Accept current") })
			s.press(enter)
			s.chose("accept", "Accept current")
		})
	}
}

func TestSmallTerminal(t *testing.T) {
	q := testQuestion()
	for i := range q.Options {
		q.Options[i].Description = strings.Repeat("a long explanation of what it does ", 4)
	}
	for _, size := range [][2]int{{24, 8}, {30, 6}, {60, 9}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := start(t, setup{scenario: scenario{Question: q}, columns: size[0], rows: size[1]})
			for _, label := range []string{"Cancel", "Continue +5", "Accept current"} {
				s.sees(label, func(screen string) bool {
					return strings.HasPrefix(marked(screen), label) && strings.Contains(screen, "arrows")
				})
				if label != "Accept current" {
					s.press(down)
				}
			}
			s.press(enter)
			s.chose("accept", "Accept current")
		})
	}
}

func TestStoppedAndContinued(t *testing.T) {
	su := asking()
	su.Apart = "job"
	s := start(t, su)
	s.marks("Cancel")
	s.press(down)
	s.marks("Continue +5")
	s.press(ctrlZ)
	s.shows("the job is stopped")
	s.untouched()
	s.press("typed at the shell\n" + enter)
	s.letGo()
	s.sees("the prompt drawn anew", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "the job is stopped")
		return marked(after) == "Continue +5" && strings.Contains(after, "arrows move")
	})
	s.press(down)
	s.sees("the cursor to move", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "the job is stopped")
		return marked(after) == "Accept current"
	})
	s.press(enter)
	s.chose("accept", "Accept current")
}

func testState(iterations int) *looprun.State {
	s := &looprun.State{Iterations: iterations}
	for i := 1; i <= iterations; i++ {
		s.History = append(s.History, looprun.IterationFinished{
			Iteration: i, Outcome: looprun.OutcomeNotDone, ExitCode: 1, DurationMS: 1500,
			Signature: signature.Signature{Label: "test-fail:2-auth,logout", Hash: 0xabc},
			Excerpt:   "--- FAIL: auth\x1b[2J\n",
		})
	}
	s.Errors = s.History[max(0, iterations-2):]
	return s
}

func TestReviewIsPrintedAndAsksAgain(t *testing.T) {
	su := asking()
	su.State = testState(3)
	s := start(t, su)
	s.marks("Cancel")
	s.press(up)
	s.marks("Review …")
	s.press(enter)
	s.shows("3×  0000000000000abc  test-fail:2-auth,logout, last in iteration 3")
	s.sees("the question again", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "Signatures")
		return marked(after) == "Review …" && strings.Contains(after, "arrows move")
	})
	s.press(down)
	s.sees("the cursor to move", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "Signatures")
		return marked(after) == "Cancel"
	})
	s.press(enter)
	s.chose("cancel", "Cancel")
}

func TestLongReviewIsPaged(t *testing.T) {
	su := asking()
	su.State = testState(40)
	su.Env = []string{"PAGER=sed -n 's/^  *40  not_done/paged &/p'"}
	s := start(t, su)
	s.marks("Cancel")
	s.press(up)
	s.marks("Review …")
	s.press(enter)
	s.shows("paged")
	s.sees("the question again", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "paged")
		return marked(after) == "Review …" && strings.Contains(after, "arrows move")
	})
	s.press(down, down)
	s.sees("the cursor to move", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "paged")
		return marked(after) == "Continue +5"
	})
	s.press(enter)
	s.chose("continue", "Continue +5")
}

func TestNobodyCanBeAsked(t *testing.T) {
	for _, tt := range []struct {
		name, why string
		change    func(*setup)
	}{
		{"not in the foreground", "foreground", func(su *setup) { su.Apart = "background" }},
		{"CI", "CI=true", func(su *setup) { su.Env = []string{"CI=true"} }},
		{"a CI system", "GITHUB_ACTIONS", func(su *setup) { su.Env = []string{"GITHUB_ACTIONS=true"} }},
		{"CI by flag", "gitlab", func(su *setup) { su.CI = "gitlab" }},
		{"non-interactive", "--non-interactive", func(su *setup) { su.NonInteractive = true }},
		{"a dumb terminal", "TERM=dumb", func(su *setup) { su.Env = []string{"TERM=dumb"} }},
		{"no terminal", "no terminal", func(su *setup) { su.Tty = "/nonexistent" }},
		{"no terminal but a file", "no terminal", func(su *setup) { su.Tty = "/dev/null" }},
		{"nothing to choose from", "no options", func(su *setup) { su.Question.Options = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			su := asking()
			tt.change(&su)
			s := start(t, su)
			s.press(enter)
			out := s.ends()
			if out.Answer.Option != "" || !out.NoAnswer || out.Asked || !strings.Contains(out.Err, tt.why) {
				t.Errorf("got %+v, want no answer because of %s", out, tt.why)
			}
		})
	}
}

func TestCIOff(t *testing.T) {
	su := asking()
	su.Env, su.CI = []string{"CI=true"}, "off"
	s := start(t, su)
	s.marks("Cancel")
	s.press(enter)
	s.chose("cancel", "Cancel")
}
