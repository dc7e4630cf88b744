//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

func testQuestion() core.Question {
	return core.Question{
		ID: "max_iterations-7", Guard: core.MaxIterations, Kind: core.KindSelect,
		Header:  "Iteration Limit",
		Text:    "Iteration limit (10) reached. How to proceed?",
		Details: []string{"Iteration 10 of 10", "Last output:\n  \x1b[31mFAIL\x1b]0;title\x07 auth\x1b[2J"},
		Options: []core.Option{
			{ID: "continue", Label: "Continue +5", Key: "g", Description: "Add 5 more iterations", Action: core.ActionContinue},
			{ID: "accept", Label: "Accept current", Action: core.ActionAccept},
			{ID: "cancel", Label: "Cancel", Key: "c", Description: "Stop the run", Action: core.ActionCancel},
		},
	}
}

func asking() setup { return setup{scenario: scenario{Question: testQuestion()}} }

// chose checks that a person chose that option, and that the screen says so.
func (s *session) chose(id, label string) {
	s.Helper()
	out := s.ends()
	want := core.Answer{Option: id, Responder: "user", Person: true, Reason: "chosen at the terminal"}
	if out.Err != "" || out.Answer.Option != want.Option || !reflect.DeepEqual(out.Answer, want) {
		s.Fatalf("got %+v, want %+v\n%s", out, want, s.screen.String())
	}
	s.sees("the answer", func(screen string) bool {
		text := strings.Join(strings.Fields(screen), " ")
		return strings.Contains(text, "Answer: "+label) && !strings.Contains(text, "Answer: "+label+" (")
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

// withdrawn checks that the end of the context took the question away.
func (s *session) withdrawn() {
	s.Helper()
	out := s.ends()
	if out.Answer.Option != "" || out.Answer.Text != nil || out.Answer.Options != nil || out.Answer.Cancelled || !out.Elsewhere || out.Interrupted || out.Asked {
		s.Fatalf("got %+v, want the cause of the end of the context", out)
	}
	s.shows("Answered elsewhere.")
	if screen := s.screen.String(); marked(screen) != "" || strings.Contains(screen, "Ctrl-C interrupts") || strings.Contains(screen, "should it be?") {
		s.Errorf("the question is still on the screen\n%s", screen)
	}
}

func (s *session) interrupted() {
	s.Helper()
	if out := s.ends(); out.Answer.Option != "" || !out.Interrupted || out.NoAnswer {
		s.Fatalf("got %+v, want an interrupt", out)
	}
}

func TestEnterChoosesWhatIsMarked(t *testing.T) {
	s := start(t, asking())
	s.onCancel()
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
		{"up", "continue", "Continue +5", []string{up, up}, []string{"Accept current", "Continue +5"}},
		{"around", "continue", "Continue +5", []string{end, down}, []string{"Pause", "Continue +5"}},
		{"keypad", "accept", "Accept current", []string{"\x1bOH", "\x1bOB"}, []string{"Continue +5", "Accept current"}},
		{"back", "cancel", "Cancel", []string{down, up}, []string{"Type what to do", "Cancel"}},
		{"numbered", "accept", "Accept current", []string{"2"}, []string{"Accept current"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, asking())
			s.onCancel()
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
	s.onCancel()
	for _, text := range []string{"━━ Iteration limit (10) reached. How to proceed? ━━", "Iteration 10 of 10", "FAIL auth", "1 g  Continue +5      Add 5 more iterations"} {
		s.shows(text)
	}
	if s.screen.Title() != "" {
		t.Errorf("the evidence set the title to %q", s.screen.Title())
	}
	s.press(enter)
	s.chose("cancel", "Cancel")
}

// A newline that is piped into the program answers nothing.
// Text neither filters nor moves, and an Enter that comes with it is a pasted
// line.
// What is typed before the question is on the screen is thrown away.
// What is on its way when the question is drawn comes before the terminal's
// word that it was drawn, and is thrown away too.
// Escape sequences that nobody typed neither end the prompt nor choose.
// The context ends the prompt without any signal that the prompt knows of.
// A program that ends without returning from the prompt can put the terminal
// back.
func TestResize(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {100, 10}, {160, 50}, {24, 30}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := start(t, asking())
			s.onCancel()
			s.press(home)
			s.marks("Continue +5")
			const old = "what is left of the old size"
			s.screen.Write([]byte("\x1b7\x1b[H" + old + "\x1b8"))
			s.resize(size[0], size[1])
			s.sees("the prompt drawn anew", func(screen string) bool {
				return !strings.Contains(screen, old[:12]) && strings.Count(screen, "> ") == 1 && strings.Count(screen, "Continue +5") == 1 &&
					strings.Contains(screen, "a key marks")
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
			s.sees("the hint", func(screen string) bool { return strings.Contains(screen, "a key marks") })
			s.press(home)
			for _, label := range []string{"Continue +5", "Accept current"} {
				s.sees(label, func(screen string) bool {
					return strings.HasPrefix(marked(screen), label) && (strings.Contains(screen, "a key marks") || strings.Contains(screen, "Enter: "))
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

func TestNobodyCanBeAsked(t *testing.T) {
	for _, tt := range []struct {
		name, why string
		change    func(*setup)
	}{
		{"not in the foreground", "background", func(su *setup) { su.Apart = "background" }},
		{"CI", "CI=true", func(su *setup) { su.Env = []string{"CI=true"} }},
		{"a CI system", "GITHUB_ACTIONS", func(su *setup) { su.Env = []string{"GITHUB_ACTIONS=true"} }},
		{"CI by flag", "gitlab", func(su *setup) { su.CI = "gitlab" }},
		{"non-interactive", "--non-interactive", func(su *setup) { su.NonInteractive = true }},
		{"off for another reason", "--wait", func(su *setup) { su.NonInteractive, su.Why = true, "--wait" }},
		{"no terminal", "there is no terminal", func(su *setup) { su.Tty = "/nonexistent" }},
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
	s.onCancel()
	s.press(enter)
	s.chose("cancel", "Cancel")
}

// said returns a built-in text of the prompt.
func said(key string) string { return Options{}.say(key) }
