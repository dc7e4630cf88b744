package scratchpad

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/looprun/looprun/engine"
)

// How much of an output is kept at its head and at its tail.
const (
	headSize = 256 << 10
	tailSize = 768 << 10
)

// Output stores the output of one iteration; it implements [engine.Output]. Files are created
// with the first byte, so silent commands cost nothing. It is reused from one iteration to the
// next.
type Output struct {
	all, check capped
}

// Output starts the output of an iteration. It removes any output that the same iteration
// wrote before it was cut off: the iteration runs again, and may print nothing.
func (r *Run) Output(iteration int) (engine.Output, error) {
	o := &r.output
	if iteration <= r.printed {
		for _, name := range []string{OutputFile(r.Dir, iteration), CheckOutputFile(r.Dir, iteration)} {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
	}
	r.printed = max(r.printed, iteration)
	o.all.begin(OutputFile(r.Dir, iteration))
	o.check.begin(CheckOutputFile(r.Dir, iteration))
	return o, nil
}

// Write stores output of the iteration.
func (o *Output) Write(b []byte) (int, error) { return o.all.Write(b) }

// Check returns the writer for the output of the iteration's check.
func (o *Output) Check() io.Writer { return &o.check }

// Close writes the tails.
func (o *Output) Close() error { return errors.Join(o.all.close(), o.check.close()) }

// capped is a file with the head of what is written and, once it is closed, the tail; a line
// between them states how much is missing.
type capped struct {
	name    string
	f       *os.File
	written int64
	ring    []byte // the last tailSize bytes behind the head, once there are any
	over    int64  // bytes behind the head
}

func (c *capped) begin(name string) {
	c.name, c.f, c.written, c.over = name, nil, 0, 0
}

func (c *capped) Write(b []byte) (int, error) {
	n := len(b)
	if n == 0 {
		return 0, nil
	}
	if c.f == nil {
		if err := c.open(); err != nil {
			return 0, err
		}
	}
	if room := headSize - c.written; room > 0 {
		head := b[:min(int64(len(b)), room)]
		if _, err := c.f.Write(head); err != nil {
			return 0, err
		}
		c.written += int64(len(head))
		b = b[len(head):]
	}
	c.keep(b)
	return n, nil
}

// open creates the file. It replaces one left by a crash in the same iteration, and a pipe or
// a link that the command put there: a pipe may have no reader, and a link leads elsewhere.
func (c *capped) open() (err error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC | readFlags
	if _, err := ensureDir(filepath.Dir(c.name)); err != nil {
		return err
	}
	if c.f, err = openPlain(c.name, flags); err == nil {
		return nil
	}
	again := err
	if info, e := os.Lstat(c.name); e == nil && !info.Mode().IsRegular() {
		again = os.Remove(c.name)
	}
	if again == nil {
		c.f, again = openPlain(c.name, flags)
	}
	return again
}

func (c *capped) keep(b []byte) {
	if len(b) == 0 {
		return
	}
	if c.ring == nil {
		c.ring = make([]byte, tailSize)
	}
	if skip := len(b) - tailSize; skip > 0 {
		c.over += int64(skip)
		b = b[skip:]
	}
	for len(b) > 0 {
		n := copy(c.ring[c.over%tailSize:], b)
		c.over += int64(n)
		b = b[n:]
	}
}

func (c *capped) close() error {
	if c.f == nil {
		return nil
	}
	var err error
	if left := c.over - tailSize; left > 0 {
		_, err = fmt.Fprintf(c.f, "\nlooprun: %d bytes are left out here\n", left)
		at := c.over % tailSize
		err = errors.Join(err, c.write(c.ring[at:]), c.write(c.ring[:at]))
	} else if c.over > 0 {
		err = c.write(c.ring[:c.over])
	}
	err = errors.Join(err, c.f.Close())
	c.f = nil
	return err
}

func (c *capped) write(b []byte) error {
	_, err := c.f.Write(b)
	return err
}

// Capped reports whether the output file holds less than what was printed.
func Capped(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Size() > headSize+tailSize
}
