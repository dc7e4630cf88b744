package scratchpad

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/looprun/looprun/core"
)

const journalName = "journal.jsonl"

// ErrDamaged is returned when a journal is broken before its end: nothing after
// that line can be trusted, and nothing is dropped without being asked.
var ErrDamaged = errors.New("the journal is damaged")

var errNoEnd = errors.New("it has no end")

// Damage is the error of a journal that cannot be read on: where that is and
// why. It is an [ErrDamaged].
type Damage struct {
	Dir    string // of the run
	Line   int    // from 1
	Offset int64  // where the line begins, in bytes
	Why    error
}

// Error says what is wrong, where, and what can be done.
func (d *Damage) Error() string {
	return fmt.Sprintf("%s:%d: %v: %v; looprun doctor %s shows what can be recovered, and with --repair it goes on from there",
		filepath.Join(d.Dir, journalName), d.Line, ErrDamaged, d.Why, filepath.Base(d.Dir))
}

// Unwrap makes it an ErrDamaged and what it was caused by.
func (d *Damage) Unwrap() []error { return []error{ErrDamaged, d.Why} }

// Tail says where a journal ends.
type Tail struct {
	Offset int64 // behind the last whole record
	Events int64
	// Cut is how many bytes follow that are not a whole record: what was being
	// written when looprun was killed. Zero when there are none.
	Cut int64
}

// Replay reads a journal and calls f for each event, in order. A torn last
// record is left out and said in the tail; anything else that is wrong is an
// error with the line: [ErrDamaged], or [core.ErrUnknownEvent] for a journal
// of a newer looprun. Memory does not grow with the journal.
func Replay(dir string, f func(core.Event) error) (Tail, error) {
	file, err := openRegular(filepath.Join(dir, journalName))
	if err != nil {
		return Tail{}, err
	}
	defer file.Close()
	return replay(dir, file, f)
}

func replay(dir string, file io.Reader, f func(core.Event) error) (Tail, error) {
	return replayFrom(dir, file, Tail{}, f)
}

// replayFrom reads what is behind a record: the file stands there.
func replayFrom(dir string, file io.Reader, from Tail, f func(core.Event) error) (Tail, error) {
	p := player{dir: dir, f: f, line: 1, next: 1, offset: from.Offset, tail: from}
	size := int64(blockSize)
	if of, ok := file.(*os.File); ok {
		info, err := of.Stat()
		if err != nil {
			return p.tail, err
		}
		size = info.Size() - from.Offset
	}
	var err error
	if size > 4*blockSize {
		err = p.readAhead(file)
	} else {
		err = p.read(reader(file, size))
	}
	return p.tail, err
}

// reader reads lines of a journal that is so long.
func reader(file io.Reader, size int64) *bufio.Reader {
	return bufio.NewReaderSize(file, int(min(blockSize, max(0, size)+pageSize)))
}

// blockSize is how much of a journal is decoded at a time, in bytes.
const blockSize = 64 << 10

// block is a part of a journal: whole lines, but for the last part of the file and for
// lines that are longer.
type block struct {
	whole   []byte // the room of the text
	text    []byte
	records []decoded // one for each line
	done    chan struct{}
}

type decoded struct {
	event core.Event
	err   error
}

// readAhead does what read does, and decodes the next blocks meanwhile, each in a
// goroutine of its own: that is most of the work, and no record needs another for it.
func (p *player) readAhead(file io.Reader) error {
	n := runtime.GOMAXPROCS(0)
	blocks, free := make(chan *block, n), make(chan *block, n+2)
	for range cap(free) {
		free <- new(block)
	}
	var rerr error
	go func() {
		defer close(blocks)
		rerr = p.cut(file, free, blocks)
	}()
	err := p.playBlocks(blocks, free)
	if err != nil {
		return err
	}
	if p.broken != nil {
		p.tail.Cut = p.offset - p.tail.Offset
	}
	return rerr
}

// cut reads the file in blocks that end with a line, until there are no free ones.
func (p *player) cut(file io.Reader, free <-chan *block, blocks chan<- *block) error {
	var rest []byte
	for b := range free {
		if b.whole == nil {
			b.whole = make([]byte, blockSize)
		}
		had := copy(b.whole, rest)
		n, err := io.ReadFull(file, b.whole[had:])
		if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		b.text = b.whole[:had+n]
		if end := bytes.LastIndexByte(b.text, '\n') + 1; err == nil && end > 0 {
			rest = append(rest[:0], b.text[end:]...)
			b.text = b.text[:end]
		} else {
			rest = rest[:0]
		}
		b.done = make(chan struct{})
		go b.decode(p.dir)
		blocks <- b
		if err != nil {
			return nil
		}
	}
	return nil
}

func (b *block) decode(dir string) {
	defer close(b.done)
	clear(b.records)
	b.records = b.records[:0]
	for line := range bytes.Lines(b.text) {
		var d decoded
		if whole, ended := bytes.CutSuffix(line, []byte{'\n'}); ended && len(whole) > 0 {
			d.event, d.err = decode(dir, whole)
		}
		b.records = append(b.records, d)
	}
}

// playBlocks plays the blocks in their order. When it returns no goroutine has one.
func (p *player) playBlocks(blocks <-chan *block, free chan<- *block) (err error) {
	for b := range blocks {
		<-b.done
		i := 0
		for line := range bytes.Lines(b.text) {
			d := b.records[i]
			i++
			if err == nil {
				err = p.play(line, line[len(line)-1] == '\n', func([]byte) (core.Event, error) { return d.event, d.err })
			}
		}
		if err == nil {
			free <- b
		} else if free != nil {
			close(free)
			free = nil
		}
	}
	return err
}

// player goes through the lines of a journal.
type player struct {
	dir    string
	f      func(core.Event) error
	line   int   // the number of the next line
	offset int64 // where it begins
	tail   Tail
	next   int   // the number of the line behind the last whole record
	broken error // of a line before: nothing but NULs and padding may follow
}

// read goes through the lines up to the end of the file.
func (p *player) read(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if err := p.play(line, err == nil, p.decode); err != nil {
			return err
		}
		if err == io.EOF {
			if p.broken != nil {
				p.tail.Cut = p.offset - p.tail.Offset
			}
			return nil
		}
	}
}

func (p *player) decode(line []byte) (core.Event, error) { return decode(p.dir, line) }

// play takes a line, or, without its end, the last one or a part of one that
// is too long. It keeps nothing of it.
func (p *player) play(line []byte, ended bool, decode func([]byte) (core.Event, error)) error {
	number, offset := p.line, p.offset
	p.offset += int64(len(line))
	if ended {
		p.line++
		line = line[:len(line)-1]
	}
	switch {
	case len(line) == 0:
		return nil
	case p.broken != nil && len(bytes.Trim(line, "\x00")) == 0:
		return nil
	case p.broken != nil:
		return p.broken
	case !ended:
		p.broken = &Damage{p.dir, number, offset, errNoEnd}
		return nil
	}
	e, err := decode(line)
	switch {
	case errors.Is(err, errSum):
		p.broken = &Damage{p.dir, number, offset, err}
		return nil
	case errors.Is(err, core.ErrUnknownEvent):
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

// Load replays a run's journal into a state.
func Load(dir string) (*core.State, Tail, error) {
	return load(dir, func(core.Event) {})
}

func load(dir string, f func(core.Event)) (*core.State, Tail, error) {
	s := new(core.State)
	tail, err := Replay(dir, func(e core.Event) error {
		f(e)
		return s.Apply(e)
	})
	if err == nil && s.Seq == 0 {
		err = noEvents(filepath.Join(dir, journalName))
	}
	return s, tail, err
}

func noEvents(name string) error {
	return fmt.Errorf("%s holds no events: the run was killed before it started; remove its directory", name)
}
