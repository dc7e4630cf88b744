package main

import (
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/termsafe"
)

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
