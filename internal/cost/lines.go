package cost

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/internal/termsafe"
)

// lineReader gives every line to found, as a terminal shows it. Where only is set, a
// line is read only if it holds that, and so is the one after it.
type lineReader struct {
	found func(line []byte)
	only  []byte

	lines lines.Reader
	after bool // the next line is to be read too
}

func (l *lineReader) reset() {
	l.lines.Reset()
	l.after = false
}

func (l *lineReader) write(p []byte) { l.lines.Write(p, l) }

// Lines implements [lines.Sink].
func (l *lineReader) Lines(b []byte) {
	for len(b) > 0 {
		if l.only != nil && !l.after {
			if b = l.seek(b); len(b) == 0 {
				return
			}
		}
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		l.take(line)
	}
}

// Long implements [lines.Sink].
func (l *lineReader) Long([]byte, bool) bool { return false }

// LongEnd implements [lines.Sink].
func (l *lineReader) LongEnd(head []byte) { l.take(head) }

// seek skips the lines before the one that holds what is looked for.
func (l *lineReader) seek(b []byte) []byte {
	at := bytes.Index(b, l.only)
	if at < 0 {
		return nil
	}
	return b[bytes.LastIndexByte(b[:at], '\n')+1:]
}

func (l *lineReader) take(line []byte) {
	holds := l.only == nil || bytes.Contains(line, l.only)
	if holds || l.after {
		l.found(shown(line))
	}
	l.after = holds && l.only != nil
}

// shown is the line as a terminal shows it.
func shown(line []byte) []byte {
	line = bytes.TrimRight(line, "\r")
	for _, c := range line {
		if c < ' ' || c > '~' {
			return []byte(termsafe.Text(string(line)))
		}
	}
	return line
}

// end reads the unfinished line. If it goes on after all, its rest is another line.
func (l *lineReader) end() { l.lines.End(l) }

var numeral = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{1,3}(?:[,_][0-9]{3})+|[0-9]+)?(\.[0-9]+)?([eE][-+]?[0-9]+)?([kKmMbB]?)$`)
})

// number reads what programs print for people: 1,234.5 and 2.3k.
func number(text string) (float64, error) {
	text = strings.TrimSpace(text)
	sign, digits := 1.0, text
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, digits = -1, rest
	}
	m := numeral().FindStringSubmatch(strings.TrimPrefix(digits, "$"))
	if m == nil || m[1]+m[2] == "" {
		return 0, errors.New("not a number")
	}
	n, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(m[1])+m[2]+m[3], 64)
	unit := map[string]float64{"": 1, "k": 1e3, "m": 1e6, "b": 1e9}[strings.ToLower(m[4])]
	return sign * n * unit, err
}
