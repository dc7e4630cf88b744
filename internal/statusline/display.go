package statusline

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/tty"
)

// tickEvery is how often to check whether the line must be drawn. Output has been quiet for
// long enough if there was none between two checks.
const tickEvery = 100 * time.Millisecond

// outputPatience is how long a message waits for output that is being written.
const outputPatience = time.Second

// Options configure what is shown on which terminal.
type Options struct {
	// Screen is the terminal, usually standard error.
	Screen *os.File
	// Draw is the writer for drawing, which ends on the screen.
	Draw io.Writer
	// Line draws the status line; Colour draws it in colour.
	Line, Colour bool
	// Elapsed returns the run's active time. It is called from several goroutines, once the
	// run has begun.
	Elapsed func() time.Duration
	// Next returns when the next iteration begins, during the delay before it, otherwise zero.
	// It is called like Elapsed; nil means unknown.
	Next func() time.Time
}

// Display shares a terminal between the status line, the command's output and looprun's
// messages. All its methods are safe for concurrent use, and those of a nil Display do
// nothing.
type Display struct {
	o      Options
	screen io.Writer
	// ready reports whether this process may draw on the terminal, and columns returns its
	// width.
	ready   func() bool
	columns func() int
	stop    func()

	mu     sync.Mutex
	cursor cursor
	status Status
	begun  bool // there is a status
	busy   bool // there was output since the last look
	// writing means that output is being written to the terminal, and written is closed when
	// it is done; nil means that nobody waits for that.
	writing bool
	written chan struct{}
	width   int // zero: has to be asked for
	drawn   string
	// narrowed means that the window changed since the line was drawn: the line may wrap at
	// the end of the window.
	narrowed bool
	lent     int // how many others have the terminal
	closed   bool
}

// New returns a display, which starts to draw as soon as there is something to show.
func New(o Options) *Display {
	d := &Display{o: o, screen: o.Draw, cursor: cursor{fresh: true}}
	fd := o.Screen.Fd()
	d.ready = func() bool { return tty.Ours(fd) }
	d.columns = func() int {
		columns, _ := tty.Size(fd)
		return columns
	}
	d.stop = func() {}
	if o.Line {
		d.watch()
	}
	return d
}

// watch maintains the line until stop is called.
func (d *Display) watch() {
	tick := time.NewTicker(tickEvery)
	changes, done := make(chan os.Signal, 1), make(chan struct{})
	if all := tty.Changes(); len(all) > 0 {
		signal.Notify(changes, all...)
	}
	var once sync.Once
	d.stop = func() {
		once.Do(func() {
			tick.Stop()
			signal.Stop(changes)
			close(done)
		})
	}
	go func() {
		for {
			select {
			case <-tick.C:
				d.tick(time.Now())
			case <-changes:
				d.changed()
			case <-done:
				return
			}
		}
	}()
}

// Output wraps w for a command's output, which goes to the display's terminal.
func (d *Display) Output(w io.Writer) io.Writer {
	if d == nil {
		return w
	}
	return &guest{d: d, w: w}
}

// Messages wraps w for looprun's own lines, which go to the display's terminal.
func (d *Display) Messages(w io.Writer) io.Writer {
	if d == nil {
		return w
	}
	return &guest{d: d, w: w, own: true}
}

// guest is a writer that erases the line before it writes.
type guest struct {
	d   *Display
	w   io.Writer
	own bool // each Write begins a line
}

func (g *guest) Write(b []byte) (int, error) {
	if g.own {
		return g.say(b)
	}
	d := g.d
	d.mu.Lock()
	d.await(nil)
	d.erase()
	d.writing = true
	d.mu.Unlock() // whoever should read it may take his time
	n, err := g.w.Write(b)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cursor.write(b[:max(0, n)])
	d.busy, d.writing = true, false
	if d.written != nil {
		close(d.written)
		d.written = nil
	}
	return n, err
}

// say writes a line of looprun's after the output that is being written, unless that is stuck.
func (g *guest) say(b []byte) (int, error) {
	d := g.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writing {
		d.await(time.After(outputPatience))
	}
	d.erase()
	begun := 0
	if !d.cursor.fresh && d.lent == 0 {
		b, begun = append([]byte{'\n'}, b...), 1
	}
	n, err := g.w.Write(b)
	d.cursor.write(b[:max(0, n)])
	d.busy = true
	return max(0, n-begun), err
}

// await waits until no output is being written, or the limit has passed.
func (d *Display) await(limit <-chan time.Time) {
	for late := false; d.writing && !late; {
		if d.written == nil {
			d.written = make(chan struct{})
		}
		written := d.written
		d.mu.Unlock()
		select {
		case <-written:
		case <-limit:
			late = true
		}
		d.mu.Lock()
	}
}

// Observe updates the status after an event. It is an engine.Observer.
func (d *Display) Observe(e core.Event, s *core.State) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status, d.begun = d.status.After(e, s), true
	switch e.Data.(type) {
	case core.IterationStarted, core.IterationFinished:
		d.cursor.settle()
	}
}

// Lend leaves the terminal to somebody else, such as a prompt, a pager or a shell, until
// Retake has been called as often.
func (d *Display) Lend() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lent++
	d.erase()
}

// Retake resumes drawing. The borrower must have left the cursor at the start of a line.
func (d *Display) Retake() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lent--
	d.cursor = cursor{fresh: true}
	d.busy, d.width = true, 0
}

// Close erases the line and stops drawing. Writers continue to work.
func (d *Display) Close() {
	if d == nil {
		return
	}
	d.stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.erase()
}

// changed records that the window was resized or the process was stopped: the line is redrawn,
// since it may be broken up.
func (d *Display) changed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.width, d.narrowed = 0, true
}

// tick draws the line if that is due.
func (d *Display) tick(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy {
		d.busy = false
		return
	}
	if !d.o.Line || d.writing || !d.begun || d.closed || d.lent > 0 || !d.cursor.free() {
		return
	}
	d.status.Elapsed = d.o.Elapsed()
	d.status.Left = d.left(now)
	if d.width == 0 {
		d.width = d.columns()
	}
	// The last column stays free: terminals behave differently after it.
	line := d.status.Line(d.width-1, d.o.Colour)
	if line == d.drawn && !d.narrowed || !d.ready() {
		return
	}
	d.put(line)
	d.drawn, d.narrowed = line, false
}

// left returns the remaining wait.
func (d *Display) left(now time.Time) time.Duration {
	until := d.status.Until
	if until.IsZero() && d.o.Next != nil {
		until = d.o.Next()
	}
	if until.IsZero() {
		return 0
	}
	return max(0, until.Sub(now))
}

func (d *Display) erase() {
	if d.drawn != "" {
		d.put("")
		d.drawn, d.narrowed = "", false
	}
}

// put writes the text over the line at the cursor. The cursor's position and colours are the
// command's, and are kept. If the window has become narrower, the line may occupy several
// rows, so the rest is cleared too.
func (d *Display) put(line string) {
	const save, restore = "\r\x1b7" + plain, "\x1b8"
	clearing := "\x1b[K"
	if d.narrowed {
		clearing = "\x1b[J"
	}
	_, _ = io.WriteString(d.screen, save+line+clearing+restore) // a terminal that is gone shows nothing
}
