package signal

import "bytes"

const (
	// window is how many lines of the end of the output are looked at.
	window = 200
	// longest is how much of each line is looked at, in bytes.
	longest = 4 << 10
	// batch is how much output is gathered before what is out of the window is
	// dropped. It has to be more than window lines of the longest.
	batch = 1 << 20
)

// Malformed is text that looks like a signal and is none. The command is told.
type Malformed struct {
	// Line is its place in the output, from 1.
	Line int
	// Name is the signal's name as it was printed.
	Name string
	// Problem says in a sentence what is wrong and what to do.
	Problem string
}

// Scanner looks for signals in one stream of output. Its memory does not grow
// with the output, and how the stream is cut into writes does not matter. The
// zero value is ready. Standard output and standard error need one each.
type Scanner struct {
	buf     []byte // the end of the output, from the beginning of a line
	dropped int    // the lines before it
	fence   fence  // the block in which buf begins
}

// Write takes the next piece of the output. It never fails.
//
// It only gathers. Every [batch] bytes the lines that are out of the window are
// dropped, and of those nothing is read but their number and their fences.
func (s *Scanner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		take := min(len(p), batch-len(s.buf))
		s.buf = append(s.buf, p[:take]...)
		p = p[take:]
		if len(s.buf) >= batch {
			s.compact()
		}
	}
	return n, nil
}

// Reset forgets the output; the next one begins.
func (s *Scanner) Reset() { s.buf, s.dropped, s.fence = s.buf[:0], 0, fence{} }

// compact drops what is out of the window, and of each line what is not looked
// at. The unfinished line at the end stays, so that it can go on.
func (s *Scanner) compact() {
	start := tailStart(s.buf, window)
	s.dropped += bytes.Count(s.buf[:start], newline)
	s.fence.skip(s.buf[:start])
	kept := s.buf[:0]
	for rest := s.buf[start:]; len(rest) > 0; {
		line := rest
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i+1]
		}
		rest = rest[len(line):]
		if len(line) <= longest+1 {
			kept = append(kept, line...)
			continue
		}
		ended := line[len(line)-1] == '\n'
		kept = append(kept, line[:longest+1]...) // one more says that it is cut
		if ended {
			kept = append(kept, '\n')
		}
	}
	s.buf = kept
}

var newline = []byte{'\n'}

// tailStart is where the last n lines begin that are ended, with whatever
// unfinished line follows them.
func tailStart(b []byte, n int) int {
	end := len(b)
	for range n + 1 {
		i := bytes.LastIndexByte(b[:end], '\n')
		if i < 0 {
			return 0
		}
		end = i
	}
	return end + 1
}

// Result is what the output says up to now, in its order.
func (s *Scanner) Result() ([]Signal, []Malformed) {
	r := reading{fence: s.fence, line: s.dropped}
	start := tailStart(s.buf, window)
	if n := len(s.buf); n > 0 && s.buf[n-1] != '\n' {
		start = tailStart(s.buf, window-1) // an unfinished line is one of them
	}
	for at := 0; at < len(s.buf); {
		line := s.buf[at:]
		next := len(s.buf)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, next = line[:i], at+i+1
		}
		r.take(line[:min(len(line), longest)], len(line) > longest, at >= start)
		at = next
	}
	r.end()
	return r.signals, r.malformed
}
