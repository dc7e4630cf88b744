package main

import (
	"fmt"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/termsafe"
)

// pendingText is a question in plain lines: what stopped the run or is asked, what it
// rests on, and the ids that answer it.
func pendingText(b *strings.Builder, q looprun.Question) {
	title := termsafe.Line(q.Header)
	if q.From == "" {
		title = termsafe.Line(q.Text)
	}
	fmt.Fprintf(b, "%s (%s)\n", title, termsafe.Line(q.ID))
	if q.From != "" {
		fmt.Fprintln(b, termsafe.Line(q.Text))
	}
	for _, d := range q.Details {
		fmt.Fprintln(b, strings.TrimRight("  "+strings.ReplaceAll(termsafe.Text(d), "\n", "\n  "), " "))
	}
	if q.From == "" {
		b.WriteByte('\n')
	}
	switch {
	case q.Kind == looprun.KindConfirm && len(q.Options) == 0:
		b.WriteString("  yes\n  no\n")
	case q.Kind == looprun.KindText:
		b.WriteString("  --text TEXT\n")
	}
	var ids, labels []string
	for _, o := range q.Options {
		if o.Action == looprun.ActionReview { // a person's at the terminal
			continue
		}
		ids, labels = append(ids, termsafe.Line(o.ID)), append(labels, termsafe.Line(o.Label))
	}
	if o, ok := q.GoesOn(); ok {
		ids, labels = append(ids, "--guidance TEXT"), append(labels, "Type what to do, and go on ("+termsafe.Line(o.Label)+")")
	}
	width := 0
	for _, id := range ids {
		width = max(width, cells.Width(id))
	}
	for i, id := range ids {
		fmt.Fprintf(b, "  %s  %s\n", cells.Pad(id, width), labels[i])
	}
}

// chatQuestion is a question for interfaces that show its text and its options alone:
// what it rests on is part of the text. Where the run can go on, a text in return is
// what to do.
func chatQuestion(q looprun.Question) ask.Question {
	put := session.AsQuestion(q.ForPerson())
	var lines []string
	for _, d := range q.ForPerson().Details {
		lines = append(lines, strings.TrimRight(termsafe.Text(d), " \n"))
	}
	if len(lines) > 0 {
		put.Question += "\n\n" + strings.Join(lines, "\n")
	}
	if q.From == "" {
		put.Question += "\n\nHow to proceed?"
	}
	if _, ok := q.GoesOn(); ok {
		put.AllowText = new(true)
	}
	return put
}

// spokenAnswer makes a text that came back for a guard's question guidance for the
// option that goes on.
func spokenAnswer(q looprun.Question, a looprun.Answer) looprun.Answer {
	if o, ok := q.GoesOn(); ok && a.Text != nil {
		a.Option, a.Guidance, a.Text = o.ID, *a.Text, nil
	}
	return a
}
