package engine

import (
	"io"
	"sync"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// withheldMost bounds the output of a check that waits for its end; of a longer one all is shown
// as it comes.
const withheldMost = 1 << 20

// withheld has the output of a check until it is known whether that is the failure that was shown
// last. The zero value shows everything as it comes.
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

// take keeps output back, or shows it and what was kept back before.
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

// rest is what was kept back. From now on output is shown as it comes.
func (w *withheld) rest() []chunk {
	all := w.chunks
	w.waits, w.chunks, w.size = false, nil, 0
	return all
}

// begin keeps back what the check prints, where a failure was shown before.
func (w *withheld) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waits, w.drops = w.shown != 0, false
}

// end returns what is to be shown of it: nothing where it is the failure that was shown last.
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

// Withheld reports whether the output of the last check was not shown, because it was the failure
// that had been shown before.
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
