package rejection

import "bytes"

// Scanner finds the last complete block fenced as looprun-rejection in output
// that is written to it, cut anywhere:
//
//	```looprun-rejection
//	{"reason_type": "BLOCKER", …}
//	```
//
// Fences are those of Markdown: three or more of ` or ~, indented by at most
// three blanks, closed by at least as many of the same. A block inside another
// one is an example, not a rejection. Escape sequences, redraws and carriage
// returns are taken out of lines, also out of those of the document. Lines that
// tools draw are no fences: those with more than 16 marks, and those with ^ or ~
// after them.
//
// Memory is bounded. A block that is larger than [MaxSize] is kept up to one
// byte more, so that [Parse] refuses it and its author hears of it, rather than
// an older one being taken.
//
// The zero value is ready to use. A Scanner is for one stream and one goroutine.
type Scanner struct {
	line []byte // the unfinished line, up to its limit
	long bool   // the unfinished line is longer
	in   fence  // the block that is open
	body []byte // of an open block of ours
	last []byte // of the last one that was closed
	ok   bool
}

// fence is what opened a block; the zero value: none.
type fence struct {
	mark byte
	n    int
	ours bool
}

const (
	tag       = "looprun-rejection"
	maxFence  = 16
	lineLimit = 4 << 10       // of a line that may be a fence, with its escape sequences
	bodyLimit = 2*MaxSize + 1 // of a line of the document, with its escape sequences
)

var backticks, tildes = []byte("```"), []byte("~~~")

// Reset forgets everything.
func (s *Scanner) Reset() {
	*s = Scanner{line: s.line[:0], body: s.body[:0], last: s.last[:0]}
}

// Write takes the next piece of output. It never fails.
func (s *Scanner) Write(p []byte) (int, error) {
	n := len(p)
	if len(s.line) > 0 || s.long {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			s.keep(p)
			return n, nil
		}
		s.keep(p[:end])
		s.endLine(s.line, s.long)
		s.line, s.long = s.line[:0], false
		p = p[end+1:]
	}
	whole := bytes.LastIndexByte(p, '\n') + 1
	s.lines(p[:whole])
	s.keep(p[whole:])
	return n, nil
}

// lines takes whole lines. Outside of a document it looks only at those that
// hold three marks in a row, which is what makes it fast.
func (s *Scanner) lines(p []byte) {
	tick, tilde := -1, -1 // where the next marks are; negative: to be looked for
	for at := 0; at < len(p); {
		start := at
		if !s.in.ours {
			tick, tilde = next(p, backticks, tick, at), next(p, tildes, tilde, at)
			mark := min(tick, tilde)
			if mark == len(p) {
				return
			}
			start = at + bytes.LastIndexByte(p[at:mark], '\n') + 1
		}
		end := start + bytes.IndexByte(p[start:], '\n')
		s.endLine(p[start:end], false)
		at = end + 1
	}
}

// next is where marks stand from a position on, len(p) if nowhere; known is
// where they were found before.
func next(p, marks []byte, known, at int) int {
	if known >= at {
		return known
	}
	if i := bytes.Index(p[at:], marks); i >= 0 {
		return at + i
	}
	return len(p)
}

func (s *Scanner) limit() int {
	if s.in.ours {
		return bodyLimit
	}
	return lineLimit
}

// keep adds to the unfinished line.
func (s *Scanner) keep(p []byte) {
	if room := s.limit() - len(s.line); len(p) > room {
		s.long = true
		p = p[:room]
	}
	s.line = append(s.line, p...)
}

// endLine takes one line without its line break.
func (s *Scanner) endLine(line []byte, long bool) {
	if limit := s.limit(); len(line) > limit {
		line, long = line[:limit], true
	}
	if s.in.ours {
		s.content(line, long)
		return
	}
	if long || plain(line) {
		return
	}
	f, info := parseFence(clean(line))
	switch {
	case f.n == 0:
	case s.in.n == 0:
		f.ours = firstWord(info) == tag
		s.in = f
	case s.in.closes(f, info):
		s.in = fence{}
	}
}

// content takes a line of an open document.
func (s *Scanner) content(line []byte, long bool) {
	text := clean(line)
	if f, info := parseFence(text); !long && s.in.closes(f, info) {
		s.last, s.body = s.body, s.last[:0]
		s.in, s.ok = fence{}, true
		return
	}
	if long {
		text = string(bytes.Repeat([]byte(" "), MaxSize+1)) // too large, whatever it says
	}
	if room := MaxSize + 1 - len(s.body); len(text)+1 > room {
		text = text[:min(len(text), max(0, room))]
	}
	s.body = append(s.body, text...)
	if len(s.body) <= MaxSize {
		s.body = append(s.body, '\n')
	}
}

// Result is the document of the last complete block; ok is false if there is
// none. An unfinished last line is taken as if it were finished. The bytes are
// the caller's own.
func (s *Scanner) Result() (document []byte, ok bool) {
	if s.in.ours && !s.long && len(s.line) > 0 {
		if f, info := parseFence(clean(s.line)); s.in.closes(f, info) {
			return bytes.Clone(s.body), true
		}
	}
	if !s.ok {
		return nil, false
	}
	return bytes.Clone(s.last), true
}
