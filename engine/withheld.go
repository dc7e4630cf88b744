package engine

import (
	"io"
	"sync"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// withheldMost bounds the output that is held back until the check ends. Longer output is all
// shown as it arrives.
const withheldMost = 1 << 20

// withheld holds the output of a check until it is known whether the check fails in the way
// that was shown last. The zero value shows everything as it arrives.
type withheld struct {
	shown signature.Hash // the failure that was shown last; 0: none
	drops bool           // the last output was not shown

	mu     sync.Mutex
	waits  bool
	chunks []chunk
	size   int
}

type chunk struct {
	to io.Writer
	b  []byte
}

// take holds output back, or shows it. When too much is held, it shows everything held so far.
func (w *withheld) take(to io.Writer, b []byte, show func(io.Writer, []byte)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.waits {
		show(to, b)
		return
	}
	w.chunks = append(w.chunks, chunk{to, append([]byte(nil), b...)})
	if w.size += len(b); w.size > withheldMost {
		for _, c := range w.rest() {
			show(c.to, c.b)
		}
	}
}

// rest returns the output held back. From now on output is shown as it arrives.
func (w *withheld) rest() []chunk {
	all := w.chunks
	w.waits, w.chunks, w.size = false, nil, 0
	return all
}

// begin starts to hold back the check's output if a failure was shown before.
func (w *withheld) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits, w.drops = w.shown != 0, false
}

// end returns the held output to show: none if the check fails in the way that was shown last.
func (w *withheld) end(d *core.IterationResult, whole bool) []chunk {
	w.mu.Lock()
	defer w.mu.Unlock()
	sig := d.Signature.Hash
	again := whole && sig != 0 && sig == w.shown && d.Outcome != core.OutcomeDone
	w.drops = again && w.waits && w.size > 0
	if w.shown = sig; !whole || d.Outcome == core.OutcomeDone {
		w.shown = 0
	}
	all := w.rest()
	if again {
		return nil
	}
	return all
}

// Withheld reports whether the output of the last check was not shown because the same failure
// had been shown before.
func (x *Executor) Withheld() bool {
	x.withheld.mu.Lock()
	defer x.withheld.mu.Unlock()
	return x.withheld.drops
}

func (x *Executor) reveal(all []chunk) {
	for _, c := range all {
		x.show(c.to, c.b)
	}
	if len(all) > 0 {
		x.flush()
	}
}
