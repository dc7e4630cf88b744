//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"fmt"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// Enter alone takes the default, where the question has one.
func TestDefaultOfWhatTheCommandAsks(t *testing.T) {
	with := func(k core.Kind, value string, multi bool) core.Question {
		return commandAsks(k, func(q *core.Question) {
			q.Default, q.Multi, q.AllowText, q.AllowCancel = value, multi, k == core.KindSelect, true
		})
	}
	for _, tt := range []struct {
		name     string
		question core.Question
		marked   string
		want     core.Answer
	}{
		{"an option", with(core.KindSelect, "b", false), "Blue", core.Answer{Option: "b"}},
		{"one of several", with(core.KindSelect, "g", true), "[x] Green", core.Answer{Options: []string{"g"}}},
		{"two of several", with(core.KindSelect, "g\nb", true), "[x] Green", core.Answer{Options: []string{"g", "b"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, setup{scenario: scenario{Question: tt.question}})
			s.marks(tt.marked)
			s.press(enter)
			s.answered(byPerson(tt.want, "chosen at the terminal"))
		})
	}
	t.Run("text", func(t *testing.T) {
		s := start(t, setup{scenario: scenario{Question: commandAsks(core.KindText, func(q *core.Question) { q.Default = "main" })}})
		s.holds("")
		s.shows("Enter alone answers “main”")
		s.press(enter)
		s.answered(byPerson(core.Answer{Text: words("main")}, "typed at the terminal"))
	})
}

// What the assistant has rejected does not go ahead by Enter alone.
func TestNothingIsPreselectedAfterARejection(t *testing.T) {
	confirm := commandAsks(core.KindConfirm, func(q *core.Question) { q.Default = core.Yes })
	trip := testQuestion()
	trip.Default = "continue"
	for _, tt := range []struct {
		question core.Question
		key      string
		label    string
		want     string
	}{{confirm, "n", "No", core.No}, {trip, "c", "Cancel", "cancel"}} {
		t.Run(tt.want, func(t *testing.T) {
			advice := core.Assistant{}.AdviseAgainst("It drops a table.")
			tt.question.Advice = &advice
			s := start(t, setup{scenario: scenario{Question: tt.question}})
			unmarked(s)
			s.shows("The assistant recommended rejecting this: “It drops a table.”")
			s.press(enter)
			s.shows(said(unmarkedNote))
			s.opens(tt.key, tt.label)
			s.answered(byPerson(core.Answer{Option: tt.want}, "chosen at the terminal"))
		})
	}
}

func TestHeaderSaysWhoAsks(t *testing.T) {
	q := commandAsks(core.KindConfirm, func(q *core.Question) { q.Path = []string{"k3f", "z9\x1b[2Jq"} })
	for _, tt := range []struct {
		state *core.State
		want  string
	}{
		{nil, "━━ The command asks · Release ━━"},
		{&core.State{Precheck: true, Running: true}, "━━ The command asks · Release ━━"},
		{&core.State{Iterations: 2, Open: 3, Running: true}, "━━ The command asks (iteration 3) · Release ━━"},
		{&core.State{Iterations: 2}, "━━ The command asks (iteration 2) · Release ━━"},
	} {
		s := start(t, setup{scenario: scenario{Question: q, State: tt.state}})
		unmarked(s)
		s.shows(tt.want)
		s.shows("through k3f › z9q")
		s.opens("n", "No")
		s.answered(byPerson(core.Answer{Option: core.No}, "chosen at the terminal"))
	}
	if got := new(Options).header(core.Question{From: core.FromCommand, Header: "Question"}, nil); got != "The command asks" {
		t.Errorf("the header of a question without a heading is %q", got)
	}
}

// What is pasted opens no field, and Enter on an empty field goes back to the menu.
func TestFieldIsNotTypedAhead(t *testing.T) {
	q := commandAsks(core.KindSelect, func(q *core.Question) { q.AllowText = true })
	s := start(t, setup{scenario: scenario{Question: q}})
	unmarked(s)
	s.press("w"+enter+"early\r\r", down) // pasted
	s.marks("Red")
	s.opens("w", "Answer in words")
	s.holds("")
	s.press(enter)
	s.marks("Answer in words")
	s.press(enter)
	s.holds("")
	s.press("late")
	s.holds("late")
	s.press(enter)
	s.answered(byPerson(core.Answer{Text: words("late")}, "typed at the terminal"))
}

func TestFieldKeepsItsTextWhenStopped(t *testing.T) {
	su := setup{scenario: scenario{Question: commandAsks(core.KindText, nil)}}
	su.Apart = "job"
	s := start(t, su)
	s.holds("")
	s.press("half a")
	s.holds("half a")
	s.press(ctrlZ)
	s.shows("the job is stopped")
	s.untouched()
	s.press("typed at the shell\n" + enter)
	s.letGo()
	s.sees("the field drawn anew", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "the job is stopped")
		return marked(after) == "half a" && strings.Contains(after, "type the answer")
	})
	s.press(" line")
	s.sees("the rest", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "the job is stopped")
		return marked(after) == "half a line"
	})
	s.press(enter)
	s.answered(byPerson(core.Answer{Text: words("half a line")}, "typed at the terminal"))
}

func TestPastedTextInAField(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", maxText/16)
	for _, tt := range []struct{ name, pasted, shown, want string }{
		{"lines become one", "one\r\ttwo\rthree.", "three.", "one  two three."},
		{"longer than the screen", strings.Repeat("漢字", 200) + "end.", "字end.", strings.Repeat("漢字", 200) + "end."},
		{"all that fits", long[:maxText-4] + "end.", "end.", long[:maxText-4] + "end."},
		{"the rest is left out", long[:maxText-4] + "end.é", "the rest was left out", long[:maxText-4] + "end."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, setup{scenario: scenario{Question: commandAsks(core.KindText, nil)}})
			s.holds("")
			s.press(tt.pasted)
			s.shows(tt.shown)
			if len(tt.pasted) > 256 {
				s.sees("the beginning cut", func(screen string) bool { return strings.HasPrefix(marked(screen), "…") })
			}
			s.press("\x7f")
			s.sees("the last character gone", func(screen string) bool {
				return strings.HasSuffix(marked(screen), "end") || strings.HasSuffix(marked(screen), "three")
			})
			s.press(".")
			s.sees("the last character", func(screen string) bool {
				return strings.HasSuffix(marked(screen), ".") && strings.Contains(screen, "type the answer")
			})
			s.press(enter)
			s.answered(byPerson(core.Answer{Text: words(tt.want)}, "typed at the terminal"))
		})
	}
}

// A question that is longer than the screen is shown in full above the menu,
// which repeats its beginning and its end.
func TestLongQuestion(t *testing.T) {
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf("line %d of the question", i+1))
	}
	q := commandAsks(core.KindConfirm, func(q *core.Question) { q.Text = strings.Join(lines, "\n") })
	s := start(t, setup{scenario: scenario{Question: q}, columns: 80, rows: 27})
	unmarked(s)
	s.sees("the question in full", func(screen string) bool {
		return strings.Contains(screen, "line 5 of") && strings.Count(screen, "line 1 of") == 2 && strings.Count(screen, "line 12 of") == 2
	})
	s.opens("n", "No")
	s.answered(byPerson(core.Answer{Option: core.No}, "chosen at the terminal"))
}
