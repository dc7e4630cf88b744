package signal

import (
	"bytes"

	"github.com/looprun/looprun/internal/lines"
)

const (
	// window is how many lines at the end of the output count.
	window = 200
	// longest is how much of each line is examined, in bytes.
	longest = 4 << 10
)

// Malformed is text that looks like a signal but is not one. The command is told about it.
type Malformed struct {
	// Line is its line number in the output, from 1.
	Line int
	// Name is the signal's name as it was printed.
	Name string
	// Problem is one sentence about what is wrong and what to do.
	Problem string
}

// Scanner searches the lines of one stream of output for signals. Its memory use does not grow
// with the output. The zero value is ready to use. Use one each for standard output and
// standard error.
type Scanner struct {
	fence lines.Fence
	line  int      // how many there were
	ended []*draft // the signals of the window but the last, in their order
	open  *draft   // the last one, whose body is being read
}

// Reset discards the output, so that the next one can begin.
func (s *Scanner) Reset() { *s = Scanner{} }

// Line receives the next line of the output as a terminal shows it, without its line break and
// without escape sequences; cut means that the line continues. It does not keep the slice.
func (s *Scanner) Line(line []byte, cut bool) {
	s.line++
	if len(line) > longest {
		line, cut = line[:longest], true
	}
	fenced := s.fence.Take(line) != lines.Outside
	switch {
	case !fenced && !cut && s.header(bytes.TrimRight(line, " \t")):
	case s.open == nil:
	case s.past(s.open):
		s.open = nil
	default:
		s.open.add(string(line), fenced)
	}
}

// past reports whether a signal began before the window.
func (s *Scanner) past(d *draft) bool { return d.line <= s.line-window }

// Result returns the signals in the output so far, in order. Text that looks like a signal but
// is not one is malformed.
func (s *Scanner) Result() (signals []Signal, malformed []Malformed) {
	for _, d := range append(s.ended[:len(s.ended):len(s.ended)], s.open) {
		if d == nil || s.past(d) {
			continue
		}
		if signal, bad := d.finish(); bad != nil {
			malformed = append(malformed, *bad)
		} else {
			signals = append(signals, signal)
		}
	}
	return signals, malformed
}
