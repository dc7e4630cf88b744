// Package turnloop finds what a coding agent repeats within one turn: the same tool calls with
// the same results, calls that all fail with the same error, or the same passage of text.
package turnloop

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/cespare/xxhash/v2"
)

// Found is a repetition.
type Found struct {
	Calls bool     // else a text
	What  []string // the calls, each as people see it, or the passage
	Error string   // what calls with other arguments all failed with; empty: they are the same
	Times int
}

const (
	// Apart is how long after another a call no longer counts as repeating it: an agent may
	// poll.
	Apart = 20 * time.Second

	mostCalls   = 3       // that are made in turn
	mostPieces  = 16      // of a passage: sentences, or lines
	leastText   = 30      // bytes of a passage: shorter ones are ticks, rows of stars, one word
	longestText = 1 << 10 // bytes of a sentence that are looked at
	shownText   = 200     // bytes of a call or a passage that are kept to be shown
)

// Watch observes one agent during one turn.
type Watch struct {
	Times int // how often in a row something is a repetition; less than 2: nothing is

	calls  row
	last   time.Time
	said   row
	piece  []byte // a sentence that has not ended
	size   int    // of it, with what is not kept
	fenced bool   // in a block of code
}

// Reset starts another turn.
func (w *Watch) Reset() { *w = Watch{Times: w.Times, piece: w.piece[:0]} }

// Call is a tool call that has ended.
type Call struct {
	Key   uint64 // of calls that are the same and came to the same
	Shown string // it, as people see it
	// Failed is a key shared by all calls of the tool that failed with the same error,
	// whatever their arguments, and Error is that error. Zero means that the call did not
	// fail, or gave no reason.
	Failed uint64
	Error  string
}

// Call takes a call that ended at the given time. The texts before and after a call never form
// one passage.
func (w *Watch) Call(c Call, at time.Time) (Found, bool) {
	w.said, w.piece, w.size, w.fenced = row{}, w.piece[:0], 0, false
	if at.Sub(w.last) >= Apart {
		w.calls = row{}
	}
	w.last = at
	s := step{hash: c.Key, failed: c.Failed, size: 1, shown: c.Shown[:min(len(c.Shown), shownText)]}
	if n := w.calls.add(s, w.Times, mostCalls, 1); n > 0 {
		return w.found(&w.calls, n, true), true
	}
	if w.calls.fails(w.Times) {
		f := w.found(&w.calls, 1, true)
		f.Error = strings.ToValidUTF8(c.Error[:min(len(c.Error), shownText)], "")
		return f, true
	}
	return Found{}, false
}

// Say adds the next piece of the agent's text, cut anywhere.
func (w *Watch) Say(p []byte) (found Found, ok bool) {
	for _, c := range p {
		ends := c == '\n' || c == ' ' && bytes.ContainsAny(w.piece[max(0, len(w.piece)-1):], ".!?")
		if c != '\n' {
			w.size++
			if len(w.piece) < longestText {
				w.piece = append(w.piece, c)
			}
		}
		if ends && w.end(c == '\n') {
			found, ok = w.found(&w.said, w.said.period, false), true
		}
	}
	return found, ok
}

// end adds the piece that has ended, and reports whether it completes a repetition. It ignores
// code and tables, whose rows are alike.
func (w *Watch) end(line bool) bool {
	text := bytes.Join(bytes.Fields(w.piece), []byte(" "))
	long := w.size > longestText
	w.piece, w.size = w.piece[:0], 0
	switch {
	case line && bytes.HasPrefix(text, []byte("```")):
		w.fenced = !w.fenced
		w.said = row{}
		return false
	case w.fenced || len(text) == 0:
		return false
	case long || text[0] == '|' || !bytes.ContainsFunc(text, unicode.IsLetter):
		w.said = row{}
		return false
	}
	s := step{hash: xxhash.Sum64(text), size: len(text), shown: string(text[:min(len(text), shownText)])}
	return w.said.add(s, w.Times, mostPieces, leastText) > 0
}

// found returns the repetition at the end of the row, and clears the row.
func (w *Watch) found(r *row, period int, calls bool) Found {
	f := Found{Calls: calls, Times: w.Times}
	for _, s := range r.steps[len(r.steps)-period:] {
		f.What = append(f.What, strings.ToValidUTF8(s.shown, ""))
	}
	*r = row{}
	return f
}

// row is a sequence of steps, latest last.
type row struct {
	steps  []step
	period int // of what it ends with
}

type step struct {
	hash   uint64
	failed uint64 // of how it failed; zero: it did not
	size   int
	shown  string
}

// fails reports whether the row ends with that many calls that failed with the same error.
func (r *row) fails(times int) bool {
	if times < 2 || len(r.steps) < times {
		return false
	}
	end := r.steps[len(r.steps)-times:]
	return end[0].failed != 0 && !slices.ContainsFunc(end, func(s step) bool { return s.failed != end[0].failed })
}

// add returns how many steps at the end have come that many times in a row, or 0 if none have.
// most limits the number of steps; together they must have at least the given size.
func (r *row) add(s step, times, most, size int) int {
	if times < 2 {
		return 0
	}
	r.steps = append(r.steps, s)
	if n := len(r.steps) - times*most; n > 0 {
		r.steps = append(r.steps[:0], r.steps[n:]...)
	}
	sum := 0
	for p := 1; p <= most && p*times <= len(r.steps); p++ {
		if sum += r.steps[len(r.steps)-p].size; sum >= size && r.repeats(p, times) {
			r.period = p
			return p
		}
	}
	return 0
}

func (r *row) repeats(period, times int) bool {
	end := r.steps[len(r.steps)-period*times:]
	return slices.EqualFunc(end[period:], end[:len(end)-period], func(a, b step) bool { return a.hash == b.hash })
}
