package redact

import "slices"

// Stream masks what is written to it, piece by piece. It is not safe for concurrent use.
//
// It holds back at most the end of the text with which a secret value may begin; usually that
// is nothing. With patterns it holds back the whole of an unfinished line; see Idle.
type Stream struct {
	r  *Redactor
	to func([]byte)

	text  []byte // was written and is not yet out, but for the first done bytes
	spans []span // in text
	done  int    // of text, is out, masked
	next  int    // in text: values that begin before it are in spans
	line  int    // in text: lines that begin before it are in spans
	out   []byte
}

// Stream returns a stream that passes the masked text to a function, in pieces that are only
// valid until it returns.
func (r *Redactor) Stream(to func([]byte)) *Stream { return &Stream{r: r, to: to} }

// Write masks the next piece. It does not retain b.
func (s *Stream) Write(b []byte) {
	if s.r == nil {
		if len(b) > 0 {
			s.to(b)
		}
		return
	}
	held := len(s.text)
	if held > 0 {
		s.text = append(s.text, b...)
		b = s.text
	}
	s.pass(b, held, false, false)
}

// Idle is called when the program waits, perhaps for a person to answer: an unfinished line is
// passed on, and patterns see its rest as a line of its own. A possible beginning of a secret
// value is still held back.
func (s *Stream) Idle() {
	if len(s.text) > 0 {
		s.pass(s.text, len(s.text), true, false)
	}
}

// Flush ends the text and passes on everything held back. The next Write begins another text.
func (s *Stream) Flush() {
	if len(s.text) > 0 {
		s.pass(s.text, len(s.text), true, true)
	}
}

// Pending returns how many bytes are held back.
func (s *Stream) Pending() int { return len(s.text) - s.done }

// pass finds what to mask in text, passes on what is decided, and keeps the rest. The text
// held back before has no line end after s.line. wholeLine means that the last line is
// complete, or must be treated so; wholeValue means the same for the last value.
func (s *Stream) pass(text []byte, held int, wholeLine, wholeValue bool) {
	s.spans, s.next = s.r.values.find(text, s.next, wholeValue, s.spans)
	decided := s.next
	if len(s.r.patterns) > 0 {
		end := len(text)
		if !wholeLine {
			end = wholeLines(text, s.line, held)
		}
		for i := range s.r.patterns {
			s.spans = s.r.patterns[i].find(text[s.line:end], s.line, s.spans)
		}
		s.line = end
		decided = min(decided, end)
	}
	s.emit(text, decided)
	s.keep(text, decided)
}

// wholeLines returns where the last complete line of text ends. The first line begins at from
// and has no end before held. A line that is too long is cut, so that its first part counts as
// complete.
func wholeLines(text []byte, from, held int) int {
	end := len(text)
	for end > max(from, held) && text[end-1] != '\n' && text[end-1] != '\r' {
		end--
	}
	if end <= max(from, held) {
		end = from
	}
	return end + (len(text)-end)/maxLine*maxLine
}

// emit passes on text up to decided, with masks for the spans that begin before it.
func (s *Stream) emit(text []byte, decided int) {
	if len(s.spans) == 0 {
		if from := min(s.done, decided); from < decided {
			s.to(text[from:decided])
		}
		s.done = max(s.done, decided)
		return
	}
	if len(s.spans) > 1 {
		slices.SortStableFunc(s.spans, func(a, b span) int { return a.from - b.from })
	}
	out, done := s.out[:0], s.done
	for _, m := range s.spans {
		if m.from >= decided {
			break
		}
		if m.from >= done { // else it goes on where another one has begun
			out = append(append(out, text[done:m.from]...), Mask...)
		}
		done = max(done, m.to)
	}
	if done < decided {
		out = append(out, text[done:decided]...)
		done = decided
	}
	if len(out) > 0 {
		s.to(out)
	}
	s.done, s.out = done, out
}

// keep holds back text from decided on.
func (s *Stream) keep(text []byte, decided int) {
	s.text = append(s.text[:0], text[decided:]...)
	s.done -= decided
	s.next -= decided
	s.line = max(0, s.line-decided)
	left := s.spans[:0]
	for _, m := range s.spans {
		if m.from >= decided {
			left = append(left, span{m.from - decided, m.to - decided})
		}
	}
	s.spans = left
	const modest = 1 << 20
	if cap(s.text) > modest && len(s.text) < modest/4 {
		s.text = slices.Clone(s.text)
	}
	if cap(s.out) > modest {
		s.out = nil
	}
}
