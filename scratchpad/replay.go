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
	err := p.ended(readLines(file, size, p.decode, p.play))
	return p.tail, err
}

// seen is what a line says by itself: what happened, or who wrote it.
type seen struct {
	event  core.Event
	digest digest
	mark   []byte // a part of the line
	err    error
}

// readLines looks at the lines of a journal of that size and takes them in their order: a
// whole one ends with its line break, one that is too long comes in parts, and empty ones can
// come together. Each look may be in a goroutine of its own, and needs no other line.
func readLines(file io.Reader, size int64, look func(line []byte) seen, take func(line []byte, s seen) error) error {
	if size > 4*blockSize {
		return readAhead(file, look, take)
	}
	return lineByLine(reader(file, size), look, take)
}

func lineByLine(r *bufio.Reader, look func([]byte) seen, take func([]byte, seen) error) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if failed := take(line, look(line)); failed != nil {
			return failed
		}
		if err == io.EOF {
			return nil
		}
	}
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
	whole []byte // the room of the text
	text  []byte
	seen  []seen // of each line
	done  chan struct{}
}

// readAhead is [readLines] of a long journal: the lines of the next blocks are looked at
// meanwhile, since that is most of the work.
func readAhead(file io.Reader, look func([]byte) seen, take func([]byte, seen) error) error {
	n := runtime.GOMAXPROCS(0)
	blocks, free := make(chan *block, n), make(chan *block, n+2)
	for range cap(free) {
		free <- new(block)
	}
	var rerr error
	go func() {
		defer close(blocks)
		rerr = cut(file, free, blocks, look)
	}()
	if err := takeBlocks(blocks, free, take); err != nil {
		return err
	}
	return rerr
}

// cut reads the file in blocks that end with a line, until there are no free ones.
func cut(file io.Reader, free <-chan *block, blocks chan<- *block, look func([]byte) seen) error {
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
		go b.look(look)
		blocks <- b
		if err != nil {
			return nil
		}
	}
	return nil
}

func (b *block) look(look func([]byte) seen) {
	defer close(b.done)
	clear(b.seen)
	b.seen = b.seen[:0]
	for at := 0; at < len(b.text); {
		line := firstLine(b.text[at:])
		b.seen = append(b.seen, look(line))
		at += len(line)
	}
}

// firstLine is the first line of a text, or all of the empty lines that it begins with: what
// is padded with them has very many.
func firstLine(text []byte) []byte {
	n := 0
	for n < len(text) && text[n] == '\n' {
		n++
	}
	if n == 0 {
		n = bytes.IndexByte(text, '\n') + 1
	}
	if n == 0 {
		n = len(text)
	}
	return text[:n]
}

// takeBlocks takes the blocks in their order. When it returns no goroutine has one.
func takeBlocks(blocks <-chan *block, free chan<- *block, take func([]byte, seen) error) (err error) {
	for b := range blocks {
		<-b.done
		at := 0
		for _, s := range b.seen {
			line := firstLine(b.text[at:])
			if err == nil {
				err = take(line, s)
			}
			at += len(line)
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

// decode reads what a line says.
func (p *player) decode(line []byte) (s seen) {
	if whole, ended := bytes.CutSuffix(line, []byte{'\n'}); ended && line[0] != '\n' {
		s.event, s.err = decode(p.dir, whole)
	}
	return s
}

// ended is what reading to the end came to.
func (p *player) ended(err error) error {
	if err == nil && p.broken != nil {
		p.tail.Cut = p.offset - p.tail.Offset
	}
	return err
}

// play takes a line in. It keeps nothing of it.
func (p *player) play(line []byte, s seen) error {
	number, offset := p.line, p.offset
	p.offset += int64(len(line))
	if len(line) > 0 && line[0] == '\n' { // padding
		p.line += len(line)
		return nil
	}
	line, ended := bytes.CutSuffix(line, []byte{'\n'})
	if ended {
		p.line++
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
	e, err := s.event, s.err
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
