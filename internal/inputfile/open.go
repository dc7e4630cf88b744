// Package inputfile opens input files that a person named. A name may refer to a pipe: one
// that another program writes to, or one created by a shell for <(…).
package inputfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/looprun/looprun/internal/plural"
)

// ErrNobodyWrites is returned by [Open] for a pipe that nobody has opened to
// write to it.
var ErrNobodyWrites = errors.New("it is a pipe that nothing writes to")

var errNotRegular = errors.New("it is not a regular file")

// patience is how long to wait for a pipe's writer, which is started concurrently with the
// reader.
var patience = 5 * time.Second

// lookEvery is how often to check for the writer.
const lookEvery = 20 * time.Millisecond

// Piped reports whether the name is that of a pipe, which can be read only once.
func Piped(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

// Open opens a file for reading. If nothing writes to a pipe it waits for 5 s, and then
// returns [ErrNobodyWrites]; an existing writer may take its time. It opens other files as
// [os.Open] does.
func Open(name string) (io.ReadCloser, error) {
	if !Piped(name) || runtime.GOOS == "windows" {
		return os.Open(name)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // else it waits for a writer
	if err != nil {
		return nil, err
	}
	p := &pipe{file: f}
	if err := p.begin(Opened(name)); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// Opened reports whether the name stands for a file that is already open, such as /dev/stdout or
// a pipe of the shell: whoever uses it was there before looprun. Those below /dev/shm are files.
func Opened(name string) bool {
	return strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/") || strings.HasPrefix(name, "/proc/")
}

type pipe struct {
	file  *os.File
	first []byte // what begin has read
}

// begin waits until there is something to read. Reading a pipe without a writer reports end of
// file immediately; had means that the pipe had a writer, so the end is real.
func (p *pipe) begin(had bool) error {
	b := make([]byte, 1)
	for until := time.Now().Add(patience); ; time.Sleep(lookEvery) {
		n, err := p.Read(b)
		switch {
		case n > 0:
			p.first = b
			return nil
		case err != io.EOF:
			return err
		case had:
			return nil
		case time.Now().After(until):
			return ErrNobodyWrites
		}
	}
}

// Read waits for the writer. Where the system cannot notify Go of new data, on macOS, it
// polls.
func (p *pipe) Read(b []byte) (int, error) {
	if n := copy(b, p.first); n > 0 {
		p.first = p.first[n:]
		return n, nil
	}
	for {
		n, err := p.file.Read(b)
		if !errors.Is(err, syscall.EAGAIN) {
			return n, err
		}
		time.Sleep(lookEvery)
	}
}

func (p *pipe) Close() error { return p.file.Close() }

// Read opens a file as [Open] does, and reads it. A file longer than most, in bytes, is an
// error.
func Read(name string, most int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := ReadLimited(f, most)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// ReadLimited reads everything from r. More than most bytes is an error.
func ReadLimited(r io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it is larger than %s", plural.Bytes(most))
	}
	return text, err
}

// IsFile reports whether the name is that of a regular file.
func IsFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Remedy says what to do about an error of [Open] for a file that somebody named.
func Remedy(err error) string {
	if errors.Is(err, ErrNobodyWrites) {
		return "start what writes to it beside looprun, or name a file"
	}
	return "name a file that can be read"
}
