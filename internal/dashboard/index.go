package dashboard

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/parallel"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// row is a run in the form that the list shows.
type row struct {
	Key        string      `json:"key"` // what names it in addresses
	ID         string      `json:"id"`
	Title      string      `json:"title"`
	Command    string      `json:"command"`
	Folder     string      `json:"folder"`
	Status     core.Status `json:"status"`
	Guard      string      `json:"guard,omitempty"`
	Asks       bool        `json:"asks,omitempty"`
	Asked      []notice    `json:"asked,omitempty"`     // the questions that wait
	Answered   string      `json:"answered,omitempty"`  // see [scratchpad.Summary.Answered]
	Elsewhere  string      `json:"elsewhere,omitempty"` // in which run its question is asked or was answered, in words
	Alive      bool        `json:"alive,omitempty"`
	Iterations int         `json:"iterations"`
	Limit      int         `json:"limit,omitempty"` // of iterations; looked up with the trend
	Runtime    float64     `json:"runtime_seconds"`
	Cost       float64     `json:"cost_usd,omitempty"`
	Started    time.Time   `json:"started"`
	Updated    time.Time   `json:"updated"`
	Label      string      `json:"label,omitempty"`
	Task       string      `json:"task,omitempty"` // where it is not the title
	Problem    string      `json:"problem,omitempty"`
	Trend      []int       `json:"trend,omitempty"` // failing checks, the last iterations of those shown

	Group *group `json:"group,omitempty"` // it is no run, but a batch of them
	In    string `json:"in,omitempty"`    // the key of its batch, below which it is listed
	Waits bool   `json:"waits,omitempty"` // a loop of a batch that has not begun

	dir  string
	seen scratchpad.Stamp
	rest bool // its trend was not looked up yet
	// above is the directory of the run that may ask the question of this paused one, and
	// aboveSeen its journal when this run was read. An empty above means there is none.
	above     string
	aboveSeen scratchpad.Stamp
}

// notice is a question, for a line that tells of it.
type notice struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// index holds the runs of all state directories. It rereads a run when its journal has grown
// or the run has started or ended; it writes nothing.
type index struct {
	dirs func() []string

	reading sync.Mutex           // one refresh at a time
	lists   map[string]time.Time // state directories, as they were listed
	at      time.Time            // of the last refresh
	whole   time.Time            // when to look at the runs that have ended, too
	live    map[string]*followed // runs that go on
	some    chan struct{}        // closed when the first runs are in the list, or there are none
	opened  func()               // closes it

	mu      sync.Mutex      // what follows is changed by a refresh alone, which holds both
	rows    map[string]*row // by directory
	moving  map[string]*row // those that can change at any time
	byKey   map[string]*row
	batchOf map[string]*batch // by the directories of their runs
	plans   map[string]*batch // by their keys
	sorted  []*row
	mixed   bool // they have to be sorted before they are shown
}

// followed is a run in progress, read as its journal grows.
type followed struct {
	from  *scratchpad.Follower
	state core.State
}

func newIndex(dirs func() []string) *index {
	some := make(chan struct{})
	return &index{
		dirs: dirs, rows: map[string]*row{}, moving: map[string]*row{}, byKey: map[string]*row{}, plans: map[string]*batch{}, batchOf: map[string]*batch{}, lists: map[string]time.Time{},
		live: map[string]*followed{}, some: some, opened: sync.OnceFunc(func() { close(some) }),
	}
}

// lookAgain is how often ended runs are checked, since they may be resumed. Very many are
// checked less often, so that it takes at most a 400th of the time.
const lookAgain = 5 * time.Second

// atOnce is how many runs are read before they appear in the list. If there are very many, the
// latest appear while the others are being read.
const atOnce = 500

// refresh reads what has changed, unless the last refresh is less than ago old, and reports
// whether anything did. With a positive ago it does not wait for a concurrent refresh, except
// for the first one until there is something to show.
func (x *index) refresh(ago time.Duration) bool {
	if !x.reading.TryLock() {
		if ago > 0 {
			<-x.some
			return false
		}
		x.reading.Lock()
	}
	defer x.reading.Unlock()
	defer x.opened()
	now := time.Now()
	if now.Sub(x.at) < ago {
		return false
	}
	x.at = now
	whole := !now.Before(x.whole)
	read, there := x.changed(whole)
	if whole {
		x.whole = now.Add(max(lookAgain, 400*time.Since(now)))
	}
	changed := false
	for part := range slices.Chunk(read, atOnce) {
		changed = x.take(x.read(part), nil) || changed
		x.opened()
	}
	if whole {
		changed = x.take(nil, there) || changed
	}
	return changed
}

// read reads runs; it continues those in progress from where it left off.
func (x *index) read(dirs []string) []*row {
	fresh, alive := make([]*row, len(dirs)), make([]bool, len(dirs))
	parallel.Each(len(dirs), func(i int) { alive[i] = scratchpad.Locked(dirs[i]) })
	for i, dir := range dirs {
		if alive[i] && x.live[dir] == nil {
			if from, err := scratchpad.Follow(dir); err == nil {
				x.live[dir] = &followed{from: from}
			}
		}
		if f := x.live[dir]; f != nil {
			fresh[i] = f.row(dir)
		}
		if fresh[i] == nil || !fresh[i].Alive {
			x.leave(dir)
		}
	}
	parallel.Each(len(dirs), func(i int) {
		if fresh[i] == nil {
			fresh[i] = readRow(dirs[i])
		}
	})
	return fresh
}

func (x *index) leave(dir string) {
	if f := x.live[dir]; f != nil {
		_ = f.from.Close()
		delete(x.live, dir)
	}
}

// changed returns the directories of the runs to read; there holds all that were seen.
func (x *index) changed(whole bool) (read []string, there map[string]bool) {
	known := x.rows // nobody else changes it
	there = make(map[string]bool, len(known))
	for _, state := range x.dirs() {
		info, err := os.Stat(state)
		if err != nil || !whole && x.lists[state].Equal(info.ModTime()) {
			continue
		}
		x.lists[state] = info.ModTime()
		x.batches(state)
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
	look := x.moving
	if whole {
		look = known
	}
	for dir, r := range look {
		active := r.active()
		if active && scratchpad.Locked(dir) != r.Alive || (active || whole && there[dir]) && scratchpad.StampOf(dir) != r.seen ||
			r.above != "" && scratchpad.StampOf(r.above) != r.aboveSeen {
			read = append(read, dir)
		}
	}
	return read, there
}

// take stores the rows read, removes the runs that are gone, if that is known, and reports
// whether the list has changed.
func (x *index) take(fresh []*row, there map[string]bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	moved := false
	for _, r := range fresh {
		if old := x.rows[r.dir]; old != nil && old.rank() == r.rank() && old.Started.Equal(r.Started) {
			*old = *r
			r = old
		} else {
			x.rows[r.dir], x.byKey[r.Key], moved = r, r, true
		}
		delete(x.moving, r.dir)
		if r.active() || r.above != "" {
			x.moving[r.dir] = r
		}
	}
	if there != nil {
		for dir, r := range x.rows {
			if !there[dir] {
				moved = true
				delete(x.byKey, r.Key)
				delete(x.rows, dir)
				delete(x.moving, dir)
				x.leave(dir)
			}
		}
	}
	x.mixed = x.mixed || moved
	return moved || len(fresh) > 0
}

// active reports whether the run goes on, or may be about to.
func (r *row) active() bool { return r.Alive || r.Asks || r.Status == core.StatusCrashed }

// rank orders runs: those that ask come first, then those in progress.
func (r *row) rank() int {
	switch {
	case r.Asks:
		return 0
	case r.Alive:
		return 1
	}
	return 2
}

// sort orders the runs by rank, then by time, latest first, if the order has changed.
func (x *index) sort() {
	if !x.mixed {
		return
	}
	x.mixed = false
	x.sorted = slices.SortedFunc(maps.Values(x.rows), func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), b.Started.Compare(a.Started), cmp.Compare(a.dir, b.dir))
	})
}

// row returns the run's current row; nil if it cannot be read further.
func (f *followed) row(dir string) *row {
	seen := scratchpad.StampOf(dir) // before the look: what it shows is no older
	if _, err := f.from.Next(f.state.Apply); err != nil || f.state.RunID == "" {
		return nil
	}
	return rowOf(dir, &f.state, scratchpad.Locked(dir), seen)
}

// rowOf returns the list's row for a run in that state.
func rowOf(dir string, s *core.State, alive bool, seen scratchpad.Stamp) *row {
	r := named(dir, seen, scratchpad.SummaryOf(dir, s, alive))
	r.Alive = alive
	if r.Elsewhere == "" {
		r.Asked = convert.Each(s.Answerable(), func(q core.Question) notice {
			return notice{q.ID, termsafe.Short(q.ForPerson().Text, 200)}
		})
	}
	r.Asks = len(r.Asked) > 0
	if s.Task != s.Name {
		r.Task = termsafe.Line(s.Task)
	}
	r.trends(s)
	return r
}

// readRow returns the list's row for a run at rest.
func readRow(dir string) *row {
	seen := scratchpad.StampOf(dir) // before the look: what it shows is no older
	s := scratchpad.Summarize(dir)
	if s.Problem == "" && (s.Pending || s.Status == core.StatusCrashed || s.Status == core.StatusRunning || s.Status == core.StatusAwaiting) {
		if state, _, err := scratchpad.Load(dir); err == nil {
			return rowOf(dir, state, scratchpad.Locked(dir), seen)
		}
	}
	r := named(dir, seen, s)
	r.rest = true
	return r
}

// named converts a summary into a row.
func named(dir string, seen scratchpad.Stamp, s scratchpad.Summary) *row {
	command := termsafe.Line(core.CommandLine(s.Command))
	above, aboveSeen := "", scratchpad.Stamp{}
	if s.Status == core.StatusPaused {
		if above = scratchpad.Above(dir); above != "" {
			aboveSeen = scratchpad.StampOf(above) // before the look, as with seen
		}
	}
	elsewhere := ""
	if s = s.Placed(); s.AskedIn != "" || s.AnsweredIn != "" {
		elsewhere = s.Standing()
	}
	return &row{
		Key: fmt.Sprintf("%016x", xxhash.Sum64String(dir)), ID: s.ID, Title: cmp.Or(termsafe.Line(s.Name), command, s.ID), Command: command,
		Folder: folder(cmp.Or(s.Place, dir)), Status: s.Status, Guard: s.Guard, Iterations: s.Iterations, Runtime: s.Runtime, Cost: s.CostUSD,
		Started: s.Started, Updated: seen.Time, Label: termsafe.Line(cmp.Or(s.Says, s.Signature)), Problem: termsafe.Line(s.Problem),
		Answered: termsafe.Line(s.Answered), Elsewhere: elsewhere, dir: dir, seen: seen, above: above, aboveSeen: aboveSeen,
	}
}

// trendLength is how many iterations a trend shows.
const trendLength = 12

// trends sets the row's trend from the last iterations of the state, and its limit.
func (r *row) trends(s *core.State) {
	r.Limit = s.Limits.Iterations
	for _, f := range s.History[max(0, len(s.History)-trendLength):] {
		if f.Signature.Hash != 0 && f.Signature.Failing >= 0 {
			r.Trend = append(r.Trend, f.Signature.Failing)
		}
	}
}

// folder returns a folder in a form for people.
func folder(f string) string {
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		if rel, ok := strings.CutPrefix(f, home+string(filepath.Separator)); ok {
			return termsafe.Line("~/" + filepath.ToSlash(rel))
		}
	}
	return termsafe.Line(f)
}

// listing is a part of the list.
type listing struct {
	Runs    []row `json:"runs"`
	Total   int   `json:"total"`
	Matched int   `json:"matched"`
	Left    int   `json:"left,omitempty"` // of those that match, how many are not among the runs
	Asking  int   `json:"asking"`
	Running int   `json:"running"`
}

// filters holds the filters of the list.
var filters = map[string]func(*row) bool{
	"":        func(*row) bool { return true },
	"asking":  func(r *row) bool { return r.Asks },
	"running": func(r *row) bool { return r.Alive },
	"done":    func(r *row) bool { return r.Status.MayExitZero() },
	"stopped": func(r *row) bool { return !r.Alive && !r.Asks && !r.Status.MayExitZero() },
}

// list returns the runs that match: every word of the search must occur somewhere in what is
// shown. Without a search and a filter the loops of a batch are one row, where the first of them
// would be, followed by those that are shown: see [index.grouped].
func (x *index) list(search, filter string, open []string, limit int) (listing, error) {
	fits, ok := filters[filter]
	if !ok {
		return listing{}, fmt.Errorf("%q is not a filter", filter)
	}
	words := strings.Fields(strings.ToLower(search))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sort()
	l, groups := listing{Total: len(x.sorted)}, map[*batch]bool{}
	shown := []listed{}
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
		l.Matched++
		b := x.batchOf[r.dir]
		switch {
		case groups[b]:
		case len(shown) >= limit:
			l.Left++
		case b != nil && search == "" && filter == "":
			groups[b] = true
			rows, left := x.grouped(b, slices.Contains(open, b.key), limit-len(shown))
			shown = append(shown, rows...)
			l.Left += left
		default:
			shown = append(shown, listed{row: r})
		}
	}
	parallel.Each(len(shown), func(i int) { shown[i].look() })
	l.Runs = make([]row, len(shown))
	for i, r := range shown {
		l.Runs[i] = *r.row
		l.Runs[i].In = r.in
	}
	return l, nil
}

// look reads the trend of a run at rest, which is needed only for runs that are shown.
func (r *row) look() {
	if !r.rest {
		return
	}
	r.rest = false
	if s, _, err := scratchpad.Load(r.dir); err == nil {
		r.trends(s)
	}
}

func (r *row) matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(strings.Join([]string{r.Title, r.Task, r.Command, r.ID, r.Folder, string(r.Status), r.Guard, r.Label}, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// find returns the run that an address names, or nil.
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
