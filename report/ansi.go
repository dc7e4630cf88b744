package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/looprun/looprun/internal/escape"
	"github.com/looprun/looprun/internal/termsafe"
)

// span is text in one style. Class is empty or names classes of page.css; it never contains
// any of the output.
type span struct{ Class, Text string }

// maxLineRunes is the maximum length of an output line, in characters.
const maxLineRunes = 4000

// ansi converts the output of a terminal program into lines of spans. It supports bold and the
// 16 text colours; it drops every other escape sequence and every character that termsafe
// drops. A carriage return redraws the line. The zero value is ready for the start of an
// output.
type ansi struct {
	style  style
	done   [][]span
	line   []span
	runes  int  // in line
	redraw bool // a carriage return came: the next character starts the line again
}

// style is how text is displayed. The zero value is plain.
type style struct {
	bold   bool
	colour int // 1 to 16; zero: the default
}

// class returns the style's classes of page.css.
func (s style) class() string {
	var names []string
	if s.bold {
		names = append(names, "b")
	}
	if s.colour > 0 {
		names = append(names, fmt.Sprintf("c%d", s.colour-1))
	}
	return strings.Join(names, " ")
}

// write adds a chunk of output. The chunk must not end within an escape sequence.
func (a *ansi) write(s string) {
	var scanner escape.Scanner
	for {
		i := strings.IndexByte(s, '\x1b')
		if i < 0 {
			a.text(s)
			return
		}
		a.text(s[:i])
		s = s[i:]
		n := escape.Next(&scanner, s)
		if scanner.Kind() == escape.Control && scanner.Final() == 'm' {
			a.style.set(string(scanner.Parameters()))
		}
		s = s[n:]
	}
}

// end ends the last line and returns all lines.
func (a *ansi) end() [][]span {
	if len(a.line) > 0 {
		a.newline()
	}
	return a.done
}

// text adds the text between two sequences.
func (a *ansi) text(s string) {
	for len(s) > 0 {
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			a.put(s)
			return
		}
		a.put(s[:i])
		if s[i] == '\n' {
			a.newline()
		} else {
			a.redraw = true
		}
		s = s[i+1:]
	}
}

func (a *ansi) newline() {
	a.done = append(a.done, a.line)
	a.line, a.runes, a.redraw = nil, 0, false
}

// put adds text to the line.
func (a *ansi) put(s string) {
	s = termsafe.Text(s)
	if s == "" {
		return
	}
	if a.redraw {
		a.line, a.runes, a.redraw = nil, 0, false
	}
	if a.runes >= maxLineRunes {
		return
	}
	cut := termsafe.Cut(s, maxLineRunes-a.runes)
	a.runes += len([]rune(cut))
	class := a.style.class()
	if n := len(a.line); n > 0 && a.line[n-1].Class == class {
		a.line[n-1].Text += cut
		return
	}
	a.line = append(a.line, span{class, cut})
}

// set applies the parameters of one sequence.
func (s *style) set(params string) {
	if strings.ContainsAny(params, "<=>?") { // it is about the keyboard
		return
	}
	list := strings.Split(params, ";")
	for i := 0; i < len(list); i++ {
		code, sub, hasSub := strings.Cut(list[i], ":")
		n, err := strconv.Atoi(code)
		switch {
		case err != nil && list[i] != "":
			// not a number
		case n == 0: // as a missing one
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 22:
			s.bold = false
		case n >= 30 && n <= 37:
			s.colour = n - 30 + 1
		case n >= 90 && n <= 97:
			s.colour = n - 90 + 8 + 1
		case n == 39:
			s.colour = 0
		case n == 38 || n == 48 || n == 58: // of text, behind it, of its underline
			args := list[i+1:]
			if hasSub {
				args = strings.Split(sub, ":")
			}
			colour, used := extended(args)
			if n == 38 {
				s.colour = colour
			}
			if !hasSub {
				i += used
			}
		}
	}
}

// extended parses the parameters after 38, 48 or 58: 5;N or 2;R;G;B. Every colour except the
// first 16 becomes the default, zero.
func extended(args []string) (colour, used int) {
	switch args = append(args, "", ""); args[0] {
	case "5":
		if n, err := strconv.Atoi(args[1]); err == nil && n >= 0 && n < 16 {
			colour = n + 1
		}
		return colour, 2
	case "2":
		return 0, 4
	}
	return 0, len(args)
}
