package dashboard

import (
	"cmp"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/many"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// batch is what looprun many was asked to run. The list shows its loops as one group.
type batch struct {
	key  string
	plan *many.Plan
}

// group is the state of a batch, in the list's row for it. Each of its loops is counted once.
type group struct {
	Asks    int  `json:"asks"`
	Runs    int  `json:"runs"`
	Done    int  `json:"done"`
	Stopped int  `json:"stopped"` // and not done
	Waits   int  `json:"waits"`   // not begun
	Active  bool `json:"active"`  // looprun many is at work
	Open    bool `json:"open"`    // its loops are listed after it
}

// batches reads the plans of a state directory that it does not know yet. A plan is written once,
// before its loops start; what it reads is in no list as long as it cannot be read.
func (x *index) batches(state string) {
	ids, err := many.IDs(state)
	if err != nil {
		return
	}
	for _, id := range ids {
		key := fmt.Sprintf("%016x", xxhash.Sum64String(filepath.Join(state, "many", id)))
		if x.plans[key] != nil {
			continue
		}
		if p, err := many.Read(state, id); err == nil {
			b := &batch{key, p}
			x.mu.Lock()
			x.plans[key] = b
			for _, l := range p.Loops {
				x.batchOf[filepath.Join(state, l.RunID)] = b
			}
			x.mu.Unlock()
		}
	}
}

// overlaps tells which loops of a batch change the same files.
func (s *Server) overlaps(w http.ResponseWriter, r *http.Request) {
	s.runs.mu.Lock()
	b := s.runs.plans[r.PathValue("key")]
	s.runs.mu.Unlock()
	if b == nil {
		http.Error(w, "there is no such batch", http.StatusNotFound)
		return
	}
	lines, err := many.Overlaps(r.Context(), filepath.Join(b.plan.State, b.plan.ID))
	reply(w, r, map[string][]string{"lines": lines}, err)
}

// listed is a row of the list. in is the key of the batch below which it is listed, or empty.
type listed struct {
	*row
	in string
}

// grouped returns the rows of a batch: one for all of it, then those of its loops that the page
// shows: those that ask, and, where it is open, as many of the others as there is room for. left
// is how many runs there is no room for.
func (x *index) grouped(b *batch, open bool, room int) (rows []listed, left int) {
	g := &group{Active: b.plan.Active(), Open: open}
	whole := &row{Key: b.key, ID: b.plan.ID, Group: g, Started: b.plan.Started, Updated: b.plan.Started}
	names := convert.Each(b.plan.Loops[:min(len(b.plan.Loops), 20)], func(l many.Loop) string { return l.Name }) // the page cuts them
	rows = append(rows, listed{row: whole})
	for i, l := range b.plan.Loops {
		r := x.rows[filepath.Join(b.plan.State, l.RunID)]
		if r == nil {
			r = &row{Key: fmt.Sprintf("%s-%d", b.key, i), Title: termsafe.Line(l.Name), Started: b.plan.Started, Waits: true}
		}
		switch {
		case r.Waits:
			g.Waits++
		case r.Asks:
			g.Asks++
		case r.Alive:
			g.Runs++
		case r.Status.MayExitZero():
			g.Done++
		default:
			g.Stopped++
		}
		whole.Cost, whole.Folder = whole.Cost+r.Cost, cmp.Or(whole.Folder, r.Folder)
		if r.Updated.After(whole.Updated) {
			whole.Updated = r.Updated
		}
		switch {
		case r.Asks || open && len(rows) < room:
			rows = append(rows, listed{r, b.key})
		case open && !r.Waits:
			left++
		}
	}
	whole.Title = termsafe.Line(plural.Count(len(b.plan.Loops), "loop") + ": " + strings.Join(names, ", "))
	return rows, left
}
