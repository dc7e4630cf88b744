package templates

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/internal/termsafe"
)

// Format is how a question is shown.
type Format string

// The formats.
const (
	// FormatText is plain lines of any length, with the ids of the options.
	FormatText Format = "text"
	// FormatTerminal is wrapped to a width, with numbered options.
	FormatTerminal Format = "terminal"
	// FormatJSON is the question as it is in the journal.
	FormatJSON Format = "json"
)

// ParseFormat reads the name of a format; the error lists them.
func ParseFormat(name string) (Format, error) {
	all := []string{string(FormatText), string(FormatTerminal), string(FormatJSON)}
	for _, f := range all {
		if f == name {
			return Format(f), nil
		}
	}
	return "", strictyaml.Problem{Text: fmt.Sprintf("unknown format %q", clip(name, 40)), Remedy: strictyaml.DidYouMean(name, all)}
}

const (
	defaultWidth = 80
	leastWidth   = 20
)

// Render prints the question. The width is that of [FormatTerminal]: 0 is 80
// columns, and less than 20 is 20.
func (s *Set) Render(w io.Writer, q looprun.Question, f Format, width int) error {
	var b bytes.Buffer
	switch f {
	case FormatText:
		s.renderText(&b, q)
	case FormatTerminal:
		if width <= 0 {
			width = defaultWidth
		}
		s.renderTerminal(&b, q, max(width, leastWidth))
	case FormatJSON:
		enc := json.NewEncoder(&b)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(q); err != nil {
			return err
		}
	default:
		_, err := ParseFormat(string(f))
		return err
	}
	return write(w, b.Bytes())
}

func (s *Set) renderText(b *bytes.Buffer, q looprun.Question) {
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
	for _, note := range s.notes(q) {
		fmt.Fprintln(b, note)
	}
}

func (s *Set) renderTerminal(b *bytes.Buffer, q looprun.Question, width int) {
	wrap(b, termsafe.Line(q.Header), "", "", width)
	for line := range strings.SplitSeq(termsafe.Text(q.Text), "\n") {
		wrap(b, line, "", "", width)
	}
	b.WriteByte('\n')
	for _, line := range detailLines(q) {
		text := strings.TrimLeft(line, " ")
		indent := "  " + line[:len(line)-len(text)]
		wrap(b, text, indent, indent+"  ", width)
	}
	b.WriteByte('\n')
	for i, o := range q.Options {
		wrap(b, termsafe.Line(o.Label), fmt.Sprintf("  %d. ", i+1), "     ", width)
		if o.Description != "" {
			wrap(b, termsafe.Line(o.Description), "     ", "     ", width)
		}
	}
	if notes := s.notes(q); len(notes) > 0 {
		b.WriteByte('\n')
		for _, note := range notes {
			wrap(b, note, "", "", width)
		}
	}
}

// detailLines are the details, of which one can have several lines.
func detailLines(q looprun.Question) []string {
	var lines []string
	for _, d := range q.Details {
		for line := range strings.SplitSeq(termsafe.Text(d), "\n") {
			lines = append(lines, strings.TrimRight(line, " "))
		}
	}
	return lines
}

// notes say who may answer, and what happens when nobody does.
func (s *Set) notes(q looprun.Question) []string {
	var notes []string
	if q.Exclusive || q.Mandatory {
		notes = append(notes, s.texts.say("exclusive_note", nil))
	}
	if o, ok := q.Option(q.Default); ok {
		notes = append(notes, s.texts.say("default_note", facts{"Label": termsafe.Line(o.Label)}))
	}
	return notes
}
