package cost

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/looprun/looprun/internal/termsafe"
)

// longestLine is how much of a line is looked at, in bytes.
const longestLine = 16 << 10

// lines gives every line to found, as a terminal shows it. Where only is set, a
// line is read only if it holds that, and so is the one after it.
type lines struct {
	found func(line []byte)
	only  []byte

	line  []byte // the unfinished line, cut
	after bool   // the next line is to be read too
}

func (l *lines) reset() { l.line, l.after = l.line[:0], false }

func (l *lines) write(p []byte) {
	for len(p) > 0 {
		if l.only != nil && len(l.line) == 0 && !l.after {
			p = l.seek(p)
		}
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.keep(p)
			return
		}
		if len(l.line) == 0 {
			l.take(p[:min(i, longestLine)])
		} else {
			l.keep(p[:i])
			l.take(l.line)
			l.line = l.line[:0]
		}
		p = p[i+1:]
	}
}

// seek skips whole lines that do not hold what is looked for.
func (l *lines) seek(p []byte) []byte {
	at := bytes.Index(p, l.only)
	if at < 0 {
		at = len(p) // nothing but perhaps in the unfinished line
	}
	return p[bytes.LastIndexByte(p[:at], '\n')+1:]
}

func (l *lines) keep(p []byte) {
	l.line = append(l.line, p[:min(len(p), longestLine-len(l.line))]...)
}

func (l *lines) take(line []byte) {
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
func (l *lines) end() {
	if len(l.line) > 0 {
		l.take(l.line)
		l.line = l.line[:0]
	}
}

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
