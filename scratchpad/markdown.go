package scratchpad

import (
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// longest is how much of a text from outside is shown within a line, in characters.
const longest = 300

// inline escapes a text from outside for a line of Markdown.
func inline(s string) string { return escaper.Replace(bare(s)) }

// bare cleans a text from outside for a line that a model reads, which would take an escape
// for part of the text. If it is not at the beginning of a line, it cannot be a heading, a
// list or a signal.
func bare(s string) string { return termsafe.Short(s, longest) }

var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "|", `\|`)

// code formats text as inline code, whatever backticks it contains.
func code(s string) string {
	s = termsafe.Short(s, 1000)
	if s == "" {
		return "(nothing)"
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		s = " " + s + " "
	}
	return fence + s + fence
}

// quoted formats text as an indented block, which nothing in it can end.
func quoted(s string) string {
	var b strings.Builder
	text := termsafe.Cut(termsafe.Text(s), 10_000)
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}
