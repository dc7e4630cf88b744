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

// Listener learns from one stream of output as it passes. Its Write never fails.
type Listener interface {
	io.Writer
	Reset()
}

// Listeners are two of one kind, one for each stream of what the work prints: a
// line of one stream may come between two pieces of what the other says. Nothing
// else can listen to an [Executor], so that no listener is given both. The two
// are T itself and not what it points to: give them nothing in common that
// listening changes.
type Listeners[T any, L interface {
	*T
	Listener
}] struct{ Stdout, Stderr T }

func (l *Listeners[T, L]) listeners() [2]Listener {
	return [2]Listener{stdoutStream: L(&l.Stdout), stderrStream: L(&l.Stderr)}
}

// Streams is one of [Listeners].
type Streams interface{ listeners() [2]Listener }

// Matcher finds a line for which the work has to wait, and the moment that it
// names; zero when it names none. It is given the end of what one stream printed,
// and whether it is cut, so that its first line may lack its beginning. It keeps
// nothing of it.
type Matcher interface {
	Match(end []byte, cut bool) (line string, until time.Time, ok bool)
}

// matchLimit bounds the line that is kept of a limit to wait for, in bytes.
const matchLimit = 500

// limited makes the iteration one that waits, where its output says so.
func (x *Executor) limited(d *IterationFinished) {
	failed := d.Outcome == OutcomeNotDone || d.Outcome == OutcomeError
	if x.WaitOn == nil || !failed || d.Cause != CauseExited || d.Fatal != 0 {
		return
	}
	line, until, ok := x.limit()
	if !ok {
		return
	}
	d.Outcome, d.Match = OutcomeWaiting, cutText(line, matchLimit)
	if !until.IsZero() {
		d.Until = &until
	}
}

// limit is the limit that the output names: of several the one with the latest
// moment. Where none names one it is the check's before the work's, and that on
// standard error before that on standard output.
func (x *Executor) limit() (line string, until time.Time, found bool) {
	for _, t := range []*tap{x.work, x.check} {
		for i := range t.streams {
			end := &t.streams[i].end
			if l, u, ok := x.WaitOn.Match(end.last(), end.cut()); ok && !u.Before(until) {
				line, until, found = l, u, true
			}
		}
	}
	return line, until, found
}

// MakePromise makes the promise in place of the output, for the iteration that
// runs. It reports whether one is wanted.
func (x *Executor) MakePromise() bool {
	x.promised.Store(x.PromiseWanted())
	return x.PromiseWanted()
}

// PromiseWanted reports whether a promise means something in the iteration that
// runs: it is needed to be done, or it ends a part of a task that a check judges
// as a whole.
func (x *Executor) PromiseWanted() bool { return x.wanted.Load() }

// mask puts the mask before what is kept of a stream.
func (x *Executor) mask(to func([]byte)) (write func([]byte), flush func()) {
	if x.Mask == nil {
		return to, func() {}
	}
	m := x.Mask(to)
	return m.Write, m.Flush
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
	x.asked = true
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
	x.asked = false
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
