package signature

import (
	"bytes"

	"github.com/looprun/looprun/internal/ascii"
)

// counts holds the numbers of checks that an output states.
type counts struct {
	most byClass // the largest number of any summary
	sum  byClass // of tools that print one line of counts for each part of what they ran
}

// byClass holds numbers of checks by class; each is the number plus one, so that zero means
// unknown.
type byClass [countNeutral]int

type countClass byte

const (
	countOther countClass = iota
	countFailed
	countErrored
	countPassed
	countTotal
	countSkipped
	countNeutral // warnings, files: known, of no interest
)

// countWord returns the class of checks that a word counts.
func countWord(w []byte) countClass {
	var low [24]byte
	switch string(ascii.Lowered(&low, w)) {
	case "failed", "failures", "failure", "failing", "fail", "fails":
		return countFailed
	case "errors", "error", "errored", "broken", "problems", "problem", "issues", "issue", "findings", "violations", "offenses":
		return countErrored
	case "passed", "passing", "pass", "passes", "succeeded", "ok", "successes", "success", "successful":
		return countPassed
	case "tests", "test", "total", "checks", "examples", "example", "specs", "runs", "run", "cases", "scenarios", "steps":
		return countTotal
	case "skipped", "skip", "skips", "pending", "pendings", "todo", "ignored", "xfailed", "xpassed", "disabled", "omissions", "incomplete":
		return countSkipped
	case "assertions", "warnings", "warning", "files", "deselected", "cancelled", "notifications", "suites", "hooks":
		return countNeutral
	}
	return countOther
}

// read reads the counts from a line that has some.
func (c *counts) read(b []byte) {
	if skipCounts(b) {
		return
	}
	line := countsIn(b)
	prove := bytes.Contains(b, []byte(" (Wstat: "))
	if !prove && !bytes.HasPrefix(b, []byte("test result: ")) { // cargo's
		c.merge(line)
		return
	}
	if prove {
		line[countTotal] = 0 // of the files that failed; that of all follows
	}
	for cl, n := range line {
		if n > 0 {
			c.sum[cl] = max(1, c.sum[cl]) + n - 1
		}
	}
}

// countsIn parses the counts of a line: "3 failed, 5 passed", "Failures: 3", "failed=3", "3 of
// 8 checks failed", "# fail 3".
func countsIn(b []byte) (line byClass) {
	before := wordsBefore(b)
	for i := 0; i < len(b); {
		if !ascii.Digit(b[i]) || i > 0 && (word(b[i-1]) || b[i-1] == '.') {
			i++
			continue
		}
		n := ascii.Digits(b, i)
		if n-i > 7 || word(ascii.At(b, n)) || ascii.At(b, n) == '.' && ascii.Digit(ascii.At(b, n+1)) || ascii.At(b, n) == '%' {
			i = n
			continue
		}
		if m := ascii.Digits(b, n+1); ascii.At(b, n) == '/' && m > n+1 && m-n < 8 { // 3/4 test failures
			if cl := classNear(b, n+1, m); cl < countSkipped && cl != countOther {
				line[cl], line[countTotal] = number7(b[i:n])+1, number7(b[n+1:m])+1
				i = m
				continue
			}
		}
		cl := classNear(b, i, n)
		if before {
			cl = classBefore(b, len(bytes.TrimRight(b[:i], " \t")))
		}
		if cl == countTotal && line[cl] > 0 && bytes.HasPrefix(b[n:], []byte(" checks")) {
			cl = countNeutral // beside tests: the assertions of CppUTest
		}
		switch v := number7(b[i:n]) + 1; {
		case cl == countSkipped: // skipped, todo: they add up
			line[cl] = max(1, line[cl]) + v - 1
		case cl < countNeutral:
			line[cl] = max(line[cl], v)
		}
		i = n
	}
	if w := classBefore(b, len(b)); line[countFailed] == 0 && w == countFailed { // 3 of 8 checks failed
		if n := ascii.Digits(b, 0); n > 0 && n < 8 && ascii.At(b, n) == ' ' {
			line[countFailed] = number7(b[:n]) + 1
		}
	}
	return line
}

// ran returns how many checks a line states as run, or -1 if it states none.
func (line *byClass) ran() int {
	if line[countTotal] > 0 {
		return line[countTotal] - 1
	}
	n := -1
	for _, cl := range [...]countClass{countFailed, countErrored, countPassed} {
		if line[cl] > 0 {
			n = max(0, n) + line[cl] - 1
		}
	}
	return n
}

func (c *counts) merge(more byClass) {
	for cl, n := range more {
		c.most[cl] = max(c.most[cl], n)
	}
}

// of returns the number of checks in a class, or -1 if unknown.
func (c *counts) of(cl countClass) int { return max(c.most[cl], c.sum[cl]) - 1 }

// add adds another source's counts.
func (c *counts) add(more counts) {
	for cl := range c.most {
		if n := more.of(countClass(cl)); n >= 0 {
			c.most[cl] = max(1, c.most[cl]) + n
		}
	}
}

// wordsBefore reports whether each number of a line follows its word: Total 8 Passed 5.
func wordsBefore(b []byte) bool {
	return ascii.Digit(ascii.At(b, len(b)-1)) && !bytes.ContainsAny(b, ",;=/(") && bytes.Contains(b, []byte("Total")) && bytes.Contains(b, []byte("Failed"))
}

// counts combines the counts of all sources. Counts outside the sources either sum them up or
// are used in their place.
func (s *Signer) counts() (all counts) {
	var outside counts
	for _, c := range []*channel{&s.out, &s.err} {
		for _, t := range c.texts {
			if t == nil {
				continue
			}
			for cl := range outside.most {
				outside.most[cl] = max(outside.most[cl], t.src.main.counts.of(countClass(cl))+1)
			}
			for _, x := range t.src.slots {
				if x != nil {
					all.add(x.counts)
				}
			}
		}
	}
	if all == (counts{}) {
		all = outside
	}
	all.add(s.reported)
	return all
}

// skipCounts reports whether a line counts something other than checks.
func skipCounts(b []byte) bool {
	for _, s := range [...]string{"Test Suites:", "Test Files", "assertions:", "Snapshots:", "suites "} {
		if len(b) >= len(s) && string(b[:len(s)]) == s {
			return true
		}
	}
	return bytes.Contains(b, []byte(" steps ("))
}

// classNear returns the class that the number b[i:n] counts, according to the word after it,
// or the one before it if that word ends in ':' or '=' or is alone.
func classNear(b []byte, i, n int) countClass {
	w := runOf(b, n, isSpace)
	end := runOf(b, w, isAlpha)
	cl := countWord(b[w:end])
	if c := ascii.At(b, end); (c == ':' || c == '=') && ascii.Digit(ascii.At(b, runOf(b, end+1, isSpace))) {
		cl = countOther // it is of the next number
	}
	at := len(bytes.TrimRight(b[:i], " "))
	if at > 0 && (b[at-1] == ':' || at == i && b[at-1] == '=') {
		if w := classBefore(b, len(bytes.TrimRight(b[:i], " :="))); w != countOther && (w != countTotal || cl == countOther) {
			return w
		}
	}
	if i > 7 && string(b[i-7:i]) == "out of " { // 3 tests failed out of 8
		return countTotal
	}
	if bytes.HasPrefix(b, []byte("[  FAILED  ] ")) { // 3 tests, listed below:
		return countFailed
	}
	ofAll := i > 3 && string(b[i-3:i]) == "of "                // 3 of 8 checks failed: 8 are all
	if cl == countTotal && !ofAll && ascii.At(b, end) == ' ' { // 3 tests failed
		if next := countWord(b[end+1 : runOf(b, end+1, isAlpha)]); next == countFailed || next == countPassed || next == countErrored {
			return next
		}
	}
	if cl != countOther || at == i {
		return cl
	}
	return classBefore(b, at)
}

func classBefore(b []byte, e int) countClass {
	for e > 0 && (b[e-1] == '.' || b[e-1] == '!') {
		e--
	}
	s := e
	for s > 0 && letter(b[s-1]) {
		s--
	}
	return countWord(b[s:e])
}

func number7(b []byte) int {
	n := 0
	for _, c := range b {
		n = n*10 + int(c-'0')
	}
	return n
}

// failing returns the number of failed checks according to the counts, or -1 if they do not
// state it.
func (c *counts) failing() int {
	failed, errored := c.of(countFailed), c.of(countErrored)
	if failed < 0 && errored < 0 {
		return -1
	}
	return max(0, failed) + max(0, errored)
}

func (c *counts) passed() int { return c.of(countPassed) }

// total returns the number of checks, or -1 if it is unknown or smaller than the number of
// failures.
func (c *counts) total() int {
	failing, total := c.failing(), c.of(countTotal)
	switch {
	case total >= failing:
		return total
	case total < 0 && c.passed() >= 0:
		return c.passed() + failing
	}
	return -1
}
