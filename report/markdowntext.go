package report

import (
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// cell is text from outside as inline code that can stand in a table: nothing in
// code is a link, a mention or markup, whatever it is. "" stays "".
func cell(s string) string {
	s = termsafe.Cut(termsafe.Line(s), maxLabel)
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	// A table is cut into cells before its code is found: a bar needs a
	// backslash, and loses it again. A backslash before a bar would meet it there.
	s = strings.ReplaceAll(s, `\|`, `\ |`)
	return fence + strings.ReplaceAll(s, "|", `\|`) + fence
}

// proseEscapes are what could begin markup in a sentence. A comment, which shows
// nothing, parts what GitHub would make a mention, a reference or an address of.
var proseEscapes = []string{
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"|", `\|`, "~", `\~`, "$", `\$`, "://", `\://`,
	"#", `#<!-- -->`, "@", `@<!-- -->`, "GH-", "GH<!-- -->-", "gh-", "gh<!-- -->-", "www.", "www<!-- -->.",
}

// prose is text from outside within a sentence or a table.
func prose(s string) string {
	s = strings.NewReplacer(proseEscapes...).Replace(termsafe.Cut(termsafe.Line(s), maxProse))
	switch { // what only means something where a line begins
	case strings.HasPrefix(s, "-"), strings.HasPrefix(s, "+"), strings.HasPrefix(s, "#"), strings.HasPrefix(s, "="):
		s = `\` + s
	case len(s) > 0 && s[0] >= '0' && s[0] <= '9':
		s = strings.Replace(s, ". ", `\. `, 1)
	}
	return s
}

// fenced is text from outside as a block that nothing in it can end.
func fenced(s string) string {
	s = strings.TrimRight(termsafe.Text(s), "\n")
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "text\n" + s + "\n" + fence + "\n"
}
