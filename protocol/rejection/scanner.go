package rejection

import (
	"bytes"
	"strings"

	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/internal/termsafe"
)

// Scanner finds the last complete block fenced as looprun-rejection in the lines of one stream
// of output:
//
//	```looprun-rejection
//	{"reason_type": "BLOCKER", …}
//	```
//
// Fences are those of Markdown, as looprun reads them everywhere. A block inside another one
// is an example, not a rejection.
//
// Memory use is bounded. Of a block larger than [MaxSize], one byte more than that is kept, so
// that [Parse] rejects it and its author is told, instead of an older block being used.
//
// The zero value is ready to use. A Scanner is for one stream and one goroutine.
type Scanner struct {
	fence lines.Fence
	ours  bool   // the open block is a rejection
	body  []byte // of that block
	last  []byte // of the last one that was closed
	ok    bool
}

const (
	tag       = "looprun-rejection"
	lineLimit = 4 << 10 // of a line that may be a fence
)

// Reset discards all state.
func (s *Scanner) Reset() { *s = Scanner{body: s.body[:0], last: s.last[:0]} }

// Line receives the next line of the output as a terminal shows it, without its line break and
// without escape sequences; cut means that the line continues. It does not keep the slice.
func (s *Scanner) Line(line []byte, cut bool) {
	place := lines.Outside
	switch {
	case cut && s.ours: // whatever it says, the document is too large
		s.add(string(bytes.Repeat([]byte(" "), MaxSize+1)))
		return
	case cut, !s.ours && len(line) > lineLimit:
		return
	default:
		place = s.fence.Take(line)
	}
	switch {
	case place == lines.Opening:
		s.ours = firstWord(s.fence.Info()) == tag
		s.body = s.body[:0]
	case place == lines.Closing && s.ours:
		s.last, s.body = s.body, s.last
		s.ours, s.ok = false, true
	case s.ours:
		s.add(termsafe.Text(string(line)))
	}
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

// Result returns the document of the last complete block, as a copy; ok is false if there is
// none.
func (s *Scanner) Result() (document []byte, ok bool) {
	if !s.ok {
		return nil, false
	}
	return bytes.Clone(s.last), true
}

func firstWord(info string) string {
	word, _, _ := strings.Cut(info, " ")
	word, _, _ = strings.Cut(word, "\t")
	return word
}
