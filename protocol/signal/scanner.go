package signal

import (
	"bytes"

	"github.com/looprun/looprun/internal/lines"
)

const (
	// window is how many lines of the end of the output count.
	window = 200
	// longest is how much of each line is looked at, in bytes.
	longest = 4 << 10
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

// Scanner looks for signals in the lines of one stream of output. Its memory does not grow
// with the output. The zero value is ready. Standard output and standard error need one
// each.
type Scanner struct {
	fence lines.Fence
	line  int      // how many there were
	ended []*draft // the signals of the window but the last, in their order
	open  *draft   // the last one, whose body is being read
}

// Reset forgets the output; the next one begins.
func (s *Scanner) Reset() { *s = Scanner{} }

// Line takes the next line of the output as a terminal shows it, without its line break
// and without escape sequences; cut says that the line goes on. It keeps nothing of the
// line.
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

// Result is what the output says up to now, in its order. Text that is no signal although it
// looks like one is malformed.
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
