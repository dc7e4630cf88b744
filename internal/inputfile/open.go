// Package inputfile opens the files that a person named to be read. What they
// name may be a pipe: one that another program writes to, or what a shell makes
// of <(…).
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

// patience is how long a pipe's writer may take to come: it is started beside
// whatever reads.
var patience = 5 * time.Second

// lookEvery is how often it is looked for.
const lookEvery = 20 * time.Millisecond

// Piped reports whether the name is that of a pipe, which can be read only once.
func Piped(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

// Open opens a file for reading. For somebody who writes to a pipe it waits for
// 5 s, and then returns [ErrNobodyWrites]; one that is there may take its time.
// Other files it opens as [os.Open] does.
func Open(name string) (io.ReadCloser, error) {
	if !Piped(name) || runtime.GOOS == "windows" {
		return os.Open(name)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // else it waits for a writer
	if err != nil {
		return nil, err
	}
	p := &pipe{file: f}
	if err := p.begin(ofShell(name)); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// ofShell reports whether the name stands for a pipe that is open already: its
// writer was there before looprun.
func ofShell(name string) bool {
	return strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "/proc/")
}

type pipe struct {
	file  *os.File
	first []byte // what begin has read
}

// begin waits until there is something to read. Of a pipe that nobody writes to a
// read says at once that it is at its end; had says that it is.
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

// Read waits for whoever writes. Where the system cannot tell Go when there is
// something to read, on macOS, it looks now and then.
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

// Read opens a file as [Open] does, and reads it where it is no longer than that many bytes.
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

// ReadLimited reads what is no longer than that many bytes.
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
