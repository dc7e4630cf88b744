package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a file. Line and Column count from 1;
// zero means that they are not known.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Text   string `json:"text"`
	// Remedy says what to do about it; empty when the text says it all.
	Remedy string `json:"remedy,omitempty"`
}

// Error is "file:line:column: text; remedy", without the parts that are empty.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ":%d", p.Column)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(p.Text)
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return b.String()
}

// Problems are all that is wrong with one or more files. A nil list is no error;
// return [Problems.Err], not the list itself.
type Problems []Problem

// shown is how many problems a message lists.
const shown = 100

// Error has one line a problem, sorted by file and position; of very many it
// has the first ones and their number.
func (ps Problems) Error() string {
	var b strings.Builder
	for i, p := range ps.sorted() {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == shown {
			fmt.Fprintf(&b, "and %d more", len(ps)-shown)
			break
		}
		b.WriteString(p.Error())
	}
	return b.String()
}

// Err returns the list, sorted and without repetitions, or nil when it is empty.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return slices.Compact(ps.sorted())
}

func (ps Problems) sorted() Problems {
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return sorted
}

// ProblemsOf are the problems that an error stands for.
func ProblemsOf(err error) Problems {
	var ps Problems
	if err != nil && !errors.As(err, &ps) {
		ps = Problems{{Text: err.Error()}}
	}
	return slices.Clone(ps)
}
