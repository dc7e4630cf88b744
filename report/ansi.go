package report

import (
	"strconv"
	"strings"

	"github.com/looprun/looprun/internal/ascii"
	"github.com/looprun/looprun/internal/termsafe"
)

// span is text in one style. The class names no more than what this file and
// colour.go make: nothing of the output gets into it.
type span struct{ Class, Text string }

// maxLineRunes is how long a line of output may be, in characters.
const maxLineRunes = 4000

// ansi turns the output of a terminal program into lines of spans. It knows the
// escape sequences that set colours and weight (SGR); all others are dropped,
// and so is every character that termsafe drops. A carriage return redraws
// the line. Its zero value, with a palette, is at the start of an output.
type ansi struct {
	colours *palette
	style   style
	done    [][]span
	line    []span
	runes   int  // in line
	redraw  bool // a carriage return came: the next character begins the line anew
}

// style is how text is set.
type style struct {
	bold, dim, italic, underline, inverse bool

	fg, bg colour
}

// write takes a part of the output that ends anywhere but in an escape sequence.
func (a *ansi) write(s string) {
	start := 0
	for at := 0; at < len(s); {
		i := strings.Index(s[at:], "\x1b[")
		if i < 0 {
			break
		}
		at += i
		params, n := sgr(s[at:])
		if n == 0 {
			at += 2
			continue // another sequence: termsafe drops it
		}
		a.text(s[start:at])
		a.style.set(params)
		at += n
		start = at
	}
	a.text(s[start:])
}

// end closes the last line and returns all of them.
func (a *ansi) end() [][]span {
	if len(a.line) > 0 {
		a.newline()
	}
	return a.done
}

// sgr reads a sequence that sets the style: its parameters and its length; 0: it
// is another one.
func sgr(s string) (params string, n int) {
	const longest = 256
	for i := len("\x1b["); i < min(len(s), longest); i++ {
		switch c := s[i]; {
		case ascii.Digit(c) || c == ';' || c == ':':
		case c == 'm':
			return s[2:i], i + 1
		default:
			return "", 0
		}
	}
	return "", 0
}

// text takes what stands between two of them.
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
	class := a.colours.class(a.style)
	if n := len(a.line); n > 0 && a.line[n-1].Class == class {
		a.line[n-1].Text += cut
		return
	}
	a.line = append(a.line, span{class, cut})
}

// set carries out the parameters of one sequence.
func (s *style) set(params string) {
	list := strings.Split(params, ";")
	for i := 0; i < len(list); i++ {
		code, sub, hasSub := strings.Cut(list[i], ":")
		n, _ := strconv.Atoi(code) // what is not a number is 0, as a missing one is
		switch {
		case n == 0 && list[i] != "" && code == "":
			// a sequence that begins with a colon means nothing
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.dim = true
		case n == 3:
			s.italic = true
		case n == 4:
			s.underline = sub != "0"
		case n == 7:
			s.inverse = true
		case n == 22:
			s.bold, s.dim = false, false
		case n == 23:
			s.italic = false
		case n == 24:
			s.underline = false
		case n == 27:
			s.inverse = false
		case n >= 30 && n <= 37:
			s.fg = indexed(n - 30)
		case n >= 90 && n <= 97:
			s.fg = indexed(n - 90 + 8)
		case n == 39:
			s.fg = colour{}
		case n >= 40 && n <= 47:
			s.bg = indexed(n - 40)
		case n >= 100 && n <= 107:
			s.bg = indexed(n - 100 + 8)
		case n == 49:
			s.bg = colour{}
		case n == 38 || n == 48 || n == 58:
			args := list[i+1:]
			if hasSub {
				args = subparameters(sub)
			}
			c, used := extended(args)
			if !hasSub {
				i += used
			}
			switch n { // 58 is the colour of the underline
			case 38:
				s.fg = c
			case 48:
				s.bg = c
			}
		}
	}
}

// subparameters are those of 38:5:N and 38:2:R:G:B; the latter may have the
// number of a colour space, mostly empty, before R.
func subparameters(sub string) []string {
	args := strings.Split(sub, ":")
	if len(args) > 4 && args[0] == "2" {
		args = append([]string{"2"}, args[2:]...)
	}
	return args
}

// extended reads what follows 38 or 48: 5;N or 2;R;G;B. A colour that does not
// exist is the default one.
func extended(args []string) (c colour, used int) {
	number := func(i int) int {
		if i >= len(args) {
			return -1
		}
		if args[i] == "" {
			return 0
		}
		n, err := strconv.Atoi(args[i])
		if err != nil || n > 255 {
			return -1
		}
		return n
	}
	switch number(0) {
	case 5:
		if n := number(1); n >= 0 {
			c = indexed(n)
		}
		return c, 2
	case 2:
		r, g, b := number(1), number(2), number(3)
		if r >= 0 && g >= 0 && b >= 0 {
			c = exact(rgb{uint8(r), uint8(g), uint8(b)})
		}
		return c, 4
	}
	return c, len(args)
}
