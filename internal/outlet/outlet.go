// Package outlet writes to places where somebody may stop reading: a pipe whose reader is
// stopped, a terminal after Ctrl-S. A write to such a place never returns, and blocks its
// writer.
package outlet

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"
)

// ErrUnread means that the output is not being read.
var ErrUnread = errors.New("nobody reads it")

// ReaderGone reports whether a write failed because the pipe's reader has closed it.
func ReaderGone(err error) bool {
	const noData, brokenPipe = syscall.Errno(232), syscall.Errno(109) // Windows' words for EPIPE
	return errors.Is(err, syscall.EPIPE) || runtime.GOOS == "windows" && (errors.Is(err, noData) || errors.Is(err, brokenPipe))
}

const (
	// patience is how long a reader may read nothing before it counts as gone.
	patience = time.Second
	// piece is how much is written at a time, in bytes; finished pieces show that a slow
	// reader is still reading.
	piece = 64 << 10
	// keptText is how much unread message text is kept until somebody reads, in bytes.
	keptText = 64 << 10
)

const missing = "looprun: messages are missing here, since nobody read them\n"

// Outlet is a file. What it does not accept immediately is written in a goroutine, which may
// be left behind. All methods are safe for concurrent use.
type Outlet struct {
	file  *os.File
	fd    int // the file as one that is never waited for; -1: there is none
	look  func() (looks <-chan time.Time, stop func())
	taken atomic.Int64 // pieces that the file has taken

	mu    sync.Mutex
	text  []byte        // what is being written; the writer's until over is closed
	over  chan struct{} // closed when it is written; nil: nothing is
	err   error         // how that ended
	stuck bool          // somebody has given that up
	later []byte        // what is to be written then
	lost  bool          // there was more of that than is kept
	jobs  chan struct{} // nil: there is no writer yet
	// hurried is closed while output must not be waited for.
	hurried chan struct{}
}

// New returns an outlet to a file for which [Holds] is true.
func New(file *os.File) *Outlet {
	return &Outlet{file: file, fd: again(file), look: everySecond, hurried: make(chan struct{})}
}

func everySecond() (looks <-chan time.Time, stop func()) {
	t := time.NewTicker(patience)
	return t.C, t.Stop
}

// Holds reports whether writing to the file can block for as long as its reader likes. A
// regular file, and a device that is not a terminal, never block.
func Holds(file *os.File) bool {
	info, err := file.Stat()
	if err != nil {
		return false
	}
	return info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 || term.IsTerminal(int(file.Fd()))
}

// Hurry lets a write to Output give up, with [ErrUnread], once the reader has read nothing for
// a second: the command that prints is about to be ended.
func (o *Outlet) Hurry() {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case <-o.hurried:
	default:
		close(o.hurried)
	}
}

// Calm reverts Hurry.
func (o *Outlet) Calm() {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case <-o.hurried:
		o.hurried = make(chan struct{})
	default:
	}
}

// Output returns a writer that writes everything, and waits for its reader as any program
// does.
func (o *Outlet) Output() Output { return Output{o} }

// Messages returns a writer that waits for a second at most. Messages not read by then are
// written later, up to 64 KiB of them.
func (o *Outlet) Messages() Messages { return Messages{o} }

// Output is an [io.Writer], see [Outlet.Output].
type Output struct{ o *Outlet }

func (w Output) Write(b []byte) (int, error) {
	o := w.o
	o.mu.Lock()
	for o.over != nil {
		over, hurried := o.over, o.hurried
		o.mu.Unlock()
		if !o.wait(over, hurried) {
			return 0, ErrUnread
		}
		o.mu.Lock()
	}
	return o.put(b, o.hurried)
}

// Messages is an [io.Writer], see [Outlet.Messages].
type Messages struct{ o *Outlet }

func (w Messages) Write(b []byte) (int, error) {
	o := w.o
	o.mu.Lock()
	if o.over != nil {
		o.keep(b)
		over, stuck := o.over, o.stuck
		o.mu.Unlock()
		if !stuck {
			o.wait(over, nil)
		}
		return len(b), nil
	}
	n, err := o.put(b, nil)
	if err == ErrUnread {
		return len(b), nil // the writer has it
	}
	return n, err
}

// put writes b once nothing else is being written, and waits as wait does; [ErrUnread] means
// that it gave up. The caller must hold the lock; put releases it.
func (o *Outlet) put(b []byte, hurried <-chan struct{}) (int, error) {
	rest := o.offer(b)
	if len(rest) == 0 {
		o.mu.Unlock()
		return len(b), nil
	}
	over := o.begin(rest)
	o.mu.Unlock()
	if !o.wait(over, hurried) {
		return 0, ErrUnread
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	return len(b), nil
}

// begin lets the writer write a copy of b.
func (o *Outlet) begin(b []byte) (over chan struct{}) {
	if o.jobs == nil {
		o.jobs = make(chan struct{}, 1)
		go o.write()
	}
	o.text = append(o.text[:0], b...)
	o.over = make(chan struct{})
	o.jobs <- struct{}{}
	return o.over
}

func (o *Outlet) keep(b []byte) {
	switch {
	case len(o.later)+len(b) <= keptText:
		o.later = append(o.later, b...)
	case !o.lost:
		o.lost = true
		o.later = append(o.later, missing...)
	}
}

// wait returns false if the reader has read nothing for a while after hurried was closed; a
// nil channel counts as closed from the beginning.
func (o *Outlet) wait(over, hurried <-chan struct{}) bool {
	if hurried != nil {
		select {
		case <-over:
			return true
		case <-hurried:
		}
	}
	taken := o.taken.Load()
	looks, stop := o.look()
	defer stop()
	for {
		select {
		case <-over:
			return true
		case <-looks:
			now := o.taken.Load()
			if now == taken {
				o.giveUp(over)
				return false
			}
			taken = now
		}
	}
}

func (o *Outlet) giveUp(over <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stuck = o.over == over
}

// write is the writer's goroutine.
func (o *Outlet) write() {
	for range o.jobs {
		err := o.pass(o.text)
		o.mu.Lock()
		for len(o.later) > 0 {
			text := o.later
			o.later, o.lost = nil, false
			o.mu.Unlock()
			_ = o.pass(text) // the next write learns of it
			o.mu.Lock()
		}
		o.err = err
		close(o.over)
		o.over, o.stuck = nil, false
		o.mu.Unlock()
	}
}

func (o *Outlet) pass(b []byte) error {
	for len(b) > 0 {
		n, err := o.file.Write(b[:min(len(b), piece)])
		if err != nil {
			return err
		}
		b = b[n:]
		o.taken.Add(1)
	}
	return nil
}
