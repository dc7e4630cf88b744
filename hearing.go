package looprun

import (
	"io"
	"time"
)

// Masker takes secrets out of a stream. It can hold back what may be the
// beginning of one until Flush.
type Masker interface {
	Write([]byte)
	Flush()
}

// Listener learns from output as it streams past. Its Write never fails.
type Listener interface {
	io.Writer
	Reset()
}

// Matcher is a [Listener] that finds a line for which the work has to wait, and
// the moment that it names; zero when it names none.
type Matcher interface {
	Listener
	Match() (line string, until time.Time, ok bool)
}

// MakePromise makes the promise in place of the output, for the iteration that
// runs. It reports whether one is wanted.
func (x *Executor) MakePromise() bool {
	x.promised.Store(x.Judge.Promise)
	return x.Judge.Promise
}

// mask puts the mask before what is kept of a stream.
func (x *Executor) mask(to func([]byte)) (write func([]byte), flush func()) {
	if x.Mask == nil {
		return to, func() {}
	}
	m := x.Mask(to)
	return m.Write, m.Flush
}

func (x *Executor) listen(to []Listener, b []byte) {
	for _, l := range to {
		_, _ = l.Write(b)
	}
	if x.WaitOn != nil {
		_, _ = x.WaitOn.Write(b)
	}
}

// Hold lets the time limits of the running step stand still and holds its output
// back, since somebody is asked what the command wants to know. With Interactive
// the command stands still as well: the terminal is for the answer.
func (x *Executor) Hold() {
	if x.Interactive {
		x.Suspend()
		return
	}
	x.held.Store(new(make(chan struct{})))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pause()
	if p, ok := x.running.(clocked); ok {
		p.HoldClocks()
	}
}

// Release ends what Hold began.
func (x *Executor) Release() {
	if x.Interactive {
		x.Resume()
		return
	}
	x.mu.Lock()
	x.goOn()
	if p, ok := x.running.(clocked); ok {
		p.ReleaseClocks()
	}
	x.mu.Unlock()
	close(*x.held.Swap(nil))
}

// pause lets the iteration's time stand still until goOn was called as often.
func (x *Executor) pause() {
	if x.still++; x.still == 1 {
		x.since = time.Now()
	}
}

func (x *Executor) goOn() {
	if x.still--; x.still == 0 {
		x.stood += time.Since(x.since)
	}
}

// clocked is a running step whose time limits can stand still.
type clocked interface {
	HoldClocks()
	ReleaseClocks()
}
