package signature

import (
	"bytes"
	"strings"

	"github.com/looprun/looprun/internal/ascii"
)

// maxLeftover is how many unexplained lines may count along with thin facts. An output with
// more of them is a log, whose errors describe what went wrong.
const maxLeftover = 16

// leftover holds the lines that no rule explains, without the numbers in them. If the only
// sign of the failure is an error such as "Compilation aborted" or "SIGSEGV", the list of
// problems may be among them, in a form that no rule knows.
type leftover map[string]bool

// leave records a line that no rule explains, if it complains, names a place, or follows an
// error in its box. Log lines, progress, and lines with a time or a size reveal nothing about
// the failure.
func (x *extractor) leave(f front) {
	if f.log || len(x.s.left) > maxLeftover || (x.detail == 0 || !f.bar) && !hasPlace(f.body) && !complains(f.body) {
		return
	}
	_, text := x.texts(f.body)
	if hasAny([]byte(text), "<time>", "<dur>", "<size>", "<tmp>", "%", "...", "…") {
		return
	}
	if x.s.left == nil {
		x.s.left = leftover{}
	}
	if x.suite != "" {
		text += " [" + x.suite + "]"
	}
	x.s.left[text] = true
}

// complaints are words, or parts of words, that mean something is wrong, by their first letter.
var complaints = [...][]string{
	'a': {"abort", "assert"}, 'b': {"bad "}, 'c': {"cannot", "can't", "could not"}, 'd': {"denied", "differ"},
	'e': {"error", "exception", "expect"}, 'f': {"fail", "fatal"}, 'i': {"invalid", "illegal", "incompatible"},
	'm': {"missing", "mismatch", "must"}, 'n': {"not found", "no such", "not ok"}, 'o': {"overflow"}, 'r': {"refused"},
	's': {"status=", "should"}, 'v': {"violat"}, 'w': {"wrong"},
	'u': {"undefined", "unable", "unknown", "undeclared", "unresolved", "unused", "unbound"},
}

// complains reports whether a line contains such a word, in either case.
func complains(b []byte) bool {
	for i, c := range b {
		if c = lower(c); int(c) >= len(complaints) {
			continue
		}
		for _, word := range complaints[c] {
			if end := i + len(word); end <= len(b) && lower(b[i+1]) == word[1] && strings.EqualFold(string(b[i:end]), word) {
				return true
			}
		}
	}
	return false
}

// blames reports whether a line states that warnings fail the run: "build finished with
// problems, 3 warnings", "too many warnings (maximum: 0)", "warnings treated as errors".
func blames(b []byte) bool {
	if !bytes.Contains(b, []byte("arning")) && !bytes.Contains(b, []byte("ARNING")) {
		return false
	}
	return hasAny(bytes.ToLower(b), "with problems", "too many warnings", "warnings as errors", "treated as an error", "warnings found", "failed due to warning", "because of warning",
		"failing because", "-werror", "max-warnings")
}

// hasPlace reports whether a line names a place in a file: a.c:7, b.pas(3.
func hasPlace(b []byte) bool {
	for i := 1; i+1 < len(b); i++ {
		if (b[i] == ':' || b[i] == '(') && ascii.Digit(b[i+1]) && letter(b[i-1]) {
			s := i - 1
			for s > 0 && letter(b[s-1]) {
				s--
			}
			if i-s <= 5 && s > 1 && b[s-1] == '.' {
				return true
			}
		}
	}
	return false
}

// beside returns the lines that count along with the facts: none if the facts include a check
// or a finding, or if there are many lines. A single check with only a mark may be a heading:
// "× api".
func (l leftover) beside(chosen []*fact) (out []string) {
	thin := false
	for _, f := range chosen {
		if f.listed() && (len(chosen) > 1 || f.rule != "check-symbol") {
			return nil
		}
		thin = thin || f.telling()
	}
	if !thin || len(l) > maxLeftover {
		return nil
	}
	for text := range l {
		out = append(out, "line "+text)
	}
	return out
}
