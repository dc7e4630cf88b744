package strictyaml

import (
	"slices"

	"github.com/looprun/looprun/internal/problem"
)

// Report is a file with what is wrong with it: what [Decode] has found, and what its reader
// adds.
type Report struct {
	*Document
	Problems problem.List
}

// Value reports a problem at the value that the path leads to. A second problem at the same
// place is left out, because it results from the first.
func (r *Report) Value(text, remedy string, path ...any) { r.add(r.Problem(text, remedy, path...)) }

// Key is [Report.Value] for the last key of the path.
func (r *Report) Key(text, remedy string, path ...any) {
	line, col := r.KeyPos(path...)
	r.add(r.at(line, col, text, remedy))
}

func (r *Report) add(p problem.Problem) {
	same := func(q problem.Problem) bool { return q.Line == p.Line && q.Column == p.Column && p.Line > 0 }
	if !slices.ContainsFunc(r.Problems, same) {
		r.Problems = append(r.Problems, p)
	}
}

// In reports a problem at that byte offset of the text at the path. Several can begin where a
// folded text does, so that only the same problem is left out.
func (r *Report) In(offset int, text, remedy string, path ...any) {
	if p := r.ProblemIn(offset, text, remedy, path...); !slices.Contains(r.Problems, p) {
		r.Problems = append(r.Problems, p)
	}
}
