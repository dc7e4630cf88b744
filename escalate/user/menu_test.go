package user

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/templates"
)

func option(id, label string, a core.Action) core.Option {
	return core.Option{ID: id, Label: label, Action: a}
}

func TestMenu(t *testing.T) {
	var (
		goOn   = option("continue", "Continue", core.ActionContinue)
		accept = option("accept", "Accept", core.ActionAccept)
		stop   = option("cancel", "Cancel", core.ActionCancel)
		review = option("look", "Have a look", core.ActionReview)
	)
	for _, tt := range []struct {
		name    string
		options []core.Option
		want    string
	}{
		{"words and a review come last", []core.Option{goOn, accept, stop}, "Continue|Accept|Cancel|Type what to do|Review …"},
		{"cancel first", []core.Option{stop, goOn}, "Cancel|Continue|Type what to do|Review …"},
		{"review listed", []core.Option{goOn, review, stop}, "Continue|Cancel|Type what to do|Have a look"},
		{"at the cap", []core.Option{accept, stop}, "Accept|Cancel|Review …"},
		{"no cancel", []core.Option{goOn, accept}, "Continue|Accept|Type what to do|Review …"},
		{"no cancel, review listed", []core.Option{review, goOn}, "Continue|Type what to do|Have a look"},
		{"equal labels", []core.Option{goOn, option("more", "Continue", core.ActionContinue), stop}, "Continue (continue)|Continue (more)|Cancel|Type what to do|Review …"},
		{"no label", []core.Option{option("go", "\x1b[0m", core.ActionContinue), stop}, "go|Cancel|Type what to do|Review …"},
		{"unsafe label", []core.Option{option("go", "Go\n> on\x1b[A", core.ActionContinue), stop}, "Go > on|Cancel|Type what to do|Review …"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := (Options{}).menu(core.Question{Options: tt.options}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var labels []string
			for _, item := range m.Items {
				labels = append(labels, item.Label)
			}
			if got := strings.Join(labels, "|"); got != tt.want || m.Cursor >= 0 {
				t.Errorf("got %s with the cursor on %d, want %s and none", got, m.Cursor, tt.want)
			}
		})
	}
}

func TestQuestionThatAMenuCannotPut(t *testing.T) {
	twice := []core.Option{option("a", "A", core.ActionContinue), option("a", "B", core.ActionCancel)}
	if _, err := (Options{}).menu(core.Question{Options: twice}, nil); err == nil || errors.Is(err, core.ErrNoAnswer) {
		t.Errorf("two options with one id: got %v, want an error", err)
	}
	if _, err := (Options{}).menu(core.Question{From: core.FromCommand, Kind: core.KindConfirm, Options: twice[:1]}, nil); err == nil {
		t.Error("a confirm question without yes and no is put")
	}
	if _, err := (Options{}).menu(core.Question{Kind: core.KindSelect}, nil); !errors.Is(err, core.ErrNoAnswer) {
		t.Errorf("a question without options: got %v, want no answer", err)
	}
}

// A replacement for the terminal gets menus, and what it returns is checked.
func TestAskInPlaceOfTheTerminal(t *testing.T) {
	q := core.Question{ID: "q", Details: []string{"one", "two\nthree"}, Options: []core.Option{
		option("continue", "Continue", core.ActionContinue), option("cancel", "Cancel", core.ActionCancel),
	}}
	var seen []Menu
	ask := func(answers ...int) (core.Answer, error) {
		seen = nil
		return New(Options{Ask: func(_ context.Context, m Menu) (Choice, error) {
			seen = append(seen, m)
			return Choice{Item: answers[len(seen)-1]}, nil
		}}).Respond(context.Background(), q, nil)
	}
	if a, err := ask(3, 3, 0); err != nil || a.Option != "continue" || !a.Person || len(seen) != 3 {
		t.Errorf("two reviews, then continue: got %+v, %v", a, err)
	}
	if !slices.Contains(seen[2].Details, "No iteration has ended yet.") || len(seen[2].Details) != len(seen[1].Details) {
		t.Errorf("the details after the reviews are %q", seen[2].Details)
	}
	for _, n := range []int{-1, 2, 4} {
		if a, err := ask(n); err == nil || a.Option != "" || !errors.Is(err, ErrAsked) {
			t.Errorf("item %d: got %+v, %v; want no answer", n, a, err)
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	elsewhere := errors.New("answered elsewhere")
	a, err := New(Options{Ask: func(context.Context, Menu) (Choice, error) { cancel(elsewhere); return Choice{}, nil }}).Respond(ctx, q, nil)
	if a.Option != "" || !errors.Is(err, elsewhere) {
		t.Errorf("cancelled while asking: got %+v, %v", a, err)
	}
}

// A choice of a replacement for the terminal is one of this menu, or an error.
func TestChoiceIsChecked(t *testing.T) {
	several := commandQuestion(func(q *core.Question) { q.Multi, q.AllowText, q.AllowCancel = true, true, true })
	m, err := (Options{}).menu(several, nil)
	if err != nil {
		t.Fatal(err)
	}
	const other, review, cancels = 3, 4, 5
	if !m.Items[other].Types || !m.Items[review].Review || !m.Items[cancels].Cancels || len(m.Items) != 7 {
		t.Fatalf("the items are %+v", m.Items)
	}
	for _, tt := range []struct {
		choice Choice
		good   bool
	}{
		{Choice{Item: 1, Ticked: []int{0, 2}}, true},
		{Choice{Item: 1}, false},
		{Choice{Item: 1, Ticked: []int{2, 0}}, false},
		{Choice{Item: 1, Ticked: []int{0, 0}}, false},
		{Choice{Item: 1, Ticked: []int{other}}, false},
		{Choice{Item: 1, Ticked: []int{6}}, false},
		{Choice{Item: 1, Ticked: []int{-1}}, false},
		{Choice{Item: other, Text: "x"}, true},
		{Choice{Item: other, Text: " \x1b[m "}, false},
		{Choice{Item: other, Text: strings.Repeat("x", maxText)}, true},
		{Choice{Item: other, Text: strings.Repeat("x", maxText+1)}, false},
		{Choice{Item: cancels, Text: "x", Ticked: []int{0}}, true},
	} {
		a, err := New(Options{Ask: func(context.Context, Menu) (Choice, error) { return tt.choice, nil }}).Respond(context.Background(), several, nil)
		if (err == nil) != tt.good || (err != nil && (!errors.Is(err, ErrAsked) || a.Option != "" || a.Options != nil || a.Text != nil || a.Cancelled)) {
			t.Errorf("%+v: got %+v, %v", tt.choice, a, err)
		}
		if tt.good && tt.choice.Item == cancels && (!a.Cancelled || a.Text != nil || a.Options != nil) {
			t.Errorf("a cancel beside text and ticks is %+v", a)
		}
	}
}

// Enter alone gives the very text that the command has proposed, or nothing.
func TestDefaultText(t *testing.T) {
	for value, want := range map[string]bool{
		"main": true, "a  b": true, strings.Repeat("x", maxText): true,
		strings.Repeat("x", maxText+1): false, "a\nb": false, "a\tb": false, " a": false, "a\x1b[31mb": false, "\u202ea": false, "a\xff": false,
	} {
		m, err := (Options{}).menu(core.Question{From: core.FromCommand, Kind: core.KindText, Default: value}, nil)
		if err != nil || (m.Default == value) != want || (m.Default == "") == want {
			t.Errorf("%.20q: the default is %.20q, %v", value, m.Default, err)
		}
	}
}

func commandQuestion(change func(*core.Question)) core.Question {
	q := core.Question{
		ID: "ask-1", From: core.FromCommand, Kind: core.KindSelect,
		Options: []core.Option{{ID: "r", Label: "Red"}, {ID: "g", Label: "Green"}, {ID: "b", Label: "Blue"}},
	}
	change(&q)
	return q
}

// What is typed is whole characters that show, as many as fit, and the same
// however it comes in pieces; what is deleted leaves no half of one.
func FuzzField(f *testing.F) {
	for _, s := range []string{"v1.2", "é漢\x7f", "a\xff\xc3\x28b", "x\x15y\bz\t!", "\u202eevil\u200b", "\xe2\x82"} {
		f.Add(s, 0)
		f.Add(s, maxText-2)
	}
	f.Fuzz(func(t *testing.T, s string, before int) {
		before = min(max(before, -(before+1)), maxText)
		x := field{text: []byte(strings.Repeat("x", before))}
		for i := range len(s) {
			x.take(s[i])
		}
		text := string(x.text)
		if len(text) > maxText || !utf8.ValidString(text) || strings.IndexFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) >= 0 {
			t.Errorf("%q after %d bytes leaves %d bytes: %q", s, before, len(text), text[min(before, len(text)):])
		}
		plain := strings.Map(func(r rune) rune {
			if unicode.IsGraphic(r) && r != utf8.RuneError {
				return r
			}
			return -1
		}, s)
		if before == 0 && plain == s && len(s) <= maxText && text != s {
			t.Errorf("%q became %q", s, text)
		}
	})
}

func TestFieldIsEdited(t *testing.T) {
	for in, want := range map[string]string{
		"ab\x7fc": "ac", "\x7fa": "a", "é\x7f": "", "漢字\b!": "漢!", "ab\x15c": "c", "a\tb": "a b", "a\x00\x07\x01b": "ab",
		"a\xe6\xbc\x7fb": "b", "\xffa": "a", "\xc3a": "a", "\u202ea\u200b": "a", "\xe6\xbc\xa2": "漢",
	} {
		var x field
		for i := range len(in) {
			x.take(in[i])
		}
		if string(x.text) != want {
			t.Errorf("%q leaves %q, want %q", in, x.text, want)
		}
	}
}

func TestHistoryNamesWhatIsThere(t *testing.T) {
	if got := History(nil, templates.Builtin()); len(got) != 1 {
		t.Errorf("no state: %q", got)
	}
	s := &core.State{
		Iterations: 60,
		History: []core.IterationFinished{
			{Iteration: 60, Outcome: core.OutcomeError, ExitCode: 2, Detail: "idle\x1b[2J timeout"},
		},
		Known: []core.KnownIssue{{Hash: 7, Label: "test-fail:1-flaky"}},
		Decisions: []core.Decision{{Iteration: 59, ActionApplied: core.ActionApplied{
			Guard: core.LoopDetected, Option: "skip", Responder: "user", Reason: "known",
		}}},
	}
	got := strings.Join(History(s, templates.Builtin()), "\n")
	for _, want := range []string{"the last 1 of 60", "60  error", "no signature", "(idle timeout)", "test-fail:1-flaky", "59  loop_detected: skip, by user: known"} {
		if !strings.Contains(got, want) {
			t.Errorf("the history does not say %q:\n%s", want, got)
		}
	}
}

// Wide characters take two columns each: what is cut to the width fits it.
func TestWideTextFits(t *testing.T) {
	for _, columns := range []int{14, 20, 40, 80} {
		p := &prompt{responder: &responder{}, columns: columns, rows: 24, keys: &keyboard{}, menu: Menu{
			Header: "反復回数の上限に達しました、どうしますか", Text: "失敗したテストは二つあります。続けますか？",
			Items: []Item{{Label: "続ける", Description: "同じやり方であと五回繰り返す"}},
		}}
		p.ticked = make([]bool, 1)
		shown := p.opening(true) + "\n" + p.sheet().hint + "\n" + p.sheet().message + "\n" + strings.Join(p.sheet().items, "\n")
		for line := range strings.Lines(shown) {
			if w := cells.Width(strings.TrimSuffix(line, "\n")); w > p.width() {
				t.Errorf("%d columns: %q takes %d", columns, line, w)
			}
		}
	}
}

// On a narrow screen a hint says the keys, and nothing is cut off.
func TestHintsOnANarrowScreen(t *testing.T) {
	for columns, want := range map[int]string{40: "a key marks, Enter takes it", 80: "a key marks, Enter takes it · Ctrl-C interrupts"} {
		p := &prompt{responder: &responder{}, columns: columns, rows: 24, keys: &keyboard{armed: true}}
		if got := p.sheet().hint; got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	for _, key := range []string{
		"hint_ticks", "hint_shell", "hint_alone", "hint_own_words", "hint_tick", "hint_tick_first", "hint_mark_first",
		"hint_sentence", "hint_pasted", "hint_unmarked", "hint_end", "hint_full", "hint_empty", "hint_long",
	} {
		if hint := (Options{}).say(key); cells.Width(hint) > 39 {
			t.Errorf("%s is too wide for 40 columns: %q", key, hint)
		}
	}
}

// A guard's question from a run inside this one is put as one of its own: with words, and with
// nothing marked.
func TestAQuestionFromInsideIsPutAsOnesOwn(t *testing.T) {
	q := core.Question{
		ID: "ask-1", From: core.FromCommand, Guard: core.MaxIterations, Kind: core.KindSelect, Header: "Iteration Limit", Text: "Used up", Default: "cancel",
		Path: []string{"inner (run)"}, Options: []core.Option{{ID: "continue", Label: "Continue", Action: core.ActionContinue}, {ID: "cancel", Label: "Cancel", Action: core.ActionCancel}},
	}
	m, err := (Options{}).menu(q, nil)
	if err != nil {
		t.Fatal(err)
	}
	words := slices.ContainsFunc(m.Items, func(i Item) bool { return i.Key == wordsKey && i.Says })
	if !words || m.Cursor != -1 || m.Header != "Iteration Limit" || !m.Sentence || m.Details[0] != "through inner (run)" {
		t.Errorf("%+v", m)
	}
}

// An option that reviews has the letter of the review, as the entry that looprun adds has.
func TestReviewKeepsItsLetter(t *testing.T) {
	q := core.Question{Guard: core.MaxIterations, Text: "Used up", Options: []core.Option{
		{ID: "look", Label: "History", Action: core.ActionReview}, {ID: "cancel", Label: "Cancel", Action: core.ActionCancel},
	}}
	m, err := Options{}.menu(q, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := m.item('r')
	if at < 0 || m.Items[at].ID != "look" || m.Items[at].Number != 0 {
		t.Errorf("r chooses item %d of %+v", at, m.Items)
	}
}
