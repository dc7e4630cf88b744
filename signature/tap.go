package signature

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
)

// tap tracks the names of tests in the Test Anything Protocol. A failing assertion has a text
// of its own, "should be equal"; the test is named in a comment above it.
type tap struct {
	version bool // the line before was TAP version 13
	flat    bool // "# name" alone stands above a test's assertions
	nested  bool // there are subtests, or there may be
	heads   []tapHead
}

type tapHead struct {
	indent int
	name   string
	failed bool // a test within it failed
}

// maxHeads is how deeply nested tests are tracked.
const maxHeads = 16

// line parses a line of text; full includes its leading white space. It returns the number of
// tests that a plan announces, or 0 for any other line and if tests have parts.
func (t *tap) line(full, b []byte) (plan int) {
	if n, ok := bytes.CutPrefix(b, []byte("1..")); ok && len(n) > 0 && len(n) < 8 && ascii.Digits(n, 0) == len(n) && len(full) == len(b) && !t.nested {
		return number7(n)
	}
	text, ok := bytes.CutPrefix(b, []byte("# "))
	version := t.version
	t.version = bytes.HasPrefix(b, []byte("TAP version "))
	t.nested = t.nested || t.version && bytes.HasSuffix(b, []byte(" 14"))
	if !ok {
		return 0
	}
	name, subtest := bytes.CutPrefix(text, []byte("Subtest: "))
	if subtest && t.flat { // what stood first was no test
		t.flat, t.heads = false, nil
	}
	if !subtest {
		t.flat = t.flat || version && len(t.heads) == 0
		word, rest, _ := bytes.Cut(text, []byte(" "))
		if rest = trim(rest); !t.flat || text[0] == ' ' || len(rest) > 0 && ascii.Digits(rest, 0) == len(rest) && countWord(word) != countOther || split(text, false).log {
			return 0
		}
	}
	indent := len(full) - len(b)
	for n := len(t.heads); n > 0 && (t.heads[n-1].indent >= indent || n == maxHeads); n-- {
		t.heads = t.heads[:n-1]
	}
	t.nested = t.nested || subtest
	t.heads = append(t.heads, tapHead{indent: indent, name: string(checkName(name))})
	return 0
}

// failing returns the test that a failing line belongs to, and whether the line is that of a
// group with a failed test. If the returned name differs from name, the line is an
// assertion's.
func (t *tap) failing(indent int, name string) (test string, group bool) {
	for n := len(t.heads); n > 0; n-- {
		h := &t.heads[n-1]
		switch {
		case h.indent == indent && h.name == name:
			for i := range t.heads[:n-1] {
				t.heads[i].failed = true
			}
			t.heads = t.heads[:n]
			return name, h.failed
		case h.indent < indent || t.flat && h.indent == indent:
			return h.name, false
		}
	}
	return name, false
}
