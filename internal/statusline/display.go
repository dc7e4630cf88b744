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

// tickEvery is how often it is looked whether the line has to be drawn. Output has
// been quiet for long enough when there was none between two looks.
const tickEvery = 100 * time.Millisecond

// outputPatience is how long a message waits for output that is on its way.
const outputPatience = time.Second

// Options say what is shown on which terminal.
type Options struct {
	// Screen is the terminal, as a rule the standard error.
	Screen *os.File
	// Draw is what is drawn with, which ends on the screen.
	Draw io.Writer
	// Line draws the status line, with colours or without.
	Line, Colour bool
	// Elapsed is the run's active time. It is called from several goroutines, once
	// the run has begun.
	Elapsed func() time.Duration
	// Next is when the next iteration begins, while the delay before it passes, else zero.
	// It is called as Elapsed is; nil: nobody knows.
	Next func() time.Time
}

// Display shares a terminal between the status line, the command's output and
// looprun's messages. All its methods can be called from several goroutines at
// once, and those of a nil Display do nothing.
type Display struct {
	o      Options
	screen io.Writer
	// ready says whether the terminal is this process's to draw on, and columns
	// how wide it is.
	ready   func() bool
	columns func() int
	stop    func()

	mu     sync.Mutex
	cursor cursor
	status Status
	begun  bool // there is a status
	busy   bool // there was output since the last look
	// writing says that output is on its way to the terminal, and written is closed
	// when it is there; nil: nobody waits for that.
	writing bool
	written chan struct{}
	width   int // zero: has to be asked for
	drawn   string
	// narrowed says that the window changed since the line was drawn: the line may
	// go on where the window ends.
	narrowed bool
	lent     int // how many others have the terminal
	closed   bool
}

// New starts to draw as soon as there is something to show.
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

// watch looks after the line until stop is called.
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

// Output is w for a command's output, which reaches the display's terminal.
func (d *Display) Output(w io.Writer) io.Writer {
	if d == nil {
		return w
	}
	return &guest{d: d, w: w}
}

// Messages is w for looprun's own lines, which reach the display's terminal.
func (d *Display) Messages(w io.Writer) io.Writer {
	if d == nil {
		return w
	}
	return &guest{d: d, w: w, own: true}
}

// guest is a writer that clears the line away before it writes.
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

// say writes a line of looprun's behind the output that is on its way, unless that
// gets nowhere.
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

// await waits until no output is on its way, or the limit has passed.
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

// Observe takes in what happened. It is an engine.Observer.
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

// Lend leaves the terminal to somebody else, such as a prompt, a pager or a shell,
// until Retake was called as often.
func (d *Display) Lend() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lent++
	d.erase()
}

// Retake goes on. Whoever had the terminal has left it at the start of a line.
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

// Close erases what is drawn, and nothing is drawn any more. Writers go on
// working.
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

// changed takes note of a window of another size, or of having been stopped: the
// line is drawn anew, since it may be in pieces.
func (d *Display) changed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.width, d.narrowed = 0, true
}

// tick draws the line where that is due.
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
	// The last column stays free: terminals differ in what they do after it.
	line := d.status.Line(d.width-1, d.o.Colour)
	if line == d.drawn && !d.narrowed || !d.ready() {
		return
	}
	d.put(line)
	d.drawn, d.narrowed = line, false
}

// left is how long is still to be waited.
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

// put writes the text over the line on which the cursor stands. Position and
// colours of the cursor are the command's, and stay. Once the window became
// narrower the line may take several of its lines, and the rest is cleared too.
func (d *Display) put(line string) {
	const save, restore = "\r\x1b7" + plain, "\x1b8"
	clearing := "\x1b[K"
	if d.narrowed {
		clearing = "\x1b[J"
	}
	_, _ = io.WriteString(d.screen, save+line+clearing+restore) // a terminal that is gone shows nothing
}
