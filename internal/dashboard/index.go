package dashboard

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/parallel"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// row is a run as the list shows it.
type row struct {
	Key        string         `json:"key"` // what names it in addresses
	ID         string         `json:"id"`
	Title      string         `json:"title"`
	Command    string         `json:"command"`
	Folder     string         `json:"folder"`
	Status     looprun.Status `json:"status"`
	Guard      string         `json:"guard,omitempty"`
	Asks       bool           `json:"asks,omitempty"`
	Alive      bool           `json:"alive,omitempty"`
	Iterations int            `json:"iterations"`
	Runtime    float64        `json:"runtime_seconds"`
	Cost       float64        `json:"cost_usd,omitempty"`
	Started    time.Time      `json:"started"`
	Updated    time.Time      `json:"updated"`
	Label      string         `json:"label,omitempty"`
	Problem    string         `json:"problem,omitempty"`
	Trend      []int          `json:"trend,omitempty"` // failing checks, the last iterations of those shown

	dir  string
	seen stamp
}

// stamp tells whether a journal has grown since it was read.
type stamp struct {
	size int64
	time time.Time
}

func stampOf(dir string) stamp {
	info, err := os.Lstat(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// index knows the runs of all state directories. What it knows is read anew where a
// journal has grown or a run began to live or ended; it writes nothing.
type index struct {
	dirs func() []string

	reading sync.Mutex           // one refresh at a time
	lists   map[string]time.Time // state directories, as they were listed
	whole   time.Time            // when also the runs that had ended were looked at

	mu     sync.Mutex      // what follows is changed by a refresh alone, which holds both
	rows   map[string]*row // by directory
	byKey  map[string]*row
	sorted []*row
}

func newIndex(dirs func() []string) *index {
	return &index{dirs: dirs, rows: map[string]*row{}, byKey: map[string]*row{}, lists: map[string]time.Time{}}
}

// lookAgain is how often runs that had ended are looked at: they may go on.
const lookAgain = 5 * time.Second

// refresh reads what has changed, and reports whether anything did.
func (x *index) refresh() bool {
	x.reading.Lock()
	defer x.reading.Unlock()
	now := time.Now()
	whole := now.Sub(x.whole) >= lookAgain
	if whole {
		x.whole = now
	}
	known := x.rows // nobody else changes it

	var read []string // directories of runs to read
	there := make(map[string]bool, len(known))
	for _, state := range x.dirs() {
		info, err := os.Stat(state)
		if err != nil {
			continue
		}
		if !whole && x.lists[state].Equal(info.ModTime()) {
			continue
		}
		x.lists[state] = info.ModTime()
		ids, err := scratchpad.IDs(state)
		if err != nil {
			continue
		}
		for _, id := range ids {
			dir := filepath.Join(state, id)
			there[dir] = true
			if _, ok := known[dir]; !ok {
				read = append(read, dir)
			}
		}
	}
	for dir, r := range known {
		active := r.Alive || r.Asks || r.Status == looprun.StatusCrashed
		if (active || whole && there[dir]) && (stampOf(dir) != r.seen || scratchpad.Locked(dir) != r.Alive) {
			read = append(read, dir)
		}
	}
	fresh := make([]*row, len(read))
	parallel.Each(len(read), func(i int) { fresh[i] = readRow(read[i]) })

	x.mu.Lock()
	defer x.mu.Unlock()
	changed := len(fresh) > 0
	for _, r := range fresh {
		x.rows[r.dir], x.byKey[r.Key] = r, r
	}
	for dir, r := range x.rows {
		if whole && !there[dir] && !slices.Contains(read, dir) {
			changed = true
			delete(x.byKey, r.Key)
			delete(x.rows, dir)
		}
	}
	if changed {
		x.sort()
	}
	return changed
}

// sort orders the runs: those that ask first, then those that live, then by time.
func (x *index) sort() {
	x.sorted = x.sorted[:0]
	for _, r := range x.rows {
		x.sorted = append(x.sorted, r)
	}
	rank := func(r *row) int {
		switch {
		case r.Asks:
			return 0
		case r.Alive:
			return 1
		}
		return 2
	}
	slices.SortFunc(x.sorted, func(a, b *row) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), b.Started.Compare(a.Started), cmp.Compare(a.dir, b.dir))
	})
}

// readRow reads what the list shows of a run.
func readRow(dir string) *row {
	seen := stampOf(dir) // before the look: what it shows is no older
	s := scratchpad.Summarize(dir)
	var sum [8]byte
	for i, v := 0, xxhash.Sum64String(dir); i < len(sum); i++ {
		sum[i] = byte(v >> (8 * i))
	}
	command := termsafe.Line(console.CommandLine(s.Command))
	r := &row{
		Key: hex.EncodeToString(sum[:]), ID: s.ID, Title: cmp.Or(termsafe.Line(s.Name), command, s.ID), Command: command,
		Folder: folder(dir), Status: s.Status, Guard: s.Guard, Alive: scratchpad.Locked(dir), Iterations: s.Iterations,
		Runtime: s.Runtime, Started: s.Started, Updated: seen.time, Label: termsafe.Line(s.Signature), Problem: termsafe.Line(s.Problem),
		dir: dir, seen: seen,
	}
	if s.Problem == "" && (r.Alive || s.Status.Resumable() || s.Status == looprun.StatusAwaiting || s.Status == looprun.StatusCrashed) {
		if state, _, err := scratchpad.Load(dir); err == nil {
			r.Asks, r.Cost = len(state.Answerable()) > 0, state.Cost
			r.Trend = trendOf(state)
		}
	}
	return r
}

// trendOf are the numbers of failing checks of the last iterations.
func trendOf(s *looprun.State) []int {
	const most = 12
	var trend []int
	for _, f := range s.History[max(0, len(s.History)-most):] {
		if f.Signature.Failing >= 0 {
			trend = append(trend, f.Signature.Failing)
		}
	}
	return trend
}

// folder is where a run works, as a person names it.
func folder(dir string) string {
	f := scratchpad.KeptFor(filepath.Dir(dir))
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		if rel, ok := strings.CutPrefix(f, home+string(filepath.Separator)); ok {
			return termsafe.Line("~/" + filepath.ToSlash(rel))
		}
	}
	return termsafe.Line(f)
}

// listing is a part of the list.
type listing struct {
	Runs    []*row `json:"runs"`
	Total   int    `json:"total"`
	Matched int    `json:"matched"`
	Asking  int    `json:"asking"`
	Running int    `json:"running"`
}

// Filters of the list.
var filters = map[string]func(*row) bool{
	"":        func(*row) bool { return true },
	"asking":  func(r *row) bool { return r.Asks },
	"running": func(r *row) bool { return r.Alive },
	"done":    func(r *row) bool { return r.Status == looprun.StatusDone || r.Status == looprun.StatusAccepted },
	"stopped": func(r *row) bool {
		return !r.Alive && !r.Asks && r.Status != looprun.StatusDone && r.Status != looprun.StatusAccepted
	},
}

// list finds runs: all words of the search have to be somewhere in what is shown.
func (x *index) list(search, filter string, limit int) (listing, error) {
	fits, ok := filters[filter]
	if !ok {
		return listing{}, fmt.Errorf("%q is not a filter", filter)
	}
	words := strings.Fields(strings.ToLower(search))
	x.mu.Lock()
	defer x.mu.Unlock()
	l := listing{Runs: []*row{}, Total: len(x.sorted)}
	for _, r := range x.sorted {
		if r.Asks {
			l.Asking++
		}
		if r.Alive {
			l.Running++
		}
		if !fits(r) || !r.matches(words) {
			continue
		}
		if l.Matched++; len(l.Runs) < limit {
			shown := *r
			l.Runs = append(l.Runs, &shown)
		}
	}
	return l, nil
}

func (r *row) matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(strings.Join([]string{r.Title, r.Command, r.ID, r.Folder, string(r.Status), r.Guard, r.Label}, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// find is the run that an address names; nil: there is none.
func (x *index) find(key string) *row {
	x.mu.Lock()
	defer x.mu.Unlock()
	r, ok := x.byKey[key]
	if !ok {
		return nil
	}
	found := *r
	return &found
}
