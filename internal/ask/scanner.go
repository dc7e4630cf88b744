package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// choicesLimit is the longest document that [ChoicesScanner] keeps, in bytes.
const choicesLimit = 64 << 10

// ChoicesScanner finds [Choices] in one stream of a command's output as it passes: the last
// complete JSON object with that status whose "{" is the first character of a
// line. It can span lines; an object inside another complete one does not count,
// nor one inside an object of more than 64 KiB. Write never fails. Memory is bounded by two documents of 64 KiB, and output without
// such a "{" costs no more than looking for it. The zero value is ready.
type ChoicesScanner struct {
	lead      int  // bytes of a byte order mark since the line began, midLine behind anything else
	inside    bool // an object has begun
	machine   machine
	buf       []byte // the object so far
	found     []byte // the last document
	oversized bool   // a document that was too long came after found
	limit     int    // 0: choicesLimit; tests make it small
}

// Write looks through the next piece of output.
func (s *ChoicesScanner) Write(p []byte) (int, error) {
	for i := 0; i < len(p); {
		if !s.inside {
			if i = s.search(p, i); i < 0 {
				break
			}
			s.inside = true
			s.buf = s.buf[:0]
			s.machine.reset()
		}
		i = s.consume(p, i)
	}
	if len(p) > 0 {
		s.lead = s.leads(p, len(p))
	}
	return len(p), nil
}

// Result is the last document, nil when there is none. The error says what is
// wrong with it, for the command to read. It can be called while the output goes
// on; an object that is not complete yet does not count.
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

// Reset makes the scanner ready for the output of the next iteration.
func (s *ChoicesScanner) Reset() { *s = ChoicesScanner{buf: s.buf[:0], limit: s.limit} }

func (s *ChoicesScanner) size() int {
	if s.limit > 0 {
		return s.limit
	}
	return choicesLimit
}

// search is where the next object begins, -1 for nowhere.
func (s *ChoicesScanner) search(p []byte, i int) int {
	for {
		n := bytes.IndexByte(p[i:], '{')
		if n < 0 {
			return -1
		}
		if i += n; s.lineStart(p, i) {
			return i
		}
		i++
	}
}

func (s *ChoicesScanner) lineStart(p []byte, i int) bool {
	lead := s.leads(p, i)
	return lead == 0 || lead == len(mark)
}

// mark is the byte order mark, with which some programs begin what they print. No
// one can see it, so what follows it is the first character of the line.
const (
	mark    = "\ufeff"
	midLine = -1
)

// leads is how many bytes of a mark are all that the line has before p[i].
func (s *ChoicesScanner) leads(p []byte, i int) int {
	for n := range len(mark) + 1 {
		switch {
		case i == n && s.lead != midLine && strings.HasPrefix(mark[s.lead:], string(p[:n])):
			return s.lead + n
		case i > n && p[i-n-1] == '\n' && string(p[i-n:i]) == mark[:n]:
			return n
		}
	}
	return midLine
}

// consume reads on in the object and returns where it stopped: behind the object,
// at the byte that cannot be part of one, or at the end of p.
func (s *ChoicesScanner) consume(p []byte, i int) int {
	m, from := &s.machine, i
	for ; i < len(p); i++ {
		if m.state == inString {
			if i += m.plain(p[i:]); i == len(p) {
				break
			}
		}
		if m.step(p[i], p[i] == '{' && s.lineStart(p, i)) {
			if m.depth > 0 {
				continue
			}
			s.keep(p[from : i+1])
			s.finish()
			return i + 1
		}
		s.keep(p[from:i])
		s.abandon()
		return i
	}
	s.keep(p[from:])
	return len(p)
}

// keep adds to the object, unless it is too long already.
func (s *ChoicesScanner) keep(p []byte) {
	if room := s.size() + 1 - len(s.buf); len(p) > room {
		p = p[:room]
	}
	s.buf = append(s.buf, p...)
}

// long reports whether the object is above the limit; the buffer then has one
// byte more than is allowed.
func (s *ChoicesScanner) long() bool { return len(s.buf) > s.size() }

// finish takes the object if it is a document.
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

// abandon gives the object up. A complete document inside it then stands alone.
func (s *ChoicesScanner) abandon() {
	s.inside = false
	if part, ok := s.machine.nested(); ok && !s.long() {
		s.take(s.buf[part.from:part.to])
	}
}

func (s *ChoicesScanner) take(doc []byte) {
	s.found, s.oversized = append(s.found[:0], doc...), false
}

// means reports whether a JSON string, without its quotes, stands for the text.
func means(raw []byte, text string) bool {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw) == text
	}
	var unquoted string
	_ = json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &unquoted) // the machine has checked it
	return unquoted == text
}
