// Package problem describes errors in a document that somebody wrote: where, what, and what to
// do about them, all at once.
package problem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is one error in a document. For a file it has File, Line and Column, which count
// from 1; zero means unknown. For a document that was sent it has Path, such as
// questions[1].options[0].label; empty means the document itself.
type Problem struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Path   string `json:"path,omitempty"`
	Text   string `json:"text"`
	// Remedy is what to do about it; empty if the text already includes that.
	Remedy string `json:"remedy,omitempty"`
}

// Error returns "place: text; remedy", without empty parts.
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

// List holds all errors in one or more documents. A nil list is no error; return [List.Err],
// not the list itself.
type List []Problem

// mostShown is the maximum number of problems in a message.
const mostShown = 100

// Error returns one line for each problem, sorted by file and position; if there are very
// many, only the first ones and their total number.
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

// Err returns the list, sorted and without duplicates, or nil if it is empty.
func (ps List) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return slices.Compact(ps.sorted())
}

// sorted returns the sorted list; problems without a position stay in order.
func (ps List) sorted() List {
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return sorted
}

// Add adds a problem in a document that was sent.
func (ps *List) Add(path, text, remedy string) {
	*ps = append(*ps, Problem{Path: path, Text: text, Remedy: remedy})
}

// Has reports whether there is a problem at the path itself.
func (ps List) Has(path string) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Path == path })
}

// Of returns the problems in an error.
func Of(err error) List {
	var ps List
	if err != nil && !errors.As(err, &ps) {
		ps = List{{Text: err.Error()}}
	}
	return slices.Clone(ps)
}
