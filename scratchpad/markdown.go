package scratchpad

import (
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// longest is how much of a text from outside stands within a line.
const longest = 300

// inline makes text from outside safe within a line of Markdown.
func inline(s string) string { return escaper.Replace(bare(s)) }

// bare is text from outside within a line that a model reads, to which an escape is
// a part of the text. Behind the beginning of a line it can be no heading, list or
// signal.
func bare(s string) string { return termsafe.Short(s, longest) }

var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "|", `\|`)

// code is text as inline code, whatever backticks are in it.
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

// quoted is text as an indented block, which nothing in it can end.
func quoted(s string) string {
	var b strings.Builder
	text := termsafe.Cut(termsafe.Text(s), 10_000)
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}
