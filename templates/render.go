package templates

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/termsafe"
)

// Format is an output format for questions.
type Format string

// The formats.
const (
	// FormatText is plain lines of any length, including the ids of the options.
	FormatText Format = "text"
	// FormatJSON is the question as written in the journal.
	FormatJSON Format = "json"
)

// Render prints the question. It does not show how the prompt looks; package user has its own
// preview.
func (s *Set) Render(w io.Writer, q core.Question, f Format) error {
	var b bytes.Buffer
	switch f {
	case FormatText:
		s.renderText(&b, q)
	case FormatJSON:
		enc := json.NewEncoder(&b)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(q); err != nil {
			return err
		}
	default:
		return problem.Problem{
			Text:   fmt.Sprintf("unknown format %q", termsafe.Cut(string(f), 40)),
			Remedy: nearest.DidYouMean(string(f), []string{string(FormatText), string(FormatJSON)}),
		}
	}
	return write(w, b.Bytes())
}

func (s *Set) renderText(b *bytes.Buffer, q core.Question) {
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

// notes returns notes on who may answer, and on what happens if nobody does.
func (s *Set) notes(q core.Question) []string {
	var notes []string
	if q.Exclusive || q.Mandatory {
		notes = append(notes, s.texts.say("exclusive_note", nil))
	}
	if o, ok := q.Option(q.Default); ok {
		notes = append(notes, s.texts.say("default_note", facts{"Label": termsafe.Line(o.Label)}))
	}
	return notes
}
