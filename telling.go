package looprun

import (
	"slices"
	"strings"
	"unicode"

	"github.com/looprun/looprun/internal/termsafe"
)

// oneLine is a line of what a command printed, safe to show and not too long.
func oneLine(text string) string { return termsafe.Cut(termsafe.Line(text), lineLength) }

// Telling is the one line of the judge's output that tells most about what fails:
// the first that the signature took for an error, else the line of the end of the
// output that most looks like one, the last of those that do so alike. A line
// that says that something passed comes after all others; empty: it printed nothing.
func (d *IterationFinished) Telling() string {
	for _, e := range d.Signature.Errors {
		if text := oneLine(e); text != "" && !passes(words(text)) {
			return text
		}
	}
	best, most := "", -1
	for l := range strings.SplitSeq(termsafe.Text(d.Excerpt), "\n") {
		if text := oneLine(l); text != "" {
			if n := telling(text, d.Signature.Checks); n >= most {
				best, most = text, n
			}
		}
	}
	return best
}

// telling is how much the line tells about what fails.
func telling(text string, checks []string) int {
	all := words(text)
	if passes(all) {
		return 0
	}
	n := 1
	if fails(all) {
		n += 2
	}
	if len(all) > 1 { // more than a bare FAIL
		n++
	}
	for _, check := range checks {
		if mentions(all, words(check)) {
			return n + 2
		}
	}
	return n
}

// words are the words of a line in lower case, without the counts of nothing: of
// “0 failed” nothing is left.
func words(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && !strings.ContainsRune("✓✔✗✘×", r)
	})
	var kept []string
	for i := 0; i < len(all); i++ {
		if (all[i] == "0" || all[i] == "no") && i+1 < len(all) && isFailure(all[i+1]) {
			i++
			continue
		}
		kept = append(kept, all[i])
	}
	return kept
}

// mentions reports whether the words of the name stand in the line, in a row.
func mentions(all, name []string) bool {
	if len(name) == 0 {
		return false
	}
	for i := range len(all) - len(name) + 1 {
		if slices.Equal(all[i:i+len(name)], name) {
			return true
		}
	}
	return false
}

// passes reports whether the line says that something passed, and nothing failed.
func passes(all []string) bool {
	return slices.ContainsFunc(all, isSuccess) && !fails(all)
}

func fails(all []string) bool {
	return slices.ContainsFunc(all, isFailure) || mentions(all, []string{"not", "ok"}) || mentions(all, []string{"not", "found"})
}

func isSuccess(word string) bool {
	switch word {
	case "pass", "passed", "passes", "passing", "ok", "success", "successful", "successfully", "succeeded", "✓", "✔":
		return true
	}
	return false
}

// isFailure knows AssertionError and NullPointerException by their ends.
func isFailure(word string) bool {
	switch word {
	case "fail", "fails", "failed", "failing", "failure", "failures", "errors", "exceptions", "fatal", "panic", "panicked",
		"aborted", "killed", "denied", "refused", "undefined", "unresolved", "cannot", "✗", "✘", "×":
		return true
	}
	return strings.HasSuffix(word, "error") || strings.HasSuffix(word, "exception")
}
