// Package problem is how looprun says what is wrong with a document that somebody wrote:
// where, what, and what to do about it, all of it at once.
package problem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a document. A file has File, Line and Column,
// which count from 1; zero means that they are not known. A document that was sent has Path,
// such as questions[1].options[0].label; empty: the document itself.
type Problem struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Path   string `json:"path,omitempty"`
	Text   string `json:"text"`
	// Remedy says what to do about it; empty when the text says it all.
	Remedy string `json:"remedy,omitempty"`
}

// Error is "place: text; remedy", without the parts that are empty.
func (p Problem) Error() string {
	place := p.File
	if p.Line > 0 {
		place += fmt.Sprintf(":%d", p.Line)
		if p.Column > 0 {
			place += fmt.Sprintf(":%d", p.Column)
		}
	}
	text := p.Text
	if place = cmp.Or(place, p.Path); place != "" {
		text = place + ": " + text
	}
	if p.Remedy != "" {
		text += "; " + p.Remedy
	}
	return text
}

// List is all that is wrong with one or more documents. A nil list is no error; return
// [List.Err], not the list itself.
type List []Problem

// mostShown is how many problems a message lists.
const mostShown = 100

// Error has one line a problem, sorted by file and position; of very many it
// has the first ones and their number.
func (ps List) Error() string {
	var b strings.Builder
	for i, p := range ps.sorted() {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == mostShown {
			fmt.Fprintf(&b, "and %d more", len(ps)-mostShown)
			break
		}
		b.WriteString(p.Error())
	}
	return b.String()
}

// Err returns the list, sorted and without repetitions, or nil when it is empty.
func (ps List) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return slices.Compact(ps.sorted())
}

// sorted keeps problems without a position in their order.
func (ps List) sorted() List {
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return sorted
}

// Add adds a problem of a document that was sent.
func (ps *List) Add(path, text, remedy string) {
	*ps = append(*ps, Problem{Path: path, Text: text, Remedy: remedy})
}

// Has reports whether something is wrong at the path itself.
func (ps List) Has(path string) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Path == path })
}

// Of returns the problems that an error stands for.
func Of(err error) List {
	var ps List
	if err != nil && !errors.As(err, &ps) {
		ps = List{{Text: err.Error()}}
	}
	return slices.Clone(ps)
}
