package session

import (
	"strings"
	"testing"
)

// The last sentence of a long line is the question, with the questions right before it.
func TestQuestionInALine(t *testing.T) {
	long := strings.Repeat("It is so, e.g. in 2.5 of them. ", 8)
	endless := strings.Repeat("or this ", 60) + "or that?"
	for _, c := range []struct{ name, line, question, rest string }{
		{"short", "It is so. Which one?", "It is so. Which one?", ""},
		{"long", long + "**Which one?**", "**Which one?**", strings.TrimSpace(long)},
		{"abbreviated", long + "Which one, e.g. files?", "Which one, e.g. files?", strings.TrimSpace(long)},
		{"two", long + "Which one? \"The first?\"", "Which one? \"The first?\"", strings.TrimSpace(long)},
		{"without blanks", strings.Repeat("就是这样。", 40) + "用哪一个？", "用哪一个？", strings.Repeat("就是这样。", 40)},
		{"one sentence", strings.Repeat("or this ", 30) + "or that?", strings.Repeat("or this ", 30) + "or that?", ""},
		{"endless", long + endless, "…" + endless[len(endless)-longQuestion:], long + endless},
	} {
		if question, rest := questionIn(c.line); question != c.question || rest != c.rest {
			t.Errorf("%s: it asks %q after %q, want %q after %q", c.name, question, rest, c.question, c.rest)
		}
	}
}
