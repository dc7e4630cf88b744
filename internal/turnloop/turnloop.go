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
	failed uint64 // of the last call, as in Call
	fails  int    // calls in a row that failed so
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
	w.said, w.piece, w.size, w.fenced = nil, w.piece[:0], 0, false
	if at.Sub(w.last) >= Apart {
		w.calls, w.fails = nil, 0
	}
	if c.Failed == 0 || c.Failed != w.failed {
		w.fails = 0
	}
	w.last, w.failed, w.fails = at, c.Failed, w.fails+1
	s := step{c.Key, 1, c.Shown[:min(len(c.Shown), shownText)]}
	n := w.calls.add(s, w.Times, mostCalls, 1)
	if n == 0 && (c.Failed == 0 || w.fails < w.Times || w.Times < 2) {
		return Found{}, false
	}
	f := w.found(&w.calls, max(n, 1), true)
	if w.fails = 0; n == 0 {
		f.Error = strings.ToValidUTF8(c.Error[:min(len(c.Error), shownText)], "")
	}
	return f, true
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
		if ends {
			if n := w.end(c == '\n'); n > 0 {
				found, ok = w.found(&w.said, n, false), true
			}
		}
	}
	return found, ok
}

// end adds the piece that has ended, and returns how many repeat with it, as add does. It ignores
// code and tables, whose rows are alike.
func (w *Watch) end(line bool) int {
	text := bytes.Join(bytes.Fields(w.piece), []byte(" "))
	long := w.size > longestText
	w.piece, w.size = w.piece[:0], 0
	switch {
	case line && bytes.HasPrefix(text, []byte("```")):
		w.said, w.fenced = nil, !w.fenced
		return 0
	case w.fenced || len(text) == 0:
		return 0
	case long || text[0] == '|' || !bytes.ContainsFunc(text, unicode.IsLetter):
		w.said = nil
		return 0
	}
	s := step{xxhash.Sum64(text), len(text), string(text[:min(len(text), shownText)])}
	return w.said.add(s, w.Times, mostPieces, leastText)
}

// found returns the repetition at the end of the row, and clears the row.
func (w *Watch) found(r *row, period int, calls bool) Found {
	f := Found{Calls: calls, Times: w.Times}
	for _, s := range (*r)[len(*r)-period:] {
		f.What = append(f.What, strings.ToValidUTF8(s.shown, ""))
	}
	*r = nil
	return f
}

// row is a sequence of steps, latest last.
type row []step

type step struct {
	hash  uint64
	size  int
	shown string
}

// add returns how many steps at the end have come that many times in a row, or 0 if none have.
// most limits the number of steps; together they must have at least the given size.
func (r *row) add(s step, times, most, size int) int {
	if times < 2 {
		return 0
	}
	steps := append(*r, s)
	steps = append(steps[:0], steps[max(0, len(steps)-times*most):]...)
	*r = steps
	sum := 0
	for p := 1; p <= most && p*times <= len(steps); p++ {
		end := steps[len(steps)-p*times:]
		same := slices.EqualFunc(end[p:], end[:len(end)-p], func(a, b step) bool { return a.hash == b.hash })
		if sum += end[len(end)-p].size; sum >= size && same {
			return p
		}
	}
	return 0
}
