package scratchpad

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/looprun/looprun/core"
)

// record is an intact record, wherever it stands in a journal.
type record struct {
	seq    int64
	kind   core.EventType
	line   int
	offset int64
	size   int    // without the line break
	sum    string // its check sum, as it stands in the line
}

// survey are all records of a journal that are intact, in the order of the file.
// Nothing about their order is required.
type survey struct {
	records []record
	newer   int // the line of the first event of a newer looprun; zero: none
}

// take reads the journal line by line. What is not an intact record is passed
// over, however long it is.
func take(dir string, file io.Reader) (survey, error) {
	var s survey
	r := bufio.NewReaderSize(file, 64<<10)
	line, offset, part := 1, int64(0), false
	for {
		text, err := r.ReadSlice('\n')
		switch {
		case err == io.EOF:
			return s, nil
		case errors.Is(err, bufio.ErrBufferFull):
			part = true
		case err != nil:
			return s, err
		case part:
			part = false
			line++
		default:
			s.add(dir, line, offset, text[:len(text)-1])
			line++
		}
		offset += int64(len(text))
	}
}

func (s *survey) add(dir string, line int, offset int64, text []byte) {
	if len(text) == 0 {
		return
	}
	e, err := decode(dir, text)
	if errors.Is(err, core.ErrUnknownEvent) && s.newer == 0 {
		s.newer = line
	}
	if err != nil {
		return
	}
	sum := text[len(text)-sumSize+len(sumField) : len(text)-len(sumEnd)]
	s.records = append(s.records, record{e.Seq, e.Data.Type(), line, offset, len(text), string(sum)})
}

// chain is what of a survey replays: the records 1, 2, 3 … without a gap, as far
// as each can happen after the one before.
type chain struct {
	kept  []record
	lost  []record // intact, with a number of its own, and not kept
	state *core.State
	// why says why the first lost record cannot follow; empty: none is lost.
	why string
}

// link finds the chain. Records that stand in the wrong place and lines that are
// no records do no harm, since numbers without a gap say that nothing is missing.
// Two different records with one number do: some are from another run, and
// nobody knows which. Then only the first prefix events, which stand in their
// place from the beginning of the file, are taken.
func (s survey) link(dir string, file io.ReaderAt, prefix int64) (chain, error) {
	bySeq := map[int64]record{}
	var last int64
	limit := int64(-1)
	for _, r := range s.records {
		first, seen := bySeq[r.seq]
		switch {
		case !seen:
			bySeq[r.seq] = r
			last = max(last, r.seq)
		case first.sum != r.sum || first.size != r.size:
			limit = prefix
		}
	}
	c := chain{state: new(core.State)}
	for seq := int64(1); c.why == "" && seq <= last; seq++ {
		r, there := bySeq[seq]
		switch {
		case limit >= 0 && seq > limit:
			c.why = "lines of another journal stand between them"
			continue
		case !there:
			c.why = fmt.Sprintf("event %d is missing", seq)
			continue
		}
		e, err := r.read(dir, file)
		if err != nil {
			return c, err
		}
		if err := c.state.Apply(e); err != nil {
			c.why = err.Error()
			continue
		}
		c.kept = append(c.kept, r)
	}
	for _, r := range s.records {
		if r.seq > int64(len(c.kept)) && bySeq[r.seq].offset == r.offset {
			c.lost = append(c.lost, r)
		}
	}
	return c, nil
}

// text is the line of the record, without its break.
func (r record) text(file io.ReaderAt) ([]byte, error) {
	b := make([]byte, r.size)
	_, err := file.ReadAt(b, r.offset)
	return b, err
}

func (r record) read(dir string, file io.ReaderAt) (core.Event, error) {
	b, err := r.text(file)
	if err != nil {
		return core.Event{}, err
	}
	return decode(dir, b)
}

// inspected is all that is known about a journal.
type inspected struct {
	tail   Tail
	state  *core.State // after the events that replay as the file stands
	damage *Damage     // nil: it can be read to its end
	newer  string      // an event of a newer looprun; empty: none
	chain  chain       // only with damage or a torn end
}

// inspect reads a journal and, when something is wrong, what is intact in it.
func inspect(dir string, file *os.File) (inspected, error) {
	in := inspected{state: new(core.State)}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return in, err
	}
	var err error
	in.tail, err = replay(dir, file, in.state.Apply)
	damage, damaged := errors.AsType[*Damage](err)
	switch {
	case errors.Is(err, core.ErrUnknownEvent):
		in.newer = "a newer looprun wrote it: " + errors.Unwrap(err).Error()
		return in, nil
	case damaged:
		in.damage = damage
	case err != nil || in.tail.Cut == 0:
		return in, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return in, err
	}
	all, err := take(dir, file)
	if err != nil {
		return in, err
	}
	if all.newer > 0 {
		in.newer = fmt.Sprintf("a newer looprun wrote line %d", all.newer)
	}
	in.chain, err = all.link(dir, file, in.tail.Events)
	return in, err
}
