package templates

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/termsafe"
)

// rendered returns the question as text, for goldens.
func rendered(q core.Question) string {
	b := new(bytes.Buffer)
	fmt.Fprintln(b, termsafe.Line(q.Header))
	fmt.Fprintln(b, termsafe.Text(q.Text))
	for _, line := range detailLines(q) {
		fmt.Fprintln(b, "  "+line)
	}
	for _, o := range q.Options {
		fmt.Fprintf(b, "- %s: %s", termsafe.Line(o.ID), termsafe.Line(o.Label))
		if o.Description != "" {
			fmt.Fprintf(b, " (%s)", termsafe.Line(o.Description))
		}
		fmt.Fprintln(b)
	}
	return b.String()
}

// detailLines returns the lines of the details, each of which can have several.
func detailLines(q core.Question) []string {
	var lines []string
	for _, d := range q.Details {
		for line := range strings.SplitSeq(termsafe.Text(d), "\n") {
			lines = append(lines, strings.TrimRight(line, " "))
		}
	}
	return lines
}
