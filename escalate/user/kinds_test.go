//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"hash/fnv"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// kindOfPrompt is one state of a prompt for what the command asks.
type kindOfPrompt struct {
	name     string
	question core.Question
	// reach goes from the first screen to the state, and ready waits there until
	// keys count and nothing has been changed.
	reach, ready func(*session)
	// finish answers deliberately, with the answer want.
	finish func(*session)
	want   core.Answer
	// enter is what the screen shows after Enter alone; empty: it answers.
	enter string
}

func commandAsks(k core.Kind, change func(*core.Question)) core.Question {
	q := core.Question{ID: "ask-3", From: core.FromCommand, Kind: k, Header: "Release", Text: "Which one should it be?"}
	if k == core.KindSelect {
		q.Options = []core.Option{{ID: "r", Label: "Red"}, {ID: "g", Label: "Green", Description: "like grass"}, {ID: "b", Label: "Blue"}}
	}
	if change != nil {
		change(&q)
	}
	return q
}

func byPerson(a core.Answer, reason string) core.Answer {
	a.Responder, a.Person, a.Reason = core.RespondedByUser, true, reason
	return a
}

func words(s string) *string { return &s }

// choosing moves down until an item is marked, and chooses it.
func choosing(path ...string) func(*session) {
	return func(s *session) {
		s.Helper()
		for _, label := range path {
			s.press(down)
			s.marks(label)
		}
		s.press(enter)
	}
}

// typing types a text, with a slip, and gives it.
func typing(s *session) {
	s.Helper()
	s.press("vv1é漢\x7f", "\x7f2")
	s.holds("vv12")
	s.press("\x15v1.2 é漢")
	s.holds("v1.2 é漢")
	s.press(enter)
}

// holds waits until the field has that text, and keys count.
func (s *session) holds(text string) {
	s.Helper()
	s.sees("the field with "+text, func(screen string) bool {
		return strings.Contains(screen, "type the answer") && marked(screen) == text
	})
}

func marking(label string) func(*session) {
	return func(s *session) { s.Helper(); s.marks(label) }
}

// opens marks an item by its key and takes it.
func (s *session) opens(key, label string) {
	s.Helper()
	s.press(key)
	s.marks(label)
	s.press(enter)
}

// unmarked waits until keys count and nothing is marked.
func unmarked(s *session) {
	s.Helper()
	s.sees("nothing marked", func(screen string) bool {
		return marked(screen) == "" && (strings.Contains(screen, ready) || strings.Contains(screen, said(unmarkedNote)) || strings.Contains(screen, "w types words"))
	})
}

func nothing(*session) {}

func kindsOfPrompts() []kindOfPrompt {
	typed := byPerson(core.Answer{Text: words("v1.2 é漢")}, "typed at the terminal")
	other := commandAsks(core.KindSelect, func(q *core.Question) { q.AllowText = true })
	return []kindOfPrompt{
		{
			"confirm", commandAsks(core.KindConfirm, nil),
			nothing, unmarked, choosing("Yes"),
			byPerson(core.Answer{Option: core.Yes}, "chosen at the terminal"), said(unmarkedNote),
		},
		{
			"select", commandAsks(core.KindSelect, func(q *core.Question) { q.AllowCancel = true }),
			nothing, unmarked, choosing("Red", "Green"),
			byPerson(core.Answer{Option: "g"}, "chosen at the terminal"), said(unmarkedNote),
		},
		{
			"select or text", other,
			nothing, unmarked, choosing("Red"),
			byPerson(core.Answer{Option: "r"}, "chosen at the terminal"), said(unmarkedNote),
		},
		{
			"other", other,
			func(s *session) { unmarked(s); s.opens("w", "Answer in words") },
			func(s *session) { s.Helper(); s.holds("") }, typing, typed, "Answer in words",
		},
		{
			"several", commandAsks(core.KindSelect, func(q *core.Question) { q.Multi = true }),
			nothing, marking("[ ] Red"), func(s *session) {
				s.Helper()
				s.press(down, down)
				s.marks("[ ] Blue")
				s.press(" ")
				s.marks("[x] Blue")
				s.press(up, up)
				s.marks("[ ] Red")
				s.press(" ")
				s.marks("[x] Red")
				s.press(enter)
			},
			byPerson(core.Answer{Options: []string{"r", "b"}}, "chosen at the terminal"), "nothing is ticked yet",
		},
		{
			"text", commandAsks(core.KindText, nil),
			nothing, func(s *session) { s.Helper(); s.holds("") }, typing, typed, "an empty text is not an answer",
		},
		{
			"text or nothing", commandAsks(core.KindText, func(q *core.Question) { q.AllowCancel = true }),
			nothing, unmarked, choosing("Type the answer", "Cancel (do not answer)"),
			byPerson(core.Answer{Cancelled: true}, "cancelled at the terminal"), said(unmarkedNote),
		},
	}
}

// everyKind runs a test in each state of a prompt.
func everyKind(t *testing.T, change func(*setup), test func(*session, kindOfPrompt)) {
	name := fnv.New32a()
	_, _ = name.Write([]byte(t.Name()))
	for i, k := range kindsOfPrompts() {
		if testing.Short() && i%3 != int(name.Sum32()%3) {
			continue // every third, others in each test
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			su := setup{scenario: scenario{Question: k.question}}
			if change != nil {
				change(&su)
			}
			test(start(t, su), k)
		})
	}
}

// there waits for the state, with nothing typed in it yet.
func (s *session) there(k kindOfPrompt) {
	s.Helper()
	k.reach(s)
	k.ready(s)
}

// finishes answers, and checks the answer.
func (s *session) finishes(k kindOfPrompt) {
	s.Helper()
	k.finish(s)
	s.answered(k.want)
}

func (s *session) answered(want core.Answer) {
	s.Helper()
	if out := s.ends(); out.Err != "" || !reflect.DeepEqual(out.Answer, want) {
		s.Fatalf("got %+v, want %+v\n%s", out, want, s.screen.String())
	}
	s.shows("Answer: ")
}
