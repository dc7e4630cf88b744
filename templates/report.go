package templates

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
)

// report collects the problems of one file. A second problem at the same place is left out,
// because it results from the first.
type report struct {
	doc      *strictyaml.Document
	problems problem.List
}

func (r *report) add(p problem.Problem) {
	same := func(q problem.Problem) bool { return q.Line == p.Line && q.Column == p.Column && p.Line > 0 }
	if !slices.ContainsFunc(r.problems, same) {
		r.problems = append(r.problems, p)
	}
}

// value reports a problem with the value at the path.
func (r *report) value(text, remedy string, path ...any) {
	r.add(r.doc.Problem(text, remedy, path...))
}

// key reports a problem with the last key of the path.
func (r *report) key(text, remedy string, path ...any) {
	p := r.doc.Problem(text, remedy, path...)
	p.Line, p.Column = r.doc.KeyPos(path...)
	r.add(p)
}

// visible reports characters that are invisible, or that change how others look.
func (r *report) visible(text string, path ...any) {
	hidden := func(c rune) bool { return !unicode.IsGraphic(c) && !strings.ContainsRune("\n\t\u200d", c) }
	if i := strings.IndexFunc(text, hidden); i >= 0 {
		r.value(fmt.Sprintf("%q holds the control character %+q", path[len(path)-1], []rune(text[i:])[0]), "remove it", path...)
	}
}

// faults reports problems with the wording at the path.
func (r *report) faults(faults []fault, path ...any) {
	for _, f := range faults {
		p := r.doc.ProblemIn(f.offset, f.text, f.remedy, path...)
		if slices.ContainsFunc(r.problems, func(q problem.Problem) bool { return q == p }) {
			continue
		}
		r.problems = append(r.problems, p) // several can begin where a folded text does
	}
}
