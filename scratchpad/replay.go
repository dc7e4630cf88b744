package scratchpad

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/looprun/looprun/core"
)

const journalName = "journal.jsonl"

// Stamp identifies the state of a run's journal, to detect whether it has grown since it was
// read. The zero value is that of a journal that cannot be found.
type Stamp struct {
	Size int64     // in bytes
	Time time.Time // of the last change
}

// StampOf returns the stamp of the journal in a run's directory. Take it before you read the
// journal: what you read is then no older.
func StampOf(dir string) Stamp {
	info, err := os.Lstat(filepath.Join(dir, journalName))
	if err != nil {
		return Stamp{}
	}
	return Stamp{info.Size(), info.ModTime()}
}

// ErrDamaged means that a journal is damaged before its end: nothing after that line can be
// trusted, and nothing is dropped without asking.
var ErrDamaged = errors.New("the journal is damaged")

var errNoEnd = errors.New("it has no end")

// Damage is the error for a journal that cannot be read further: where and why. It is an
// [ErrDamaged].
type Damage struct {
	Dir    string // of the run
	Line   int    // from 1
	Offset int64  // where the line begins, in bytes
	Why    error
}

// Error describes what is wrong, where, and what can be done.
func (d *Damage) Error() string {
	return fmt.Sprintf("%s:%d: %v: %v; looprun doctor %s says what can be done",
		filepath.Join(d.Dir, journalName), d.Line, ErrDamaged, d.Why, filepath.Base(d.Dir))
}

// Unwrap makes it match ErrDamaged and its cause.
func (d *Damage) Unwrap() []error { return []error{ErrDamaged, d.Why} }

// Tail describes the end of a journal.
type Tail struct {
	Offset int64 // after the last whole record
	Events int64
	// Cut is the number of bytes after the last whole record: what was being written when
	// looprun was killed. Zero means none.
	Cut int64
}

// Replay reads a journal and calls f for each event, in order. It leaves out a torn last
// record and reports it in the tail; any other fault is an error with the line: [ErrDamaged],
// or [core.ErrUnknownEvent] or [core.ErrUnknownFormat] for a journal of a newer looprun.
// Memory use does not grow with the journal.
func Replay(dir string, f func(core.Event) error) (Tail, error) {
	file, err := openRegular(filepath.Join(dir, journalName))
	if err != nil {
		return Tail{}, err
	}
	defer file.Close()
	return replay(dir, file, f)
}

func replay(dir string, file io.Reader, f func(core.Event) error) (Tail, error) {
	p := player{dir: dir, f: f, line: 1, next: 1}
	err := p.read(bufio.NewReaderSize(file, blockSize))
	return p.tail, err
}

// blockSize is how much of a journal is read at a time, in bytes.
const blockSize = 64 << 10

// eachLine calls f for each line of a journal with its line break, which only the last line
// may lack. A line longer than the reader's buffer is passed in parts.
func eachLine(r *bufio.Reader, f func(line []byte) error) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if failed := f(line); failed != nil {
			return failed
		}
		if err == io.EOF {
			return nil
		}
	}
}

// player replays the lines of a journal.
type player struct {
	dir    string
	f      func(core.Event) error
	line   int   // the number of the next line
	offset int64 // where it begins
	tail   Tail
	next   int   // the number of the line after the last whole record
	broken error // of an earlier line: only NULs and padding may follow it
}

// read replays the rest of a journal.
func (p *player) read(r *bufio.Reader) error {
	err := eachLine(r, p.play)
	if err == nil && p.broken != nil {
		p.tail.Cut = p.offset - p.tail.Offset
	}
	return err
}

// play replays one line.
func (p *player) play(line []byte) error {
	number, offset := p.line, p.offset
	p.offset += int64(len(line))
	line, ended := bytes.CutSuffix(line, []byte{'\n'})
	if ended {
		p.line++
	}
	switch {
	case len(line) == 0: // padding
		return nil
	case p.broken != nil && len(bytes.Trim(line, "\x00")) == 0:
		return nil
	case p.broken != nil:
		return p.broken
	case !ended:
		p.broken = &Damage{p.dir, number, offset, errNoEnd}
		return nil
	}
	e, err := decode(p.dir, line)
	switch {
	case errors.Is(err, errSum):
		p.broken = &Damage{p.dir, number, offset, err}
		return nil
	case newer(err):
		return fmt.Errorf("%s:%d: %w; it was written by a newer looprun: use that one", filepath.Join(p.dir, journalName), number, err)
	case err == nil && e.Seq != p.tail.Events+1:
		err = fmt.Errorf("event %d follows %d", e.Seq, p.tail.Events)
	case err == nil:
		err = p.f(e)
	}
	if err != nil {
		return &Damage{p.dir, number, offset, err}
	}
	p.tail.Offset, p.tail.Events, p.next = p.offset, e.Seq, p.line
	return nil
}

// newer reports whether only a newer looprun can read the journal.
func newer(err error) bool {
	return errors.Is(err, core.ErrUnknownEvent) || errors.Is(err, core.ErrUnknownFormat)
}

// Load replays a run's journal into a state.
func Load(dir string) (*core.State, Tail, error) {
	s := new(core.State)
	tail, err := Replay(dir, s.Apply)
	if err == nil && s.Seq == 0 {
		err = fmt.Errorf("%s holds no events: the run was killed before it started; remove its directory", filepath.Join(dir, journalName))
	}
	return s, tail, err
}
