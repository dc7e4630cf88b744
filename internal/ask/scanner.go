package ask

import (
	"bytes"
	"fmt"

	"github.com/looprun/looprun/internal/jsontext"
)

// choicesLimit is the size of the longest document that [ChoicesScanner] keeps, in bytes.
const choicesLimit = 64 << 10

// ChoicesScanner finds [Choices] in the lines of one stream of a command's output: the last
// complete JSON object with that status whose "{" is the first character of a line. The object
// can span lines; one inside another complete object does not count, nor one inside an object
// of more than 64 KiB. Of a line of more than 64 KiB only the beginning is available: a
// document in it is reported as too long if that beginning contains the status. Memory use is
// bounded by two documents of 64 KiB, and output without such a "{" costs no more than
// searching for it. The zero value is ready to use.
type ChoicesScanner struct {
	inside    bool // an object has begun
	machine   machine
	buf       []byte // the object so far
	found     []byte // the last document
	oversized bool   // a document that was too long came after found
	limit     int    // 0: choicesLimit; tests make it small
}

// Line reads the next line of the output, without its line break and without escape sequences;
// cut means that the line continues.
func (s *ChoicesScanner) Line(line []byte, cut bool) {
	begins := bytes.TrimPrefix(line, []byte("\ufeff")) // it shows nothing
	complete := s.inside && s.consume(line, true)
	if !s.inside && !complete && len(begins) > 0 && begins[0] == '{' {
		s.inside = true
		s.buf = s.buf[:0]
		s.machine.reset()
		s.consume(begins, true)
	}
	switch {
	case !s.inside:
	case cut && s.machine.frames[0].status:
		s.inside, s.oversized = false, true
	case cut:
		s.abandon()
	default:
		s.consume([]byte{'\n'}, false)
	}
}

// Result returns the last document, or nil if there is none. The error describes what is wrong
// with it, for the command to read. Result can be called while the output continues; an
// incomplete object does not count.
func (s *ChoicesScanner) Result() (*Choices, error) {
	doc, oversized := s.found, s.oversized
	if part, ok := s.machine.nested(); ok && s.inside && !s.long() {
		doc, oversized = s.buf[part.from:part.to], false
	}
	switch {
	case oversized:
		var ps Problems
		ps.Add("", fmt.Sprintf("the document with the status %s is longer than %d bytes", StatusChoices, s.size()), "write it to $LOOPRUN_DIR/questions.json, or leave out what is not needed")
		return nil, ps
	case doc == nil:
		return nil, nil
	}
	c, err := ParseChoices(doc)
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// Reset prepares the scanner for the output of the next iteration.
func (s *ChoicesScanner) Reset() { *s = ChoicesScanner{buf: s.buf[:0], limit: s.limit} }

func (s *ChoicesScanner) size() int {
	if s.limit > 0 {
		return s.limit
	}
	return choicesLimit
}

// consume reads more of the object, and reports whether it is complete. It abandons the object
// at a byte that cannot be part of it. starts means that a line begins here.
func (s *ChoicesScanner) consume(line []byte, starts bool) (complete bool) {
	m := &s.machine
	for i := 0; i < len(line); i++ {
		if i += m.plain(line[i:]); i == len(line) {
			break
		}
		if !m.step(line[i], starts && i == 0) {
			s.keep(line[:i])
			s.abandon()
			return false
		}
		if m.json.Depth() == 0 {
			s.keep(line[:i+1])
			s.finish()
			return true
		}
	}
	s.keep(line)
	return false
}

// keep appends to the object, unless it is already too long.
func (s *ChoicesScanner) keep(p []byte) {
	if room := s.size() + 1 - len(s.buf); len(p) > room {
		p = p[:room]
	}
	s.buf = append(s.buf, p...)
}

// long reports whether the object exceeds the limit; the buffer then holds one byte more than
// allowed.
func (s *ChoicesScanner) long() bool { return len(s.buf) > s.size() }

// finish stores the object if it is a document.
func (s *ChoicesScanner) finish() {
	s.inside = false
	switch {
	case !s.machine.frames[0].status:
	case s.long():
		s.oversized = true
	default:
		s.take(s.buf)
	}
}

// abandon discards the object. A complete document inside it then counts by itself.
func (s *ChoicesScanner) abandon() {
	s.inside = false
	if part, ok := s.machine.nested(); ok && !s.long() {
		s.take(s.buf[part.from:part.to])
	}
}

func (s *ChoicesScanner) take(doc []byte) {
	s.found, s.oversized = append(s.found[:0], doc...), false
}

// means reports whether a JSON string, without its quotes, represents the text.
func means(raw []byte, text string) bool { return string(jsontext.Unescape(nil, raw)) == text }
