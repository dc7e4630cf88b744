package signature

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
	"github.com/looprun/looprun/internal/datetime"
	"github.com/looprun/looprun/internal/margin"
)

// front is what surrounds the message of a line.
type front struct {
	body   []byte // the message
	indent int    // white space before anything else
	log    bool   // the line is a log line: it has a time stamp or a level
	level  byte   // 'e' for an error level, 'w', 'i', 0 unknown
	bars   int    // so many bars were in the margin
	bar    bool   // a margin such as "| " or "E   " was there
	ruled  bool   // the line is, or is set in, a rule of dashes
}

// split removes time stamps, levels, margins and rules of dashes from a line. full includes
// its leading white space. timed means that a time preceded it.
func split(full []byte, timed bool) (f front) {
	b := full
	if timed {
		_, e := levelAt(trim(full))
		f.log = e > 0
	}
	b = bytes.TrimLeft(b, " \t")
	f.indent = len(full) - len(b)
	for range 8 { // margins nest, but not for ever
		n := len(b)
		b = stamp(b, &f)
		b = quoted(b, &f)
		if len(b) == n {
			break
		}
	}
	f.body = unruled(b, &f)
	return f
}

// stamp removes one time stamp, [pid], or level from the front.
func stamp(b []byte, f *front) []byte {
	i := 0
	for i < len(b) && i < 2 && (b[i] == '[' || b[i] == '(' || b[i] == '<') {
		i++
	}
	if i < len(b) && (ascii.Digit(b[i]) || b[i]-'A' < 26) {
		if e := datetime.Stamp(b, i); e > i {
			for e < len(b) && (b[e] == ']' || b[e] == ')' || b[e] == '>' || b[e] == ':' || b[e] == ' ' || b[e] == '-' || b[e] == ',') {
				e++
			}
			f.log = true
			return trim(b[e:])
		}
	}
	if i == 1 && b[0] == '[' { // [26540], [gw0], [12/40], [ 50%]
		if e := bytes.IndexByte(b, ']'); e > 1 && e < 12 && counter(b[1:e]) && e+1 < len(b) {
			return trim(b[e+1:])
		}
	}
	if n := buildStep(b); n > 0 {
		return trim(b[n:])
	}
	if f.log { // smoke[1270]: or 26540 or main: after the time stamp
		if e := toolEnd(b, 0); e > 0 && ascii.At(b, e) == ':' && ascii.At(b, e-1) == ']' {
			return trim(b[e+1:])
		}
		if e := ascii.Digits(b, 0); e > 0 && ascii.At(b, e) == ' ' {
			return trim(b[e:])
		}
	}
	if lv, e := levelAt(b); e > 0 && (f.log || lv != 'e') {
		f.level = lv
		f.log = f.log || string(b[:2]) != "[i" && string(b[:2]) != "[d" // what sbt puts before all that a tool prints
		return trim(b[e:])
	}
	return b
}

// buildStep returns the length of a container build's step number with its clock, "#8 0.345 ",
// or of the clock alone, or of a project's number, "1:7>", or 0.
func buildStep(b []byte) int {
	i := ascii.Digits(b, 0)
	if i > 0 && ascii.At(b, i) == ':' {
		i = ascii.Digits(b, i+1)
	}
	if i > 0 && i < 8 && ascii.At(b, i) == '>' && ascii.At(b, i+1) != '>' {
		return i + 1
	}
	i = 0
	if ascii.At(b, 0) == '#' {
		if i = ascii.Digits(b, 1); i == 1 || ascii.At(b, i) != ' ' {
			return 0
		}
		i++
	}
	n := ascii.Digits(b, i)
	if n == i || ascii.At(b, n) != '.' {
		return 0
	}
	if e := ascii.Digits(b, n+1); e == n+4 && ascii.At(b, e) == ' ' {
		return e
	}
	return 0
}

// counter reports whether the text in brackets is a pid, worker or progress.
func counter(b []byte) bool {
	b = trim(b)
	if bytes.HasPrefix(b, []byte("gw")) {
		return ascii.Digits(b, 2) == len(b)
	}
	return len(b) > 0 && len(bytes.Trim(b, "0123456789/% .")) == 0
}

// levelAt matches a log level at the start: INFO, [WARN], DEBUG:. Lower-case letters count
// only in brackets.
func levelAt(b []byte) (level byte, end int) {
	name, end := margin.Level(b)
	switch string(name) {
	case "info", "debug":
		if b[0] != '[' {
			return 0, 0
		}
		return 'i', end
	case "INFO", "DEBUG", "TRACE", "NOTICE", "INF", "DBG", "VERBOSE":
		return 'i', end
	case "WARN", "WARNING", "WRN":
		return 'w', end
	case "ERROR", "FATAL", "CRITICAL", "SEVERE", "ERR", "PANIC", "EMERG", "ALERT":
		return 'e', end
	}
	return 0, 0
}

// quoted removes one quoting mark from the front: "E   ", "# ", "| ", "│ ", "* ".
func quoted(b []byte, f *front) []byte {
	switch ascii.At(b, 0) {
	case 'E':
		if bytes.HasPrefix(b, []byte("E   ")) {
			f.bar = true
			return trim(b[4:])
		}
	case '#', '|', '*':
		if b[0] == '|' {
			f.bars++
		}
		i := 0
		for i < len(b) && b[i] == b[0] {
			i++
		}
		if ascii.At(b, i) == ' ' && i < 3 {
			if b[0] == '*' && (bytes.HasPrefix(b, []byte("** (")) || bytes.HasPrefix(b, []byte("* What"))) {
				return b
			}
			f.bar = true
			return trim(b[i:])
		}
	case 0xe2:
		if ascii.At(b, 1) == 0x94 || ascii.At(b, 1) == 0x95 || bytes.HasPrefix(b, []byte("⎿")) || bytes.HasPrefix(b, []byte("•")) || bytes.HasPrefix(b, []byte("▌")) { // box drawing
			if c := ascii.At(b, 3); c == ' ' || c == 0 {
				f.bar = true
				return trim(b[3:])
			}
			if bytes.HasPrefix(b[3:], []byte("─▶ ")) {
				return trim(b[9:])
			}
		}
	}
	return b
}

// unruled removes rules of dashes, equal signs and the like from both ends.
func unruled(b []byte, f *front) []byte {
	if n := ruleRun(b); n > 0 {
		b, f.ruled = trim(b[n:]), true
	}
	for len(b) > 0 {
		n := len(b) - 1
		for n > 0 && b[n] >= 0x80 && b[n] < 0xc0 {
			n--
		}
		c := b[n:]
		if len(c) == 1 && !ruleByte(c[0]) || len(c) != 1 && !bytes.ContainsAny([]byte("⎯─━═"), string(c)) {
			break
		}
		k := len(b)
		for k >= len(c) && bytes.Equal(b[k-len(c):k], c) {
			k -= len(c)
		}
		if len(b)-k < 3*len(c) || k > 0 && b[k-1] != ' ' && k < len(b)-8*len(c) {
			break
		}
		if len(c) == 1 && k > 0 && b[k-1] != ' ' {
			break
		}
		b = trimRight(b[:k])
	}
	return b
}

func ruleByte(c byte) bool {
	return c == '-' || c == '=' || c == '_' || c == '*' || c == '!' || c == '~' || c == '#'
}

// ruleRun returns the length of the rule at the start of b: four or more of the same sign, or
// of ⎯ ─ ━ ═, followed by white space or nothing.
func ruleRun(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	size, least := 1, 4
	if b[0] == 0xe2 && len(b) >= 3 && (string(b[:3]) == "⎯" || string(b[:3]) == "─" || string(b[:3]) == "━" || string(b[:3]) == "═") {
		size, least = 3, 2
	} else if !ruleByte(b[0]) {
		return 0
	}
	n := 0
	for n+size <= len(b) && bytes.Equal(b[n:n+size], b[:size]) {
		n += size
	}
	if n < least*size || n < len(b) && b[n] != ' ' {
		return 0
	}
	return n
}

// codeFrame reports whether a line quotes source text: "  12 |   x()", "> 12 | y()", "   |
// ^^^".
func codeFrame(b []byte) bool {
	i := 0
	if ascii.At(b, 0) == '>' {
		i = 1
		i = runOf(b, i, isSpace)
	}
	if ascii.At(b, i) == 'L' && ascii.Digit(ascii.At(b, i+1)) { // L12 |
		i++
	}
	n := ascii.Digits(b, i)
	e := runOf(b, n, isSpace)
	if n > i && ascii.At(b, e) == '|' {
		s := runOf(b, e+1, isSpace)
		if w := max(severityEnd(b, s), warningEnd(b, s)); w > s && (ascii.At(b, w) == ' ' || ascii.At(b, w) == '|') {
			return false // a row of a table of findings
		}
		return true
	}
	if n > i && (bytes.HasPrefix(b[e:], []byte("│")) || bytes.HasPrefix(b[e:], []byte("┃"))) {
		return true
	}
	if n == i && (ascii.At(b, 0) == '|' || bytes.HasPrefix(b, []byte("│"))) {
		rest := bytes.TrimLeft(b, "| \t│")
		return len(rest) > 0 && (rest[0] == '^' || rest[0] == '~' || rest[0] == '-' && ascii.At(rest, 1) != ' ' || rest[0] == '+' && ascii.At(rest, 1) == '+') && len(rest) < 400
	}
	if len(b) > 0 && (b[0] == '^' || b[0] == '~') {
		return len(bytes.Trim(b, "^~- ")) == 0
	}
	return false
}
