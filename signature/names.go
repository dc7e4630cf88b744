package signature

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/internal/ascii"
	"github.com/looprun/looprun/internal/termsafe"
)

// place returns the canonical name of a file: relative to the checkout, without the
// directories of other absolute paths, and without a leading ./.
func (x *extractor) place(b []byte) string {
	b = x.s.sc.text(nil, bytes.TrimPrefix(b, []byte("file://")), false)
	for bytes.HasPrefix(b, []byte("./")) {
		b = b[2:]
	}
	return canonical(b)
}

// ownFrame reports whether a stack frame is in the user's own code.
func ownFrame(b []byte) bool {
	return !hasAny(b,
		"node_modules/", "node:", "/usr/lib/", "/usr/share/", "/usr/local/", "site-packages/", "dist-packages/", "<frozen ", "/rustc/", ".cargo/",
		"/gems/", "/ruby/", "java.base/", "org.junit", "jdk.internal", "sun.reflect", "internal/process", "(ex_unit", "(elixir", "(stdlib", "vendor/", "/go/pkg/mod/", "[native code]", "internal/modules", "/phpunit", "(mix ")
}

// hasAny reports whether b contains one of the texts.
func hasAny(b []byte, texts ...string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return bytes.Contains(b, []byte(t)) })
}

// checkName strips everything from a check's name that is not part of it: leading numbers, and
// trailing durations, results and leaders.
func checkName(b []byte) []byte {
	b = trim(b)
	for {
		n := len(b)
		b = bytes.TrimRight(b, " \t.:*|")
		b = bytes.TrimSuffix(b, []byte("│"))
		if k := len(b); k > 0 && (b[k-1] == ')' || b[k-1] == ']') {
			open := byte('(')
			if b[k-1] == ']' {
				open = '['
			}
			if i := bytes.LastIndexByte(b, open); i > 0 && b[i-1] == ' ' && timing(b[i+1:k-1]) {
				b = b[:i]
			}
		}
		if i := bytes.LastIndex(b, []byte(" # ")); i > 0 && (timing(b[i+3:]) || bytes.HasPrefix(b[i+3:], []byte("time=")) || positionEnd(b, len(b)) && bytes.IndexByte(b[i+3:], ' ') < 0) {
			b = b[:i]
		}
		if i := bytes.LastIndexByte(b, ' '); i > 0 {
			from := i + 1
			if ascii.At(b, from) == '+' {
				from++
			}
			if u, kd := unitAt(b, numberEnd(b, from)); kd == span && u == len(b) && ascii.Digit(b[from]) {
				if b = trimRight(b[:i]); from == i+1 {
					b = bytes.TrimSuffix(b, []byte(" in"))
				}
			}
		}
		b = trimRight(b)
		if len(b) == n {
			break
		}
	}
	if bytes.HasPrefix(b, []byte("- ")) {
		b = trim(b[2:])
	}
	if n := len(b) - 1; n > 1 && b[0] == '"' && b[n] == '"' && bytes.IndexByte(b[1:n], '"') < 0 {
		b = b[1:n]
	}
	if n := ascii.Digits(b, 0); n > 0 && bytes.HasPrefix(b[n:], []byte(" [")) && bytes.Contains(b[n:], []byte("] › ")) {
		b = b[n+1:] // 3 [chromium] › orders.spec.ts:12:5 › Orders
	}
	if i := bytes.IndexByte(b, '('); i > 1 && b[i-1] == ' ' && b[len(b)-1] == ')' && bytes.IndexByte(b[i:], ' ') < 0 && bytes.IndexByte(b[:i-1], ' ') < 0 && bytes.IndexByte(b[i:], '.') > 0 {
		b = b[:i-1] // test_login (tests.test_auth.AuthTest)
	}
	return b
}

// positionEnd reports whether the text that ends at e is a line, or a line and a column, of a
// source file.
func positionEnd(b []byte, e int) bool {
	for range 2 {
		i := e
		for i > 0 && ascii.Digit(b[i-1]) {
			i--
		}
		if i == e || i == 0 || b[i-1] != ':' {
			return false
		}
		e = i - 1
		if s := bytes.LastIndexAny(b[:e], " (\"'"); sourceFile(b[s+1 : e]) {
			return true
		}
	}
	return false
}

// timing reports whether a text in brackets is about time or an exit code.
func timing(b []byte) bool {
	if len(b) == 0 || len(b) > 60 {
		return false
	}
	for i := range b {
		if ascii.Digit(b[i]) && (i == 0 || !word(b[i-1]) && b[i-1] != '.') {
			if _, kd := unitAt(b, numberEnd(b, i)); kd != plain {
				return true
			}
		}
	}
	return bytes.HasPrefix(b, []byte("exit ")) || string(b) == "cached"
}

// name is text for the name of a check: it keeps shorter numbers, since they distinguish
// checks.
func (sc *scanner) name(dst, b []byte, loose bool) []byte {
	return sc.mask(dst, b, func(s, e int, kd kind) bool {
		return kd == span || kd == amount || !loose && (kd == number || kd == masked && e-s <= 5 && !positionEnd(b, e))
	})
}

// ordered sorts the contents of braces, {legs=0, points=1}, in place: maps and sets are
// printed in any order.
func ordered(b []byte) []byte {
	for open := -1; ; {
		i := bytes.IndexAny(b[open+1:], "{}")
		if i < 0 {
			return b
		}
		i += open + 1
		if b[i] == '{' {
			open = i
			continue
		}
		if open >= 0 && b[open] == '{' && bytes.Contains(b[open:i], []byte(", ")) {
			parts := strings.Split(string(b[open+1:i]), ", ")
			slices.Sort(parts)
			copy(b[open+1:], strings.Join(parts, ", "))
		}
		open = i
	}
}

// squeeze turns every run of white space into one space and control bytes into '?'.
func squeeze(b []byte) []byte {
	out := b[:0]
	space := false
	for _, c := range b {
		switch {
		case c == ' ' || c == '\t':
			space = true
			continue
		case c < 0x20 || c == 0x7f:
			c = '?'
		}
		if space && len(out) > 0 {
			out = append(out, ' ')
		}
		space = false
		out = append(out, c)
	}
	return out
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// canonical returns a masked text in the form that a fact keeps. A long text is reduced to its
// beginning and a hash of the rest, since its end may be what distinguishes it.
func canonical(b []byte) string {
	head := clip(b)
	if len(head) == len(b) {
		return head
	}
	return fmt.Sprintf("%s… [%016x]", head, xxhash.Sum64(b[len(head):]))
}

// clip cuts a text at a character boundary to the length that a fact keeps.
func clip(b []byte) string { return termsafe.CutBytes(string(b), maxText) }
