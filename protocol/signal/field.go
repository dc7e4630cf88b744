package signal

import (
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// field is one text of a signal: its key in JSON, its label in text, and where it is
// stored.
type field struct {
	key, label string
	of         func(*Signal) *string
}

// ids are texts of one word or name; messages are texts of any length.
var (
	ids = []field{
		{"task", "Task", func(s *Signal) *string { return &s.Task }},
		{"agent", "Agent", func(s *Signal) *string { return &s.Agent }},
		{"expert", "Expert", func(s *Signal) *string { return &s.Expert }},
		{"cause", "Cause", func(s *Signal) *string { return &s.Cause }},
	}
	messages = []field{
		{"text", "", func(s *Signal) *string { return &s.Text }},
		{"approach", "Approach", func(s *Signal) *string { return &s.Approach }},
		{"outcome", "Outcome", func(s *Signal) *string { return &s.Outcome }},
		{"why_different", "Why Different", func(s *Signal) *string { return &s.WhyDifferent }},
		{"question", "Question", func(s *Signal) *string { return &s.Question }},
		{"context", "Context", func(s *Signal) *string { return &s.Context }},
		{"what_would_help", "What Would Help", func(s *Signal) *string { return &s.WouldHelp }},
	}
)

// tidy makes every text safe to show and trims it.
func (s *Signal) tidy() {
	for _, f := range ids {
		*f.of(s) = termsafe.Line(*f.of(s))
	}
	for _, f := range messages {
		*f.of(s) = tidy(*f.of(s))
	}
	for i, c := range s.Considered {
		s.Considered[i] = Considered{Option: tidy(c.Option), Why: tidy(c.Why)}
	}
	for i, a := range s.Attempts {
		s.Attempts[i] = tidy(a)
	}
}

func tidy(text string) string { return strings.TrimSpace(termsafe.Text(text)) }

// clip cuts a text to at most that many bytes, never inside a character.
func clip(text string, most int) string {
	const mark = "…"
	if len(text) <= most {
		return text
	}
	return termsafe.CutBytes(text, most-len(mark)) + mark
}
