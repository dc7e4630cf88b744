package rejection

import (
	"bytes"

	"github.com/looprun/looprun/internal/lines"
)

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
	lines lines.Reader
	in    fence  // the block that is open
	body  []byte // of an open block of ours
	last  []byte // of the last one that was closed
	ok    bool
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
	lineLimit = 4 << 10 // of a line that may be a fence, with its escape sequences
)

var backticks, tildes = []byte("```"), []byte("~~~")

// Reset forgets everything.
func (s *Scanner) Reset() {
	s.lines.Reset()
	*s = Scanner{lines: s.lines, body: s.body[:0], last: s.last[:0]}
}

// Write takes the next piece of output. It never fails.
func (s *Scanner) Write(p []byte) (int, error) {
	s.lines.Write(p, (*sink)(s))
	return len(p), nil
}

// sink takes the lines of a Scanner's stream.
type sink Scanner

// Lines implements [lines.Sink]. Outside of a document it looks only at those that
// hold three marks in a row, which is what makes it fast.
func (k *sink) Lines(p []byte) {
	s := (*Scanner)(k)
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
		s.line(p[start:end])
		at = end + 1
	}
}

// Long implements [lines.Sink].
func (*sink) Long([]byte, bool) bool { return false }

// LongEnd implements [lines.Sink]. Such a line makes its document too large, whatever
// it says.
func (k *sink) LongEnd([]byte) {
	if s := (*Scanner)(k); s.in.ours {
		s.add(string(bytes.Repeat([]byte(" "), MaxSize+1)))
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

// line takes one line without its line break.
func (s *Scanner) line(line []byte) {
	if s.in.ours {
		s.content(line)
		return
	}
	if len(line) > lineLimit || plain(line) {
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
func (s *Scanner) content(line []byte) {
	text := clean(line)
	if f, info := parseFence(text); s.in.closes(f, info) {
		s.last, s.body = s.body, s.last[:0]
		s.in, s.ok = fence{}, true
		return
	}
	s.add(text)
}

func (s *Scanner) add(text string) {
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
	if rest := s.lines.Rest(); s.in.ours && len(rest) > 0 {
		if f, info := parseFence(clean(rest)); s.in.closes(f, info) {
			return bytes.Clone(s.body), true
		}
	}
	if !s.ok {
		return nil, false
	}
	return bytes.Clone(s.last), true
}
