package user

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun"
)

func option(id, label string, a looprun.Action) looprun.Option {
	return looprun.Option{ID: id, Label: label, Action: a}
}

func TestMenu(t *testing.T) {
	var (
		goOn   = option("continue", "Continue", looprun.ActionContinue)
		accept = option("accept", "Accept", looprun.ActionAccept)
		stop   = option("cancel", "Cancel", looprun.ActionCancel)
		review = option("look", "Have a look", looprun.ActionReview)
	)
	for _, tt := range []struct {
		name    string
		options []looprun.Option
		want    string
		cursor  int
	}{
		{"review comes before cancel", []looprun.Option{goOn, accept, stop}, "Continue|Accept|Review …|Cancel", 3},
		{"cancel first", []looprun.Option{stop, goOn}, "Cancel|Continue|Review …", 0},
		{"review listed", []looprun.Option{goOn, review, stop}, "Continue|Have a look|Cancel", 2},
		{"no cancel", []looprun.Option{goOn, accept}, "Continue|Accept|Review …", 2},
		{"no cancel, review listed", []looprun.Option{review, goOn}, "Have a look|Continue", 0},
		{"equal labels", []looprun.Option{goOn, option("more", "Continue", looprun.ActionContinue), stop}, "Continue (continue)|Continue (more)|Review …|Cancel", 3},
		{"no label", []looprun.Option{option("go", "\x1b[0m", looprun.ActionContinue), stop}, "go|Review …|Cancel", 2},
		{"unsafe label", []looprun.Option{option("go", "Go\n> on\x1b[A", looprun.ActionContinue), stop}, "Go > on|Review …|Cancel", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := newMenu(looprun.Question{Options: tt.options})
			if err != nil {
				t.Fatal(err)
			}
			var labels []string
			for _, item := range m.Items {
				labels = append(labels, item.Label)
			}
			if got := strings.Join(labels, "|"); got != tt.want || m.Cursor != tt.cursor {
				t.Errorf("got %s with the cursor on %d, want %s on %d", got, m.Cursor, tt.want, tt.cursor)
			}
		})
	}
}

func TestQuestionThatAMenuCannotPut(t *testing.T) {
	twice := []looprun.Option{option("a", "A", looprun.ActionContinue), option("a", "B", looprun.ActionCancel)}
	if _, err := newMenu(looprun.Question{Options: twice}); err == nil || errors.Is(err, looprun.ErrNoAnswer) {
		t.Errorf("two options with one id: got %v, want an error", err)
	}
	if _, err := newMenu(looprun.Question{Kind: looprun.KindText, Options: twice[:1]}); !errors.Is(err, looprun.ErrNoAnswer) {
		t.Errorf("a question for text: got %v, want no answer", err)
	}
}

// A replacement for the terminal gets menus, and what it returns is checked.
func TestAskInPlaceOfTheTerminal(t *testing.T) {
	q := looprun.Question{ID: "q", Details: []string{"one", "two\nthree"}, Options: []looprun.Option{
		option("continue", "Continue", looprun.ActionContinue), option("cancel", "Cancel", looprun.ActionCancel),
	}}
	var seen []Menu
	ask := func(answers ...int) (looprun.Answer, error) {
		seen = nil
		return New(Options{Ask: func(_ context.Context, m Menu) (int, error) {
			seen = append(seen, m)
			return answers[len(seen)-1], nil
		}}).Respond(context.Background(), q, nil)
	}
	if a, err := ask(1, 1, 0); err != nil || a.Option != "continue" || !a.Person || len(seen) != 3 {
		t.Errorf("two reviews, then continue: got %+v, %v", a, err)
	}
	if !slices.Contains(seen[2].Details, "Nothing has run yet.") || len(seen[2].Details) != len(seen[1].Details) || seen[0].Reviewed {
		t.Errorf("the details after the reviews are %q", seen[2].Details)
	}
	for _, n := range []int{-1, 3} {
		if a, err := ask(n); err == nil || a.Option != "" || !errors.Is(err, ErrAsked) {
			t.Errorf("item %d: got %+v, %v; want no answer", n, a, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	a, err := New(Options{Ask: func(context.Context, Menu) (int, error) { cancel(); return 0, nil }}).Respond(ctx, q, nil)
	if a.Option != "" || !errors.Is(err, looprun.ErrInterrupted) {
		t.Errorf("cancelled while asking: got %+v, %v", a, err)
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text   string
		width  int
		indent string
		want   []string
	}{
		{"", 10, "", []string{""}},
		{"one two", 10, "", []string{"one two"}},
		{"one two three", 9, "  ", []string{"one two", "  three"}},
		{"unbreakable", 4, "", []string{"unbr", "eaka", "ble"}},
		{"  indented text", 10, "  ", []string{"  indented", "  text"}},
		{"a\tb", 20, "", []string{"a    b"}},
		{"日本語", 4, "", []string{"日本", "語"}},
		{"日", 1, "", []string{"日"}},
	} {
		if got := wrap(tt.text, tt.width, tt.indent); !slices.Equal(got, tt.want) {
			t.Errorf("wrap(%q, %d) = %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("  one two 日本語 three", 7, "  ")
	f.Fuzz(func(t *testing.T, s string, width int, indent string) {
		width = minColumns - 2 + abs(width)%80
		for _, line := range wrap(s, width, strings.Repeat(" ", len(indent)%8)) {
			if cells(line) > width {
				t.Errorf("%q takes %d of %d columns", line, cells(line), width)
			}
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

func TestHistoryNamesWhatIsThere(t *testing.T) {
	if got := History(nil); len(got) != 1 {
		t.Errorf("no state: %q", got)
	}
	s := &looprun.State{
		Iterations: 60,
		History: []looprun.IterationFinished{
			{Iteration: 60, Outcome: looprun.OutcomeError, ExitCode: 2, Detail: "idle\x1b[2J timeout"},
		},
		Known: []looprun.KnownIssue{{Hash: 7, Label: "test-fail:1-flaky"}},
		Decisions: []looprun.Decision{{Iteration: 59, ActionApplied: looprun.ActionApplied{
			Guard: looprun.LoopDetected, Option: "skip", Responder: "user", Reason: "known",
		}}},
	}
	got := strings.Join(History(s), "\n")
	for _, want := range []string{"the last 1 of 60", "60  error", "no signature", "(idle timeout)", "test-fail:1-flaky", "59  loop_detected: skip, by user: known"} {
		if !strings.Contains(got, want) {
			t.Errorf("the history does not say %q:\n%s", want, got)
		}
	}
}
