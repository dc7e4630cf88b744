package margin

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/looprun/looprun/internal/ascii"
	"github.com/looprun/looprun/internal/datetime"
)

// shape is the form of a column. The shapes are tried in order.
type shape byte

const (
	moment   shape = iota // a date or time of day
	reading               // a clock that runs: 0.380, [   12.345678], +1.5s
	level                 // [INFO], the same on every line
	tabbed                // NAME, then a tab
	bracket               // [NAME]
	barred                // NAME |
	colon                 // NAME:
	sign                  // a bar or another sign alone
	bareWord              // a word that nothing sets off
	shared                // what all lines begin with
)

// piece is a column on one line: b[:end], with the name in it.
type piece struct {
	name []byte
	end  int
}

// at matches a piece of the shape at the start of b.
func (s shape) at(b []byte) (p piece, ok bool) {
	in := indent(b)
	t := b[in:]
	switch s {
	case moment:
		p.end = enclosed(t, datetime.Stamp)
	case reading:
		p.end = enclosed(t, readingEnd)
	case level:
		p.name, p.end = Level(t)
	case tabbed:
		if n := bytes.IndexByte(t[:min(len(t), maxName)], '\t'); n > 0 && title(t[:n]) {
			return piece{bytes.TrimRight(t[:n], " "), in + n + 1}, true
		}
	case bracket:
		p.name, p.end = bracketed(t)
	case barred:
		p.name, p.end = beforeBar(t)
	case colon:
		p.name, p.end = beforeColon(t)
	case sign:
		p.end = signs(t)
	case bareWord:
		p = word(b)
		return p, p.end > 0 && bareName(p.name)
	}
	if p.end == 0 {
		return piece{}, false
	}
	if p.end < len(t) && t[p.end] == ' ' {
		p.end++
	}
	p.end += in
	return p, true
}

// word returns the word at the beginning of b, after any indent, whatever it is; end is 0 if
// there is none.
func word(b []byte) (p piece) {
	in := indent(b)
	e := in
	for e < len(b) && b[e] > ' ' {
		e++
	}
	if e == in || e-in > maxName {
		return piece{}
	}
	p = piece{b[in:e], e}
	if e < len(b) && b[e] == ' ' {
		p.end++
	}
	return p
}

// most holds the minimum percentage of lines that must have a shape to make it a column.
var most = [...]int{moment: 80, reading: 80, level: 100, tabbed: 80, bracket: 60, barred: 0, colon: 25, sign: 80, bareWord: 50}

// learn counts how many of the lines have the shape after the columns before; it returns 0 if
// too few do.
func (s shape) learn(lines [][]byte, before chain) (column, int) {
	col := column{shape: s}
	if s == level && !behindTime(before) || s == bareWord && !alikeAtFirst(lines) {
		return col, 0
	}
	var t tally
	without := 0
	for _, b := range lines {
		if p, ok := s.at(b); ok {
			t.take(p, b)
		} else if without++; 100*without > (100-most[s])*len(lines) {
			return col, 0
		}
	}
	if t.lines == 0 || !s.common(&t, lines, before) {
		return col, 0
	}
	if s == colon || s == bareWord {
		if t.names(&col); len(col.names) == 0 {
			return col, 0
		}
	}
	col.runs = (3*len(t.exact) > t.lines || s == bareWord && !behindTime(before)) && len(t.counts) < len(t.exact)
	return col, t.lines
}

// alikeAtFirst reports whether half of the lines, or nearly all, may begin with few words: a
// quick look, since lines without a margin mostly begin with many.
func alikeAtFirst(lines [][]byte) bool {
	var first [256]uint16
	most, kinds := uint16(0), 0
	for _, b := range lines {
		c := ascii.At(b, indent(b))
		if ascii.Digit(c) {
			c = '0'
		}
		if first[c]++; first[c] == 1 {
			kinds++
		}
		most = max(most, first[c])
	}
	return 2*int(most) >= len(lines) || kinds <= max(2, len(lines)/20)+len(lines)/20
}

// common reports whether the counts make a column.
func (s shape) common(t *tally, lines [][]byte, before chain) bool {
	switch s {
	case moment:
		return true
	case reading:
		return t.lines >= 3 && rising(lines)
	case level:
		return len(t.exact) == 1
	case tabbed:
		return t.lines >= 3 && t.repeats(3)
	case colon:
		if t.lines >= 3 && 100*t.lines >= 60*len(lines) && t.repeats(3) {
			return true
		}
		t.only = t.several(len(lines), 4, composed)
		return len(t.only) > 0
	case bracket:
		return t.repeats(2)
	case barred:
		return 3*len(t.counts) <= 2*t.lines || len(lines) <= 2
	case sign:
		return t.lines >= 3
	case bareWord:
		if t.only = t.several(len(lines), 2, ofMachine); len(t.only) > 0 {
			return true
		}
		return t.lines >= 2 && 100*t.lines >= 95*len(lines) && len(t.counts) <= max(2, t.lines/20) && (t.lines >= 4 && 12*t.indented >= t.lines || behindTime(before) || setOff(lines))
	}
	return false
}

// setOff reports whether the lines begin with words that are followed by a time or by
// something that only a margin has, such as indented messages.
func setOff(lines [][]byte) bool {
	rest := make([][]byte, 0, len(lines))
	for _, b := range lines {
		if p, ok := bareWord.at(b); ok {
			rest = append(rest, b[p.end:])
		}
	}
	if _, n := moment.learn(rest, nil); n > 0 {
		return true
	}
	if len(rest) > 0 && len(lines[0])-len(rest[0]) > 200 {
		return false
	}
	_, n := bareWord.learn(rest, nil)
	return n > 0
}

// behindTime reports whether a margin already has a time, or a word that was taken for part of
// one.
func behindTime(c chain) bool {
	return slices.ContainsFunc(c, func(col column) bool { return col.shape == moment || col.shape == bareWord })
}

// tally counts the pieces of one shape.
type tally struct {
	lines    int
	byKey    map[string]int  // place in counts
	counts   []int           // lines with a key
	exact    map[string]bool // the names as they stand
	indented int             // lines whose message is empty or indented
	only     []string        // the keys of the names that count; nil: all that are seen more than once
	key      []byte
}

func (t *tally) take(p piece, b []byte) {
	t.lines++
	if p.end >= len(b) || b[p.end] == ' ' || b[p.end] == '\t' {
		t.indented++
	}
	if t.byKey == nil {
		t.byKey, t.exact = map[string]int{}, map[string]bool{}
	}
	t.key = appendKey(t.key[:0], p.name)
	i, ok := t.byKey[string(t.key)]
	if !ok {
		i = len(t.counts)
		t.byKey[string(t.key)], t.counts = i, append(t.counts, 0)
	}
	t.counts[i]++
	if !t.exact[string(p.name)] {
		t.exact[string(p.name)] = true
	}
}

// several returns the keys of the names of a kind that occur in at least two lines and in at
// least one of every oneIn lines.
func (t *tally) several(all, oneIn int, kind func(name string) bool) (keys []string) {
	for name := range t.exact {
		if !kind(name) {
			continue
		}
		t.key = appendKey(t.key[:0], []byte(name))
		if n := t.counts[t.byKey[string(t.key)]]; n >= 2 && oneIn*n >= all && !slices.Contains(keys, string(t.key)) {
			keys = append(keys, string(t.key))
		}
	}
	return keys
}

// ofMachine reports whether a name looks like that of a machine: api-7f9-2.
func ofMachine(name string) bool {
	return strings.ContainsAny(name, "-.") && strings.ContainsAny(name, "0123456789") && letters([]byte(name)) > 1 &&
		!strings.ContainsAny(name, ":/") && !located([]byte(name))
}

// composed reports whether a name has parts, unlike any word of a message: packages/util test,
// @shop/util, api:test.
func composed(name string) bool {
	return strings.ContainsAny(name, `/@:[#"-_`) && name[0] != '/' && name[0] != '.'
}

// repeats reports whether there are at least n times as many lines as names, or only one name.
func (t *tally) repeats(n int) bool {
	return n*len(t.counts) <= t.lines || len(t.counts) == 1
}

// names records the names that occur more than once, and the forms of those that no other word
// of a message has.
func (t *tally) names(col *column) {
	keys := make([]string, 0, len(t.byKey))
	for k, i := range t.byKey {
		if n := t.counts[i]; n >= 2 && (20*n >= t.lines || n >= 5) {
			keys = append(keys, k)
		}
	}
	if t.only != nil {
		keys = t.only
	}
	slices.Sort(keys) // which stay when there are too many must not be chance
	for _, k := range keys {
		if stream(k) { // of the other there may be few lines
			col.add("stdout")
			col.add("stderr")
		}
		col.add(k)
	}
}

// appendKey appends a name without its numbers, which may change from line to line.
func appendKey(out, name []byte) []byte {
	was := false
	for _, c := range name {
		if ascii.Digit(c) {
			if was {
				continue
			}
			c = '0'
		}
		was = c == '0'
		out = append(out, c)
	}
	return out
}

// Level returns the log level at the beginning of t, and where it ends including its
// delimiters: INFO, [WARN], debug:. The end is 0 if there is none.
func Level(t []byte) (name []byte, end int) {
	i := 0
	if len(t) > 0 && t[0] == '[' {
		i = 1
	}
	e := i
	for e < len(t) && ascii.Letter(t[e]) {
		e++
	}
	var small [24]byte
	switch string(ascii.Lowered(&small, t[i:e])) {
	case "error", "err", "fatal", "critical", "severe", "panic", "emerg", "alert", "warning", "warn", "wrn", "info", "inf", "notice", "debug", "debg", "dbg", "trace", "verbose":
	default:
		return nil, 0
	}
	name = t[i:e]
	for e < len(t) && (t[e] == ']' || t[e] == ':') {
		e++
	}
	if e < len(t) && t[e] != ' ' && t[e] != '\t' {
		return nil, 0
	}
	return name, e
}

func bracketed(t []byte) ([]byte, int) {
	if len(t) < 3 || t[0] != '[' {
		return nil, 0
	}
	n := bytes.IndexByte(t[:min(len(t), maxName)], ']')
	if n < 2 || n+1 < len(t) && t[n+1] != ' ' && t[n+1] != ':' {
		return nil, 0
	}
	name := bytes.TrimSpace(t[1:n])
	if !plausible(name) || !hasLetter(name) {
		return nil, 0
	}
	if n++; n < len(t) && t[n] == ':' {
		n++
	}
	return name, n
}

func beforeBar(t []byte) ([]byte, int) {
	if w := t[:min(len(t), maxName)]; bytes.IndexByte(w, '|') < 0 && bytes.IndexByte(w, "│"[0]) < 0 {
		return nil, 0
	}
	for i := 1; i < len(t) && i < maxName; i++ {
		n := 1
		switch t[i] {
		default:
			continue
		case '|':
			if i+1 < len(t) && t[i+1] != ' ' {
				continue
			}
		case "│"[0]:
			if n = 3; !bytes.HasPrefix(t[i:], []byte("│")) && !bytes.HasPrefix(t[i:], []byte("┃")) {
				continue
			}
		}
		name := bytes.TrimRight(t[:i], " ")
		if len(name) == i || i+n < len(t) && t[i+n] != ' ' || !plausible(name) || !hasLetter(name) || bytes.Count(name, []byte(" ")) > 1 || bytes.HasSuffix(name, []byte(" -")) || bytes.Contains(name, []byte(": ")) || bytes.Count(name, []byte("[")) != bytes.Count(name, []byte("]")) {
			return nil, 0
		}
		return name, i + n
	}
	return nil, 0
}

func beforeColon(t []byte) ([]byte, int) {
	i := bytes.Index(t[:min(len(t), maxName+1)], []byte(": "))
	if n := len(t) - 1; i < 0 && n > 0 && n < maxName && t[n] == ':' {
		i = n
	}
	if i < 0 {
		return nil, 0
	}
	name := bytes.TrimRight(t[:i], " ")
	padded := len(name) < i // as no place is
	if padded && bytes.IndexByte(name, ' ') >= 0 || !plausible(name) || !hasLetter(name) || bytes.Count(name, []byte(" ")) > 3 || !padded && located(name) {
		return nil, 0
	}
	w := name[bytes.LastIndexByte(name, ' ')+1:]
	if n := bytes.IndexByte(w, '['); n > 0 && w[len(w)-1] == ']' {
		name = w[:n] // host unit[pid]
	}
	for { // 4711 4712 I Tag
		n := bytes.IndexByte(name, ' ')
		if n < 0 || !numeric(name[:n]) {
			break
		}
		name = name[n+1:]
	}
	return name, i + 1
}

// located reports whether a name is a source file or a place in one, so that a finding follows
// it.
func located(name []byte) bool {
	w := name[bytes.LastIndexByte(name, ' ')+1:]
	if i := bytes.LastIndexByte(w, ':'); i >= 0 && i+1 < len(w) && ascii.Digit(w[i+1]) {
		return true
	}
	if w[len(w)-1] == ')' {
		return bytes.IndexByte(w, ',') > 0
	}
	i := bytes.LastIndexByte(w, '.')
	if i < 0 || len(w)-i > 6 {
		return false
	}
	for _, c := range w[i+1:] {
		if !ascii.Letter(c) {
			return false
		}
	}
	return true
}

// signs returns the length of a bar or another quoting sign that is alone.
func signs(t []byte) int {
	i := 0
	for i < len(t) && i < 3 && bytes.IndexByte([]byte("|>#*%"), t[i]) >= 0 && t[i] == t[0] {
		i++
	}
	if i == 0 && (bytes.HasPrefix(t, []byte("│")) || bytes.HasPrefix(t, []byte("┃")) || bytes.HasPrefix(t, []byte("»"))) {
		i = bytes.IndexByte(append(t[:min(3, len(t)):min(3, len(t))], ' '), ' ')
	}
	if i < len(t) && t[i] != ' ' {
		return 0
	}
	return i
}

// plausible reports whether a text may be a name: its words are of the kind that names consist
// of, and none describes an outcome or a severity.
func plausible(name []byte) bool {
	if len(name) == 0 || len(name) > maxName || !nameStart(name[0]) {
		return false
	}
	for _, c := range name {
		if !nameByte(c) && c != ' ' {
			return false
		}
	}
	for w := range bytes.SplitSeq(name, []byte(" ")) {
		if len(w) == 0 || telling(w) {
			return false
		}
	}
	return true
}

// stream reports whether a name is that of a stream rather than of its writer.
func stream(name string) bool { return name == "stdout" || name == "stderr" }

// title is plausible for text delimited by a tab: of a step called "Look for errors" it
// examines only the first word.
func title(name []byte) bool {
	first, _, _ := bytes.Cut(name, []byte(" "))
	return plausible(first) && hasLetter(name)
}

func bareName(w []byte) bool {
	for _, c := range w {
		if !nameByte(c) && bytes.IndexByte([]byte("<>'\""), c) < 0 {
			return false
		}
	}
	bare := bytes.TrimRight(w, ":")
	return len(bytes.Trim(w, "[]()")) > 0 && (len(bare) == 0 || !located(bare)) && !telling(w)
}

func nameStart(c byte) bool {
	return ascii.Letter(c) || ascii.Digit(c) || c == '@' || c == '.' || c == '/' || c == '_' || c == '+' || c == '[' || c >= 0x80
}

func nameByte(c byte) bool {
	switch c {
	case '_', '@', '.', '/', ':', '+', '#', '~', '-', '(', ')', '[', ']', '=', '|', '"':
		return true
	}
	return ascii.Letter(c) || ascii.Digit(c) || c >= 0x80
}

// telling reports whether a word is part of a message rather than of a name.
func telling(w []byte) bool {
	for len(w) > 0 && framing(w[0]) {
		w = w[1:]
	}
	bare := w
	for len(bare) > 0 && framing(bare[len(bare)-1]) {
		bare = bare[:len(bare)-1]
	}
	var small [24]byte
	switch string(ascii.Lowered(&small, bare)) {
	case "error", "errors", "err", "fatal", "critical", "crit", "severe", "panic", "emerg", "alert", "warning", "warn", "wrn", "info", "inf", "note", "notice", "debug", "dbg", "trace", "verbose", "hint", "help", "remark",
		"fail", "failed", "fails", "failing", "failure", "failures", "broken", "bad", "ko", "not", "timeout", "crashed", "aborted", "killed",
		"pass", "passed", "passing", "ok", "good", "done", "success", "succeeded", "skip", "skipped", "todo", "pending", "ready",
		"expected", "actual", "received", "got", "want", "wanted", "left", "right", "value", "reason", "cause", "caused", "by", "found", "message", "in", "at", "line", "file", "assert", "assertion", "exception", "traceback", "style", "convention", "refactor", "performance":
		return true
	}
	if len(w) == 0 || bytes.IndexByte([]byte("rneg"), w[len(w)-1]) < 0 {
		return false
	}
	for _, kind := range [...]string{"Error", "Exception", "Failure", "Warning"} {
		if len(w) > len(kind) && bytes.HasSuffix(w, []byte(kind)) {
			return true
		}
	}
	return false
}

// framing reports whether c may surround a word.
func framing(c byte) bool { return c == '[' || c == ']' || c == '(' || c == ')' || c == ':' }

func hasLetter(b []byte) bool { return bytes.ContainsFunc(b, unicode.IsLetter) }

func letters(b []byte) (n int) {
	for _, c := range b {
		if ascii.Letter(c) {
			n++
		}
	}
	return n
}

func numeric(b []byte) bool {
	return len(b) > 0 && !slices.ContainsFunc(b, func(c byte) bool { return !ascii.Digit(c) })
}

func indent(b []byte) int {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}
