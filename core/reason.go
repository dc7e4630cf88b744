package core

import (
	"cmp"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/lazy"
	"github.com/looprun/looprun/internal/termsafe"
)

// reasonWithin is how many lines after the name of a check are looked at.
const reasonWithin = 30

// Explain finds in the output of the judge why each check fails. Where more checks are named
// than fail, it drops the names that are only groups of others.
func (d *IterationFinished) Explain(output string) {
	checks := d.Signature.Checks
	if d.OpenTasks { // in the order of the list
		slices.SortStableFunc(checks, func(a, b string) int {
			return cmp.Compare(strings.Index(output, a), strings.Index(output, b))
		})
		return
	}
	d.Reasons = reasonsOf(output, checks)
	over := len(checks) - d.Signature.Failing
	if over <= 0 || d.Signature.Failing <= 0 {
		return
	}
	own := slices.DeleteFunc(slices.Clone(checks), func(c string) bool {
		return slices.ContainsFunc(checks, func(other string) bool { return strings.HasPrefix(other, c+" ") })
	})
	if len(own) > d.Signature.Failing {
		own = slices.DeleteFunc(own, func(c string) bool {
			return !slices.ContainsFunc(d.Reasons, func(r FailingCheck) bool { return r.Check == c && r.Why != "" })
		})
	}
	if len(own) == d.Signature.Failing {
		d.Signature.Checks = own
		d.Reasons = slices.DeleteFunc(d.Reasons, func(r FailingCheck) bool { return !slices.Contains(own, r.Check) })
	}
}

// reasonsOf finds why each of the checks fails: on the line that names it, or in the block
// below that line. A check of which the output does not say it has none.
func reasonsOf(output string, checks []string) []FailingCheck {
	if len(checks) == 0 {
		return nil
	}
	r := reasons{names: make([][]string, len(checks))}
	for i, c := range checks {
		if r.names[i] = words(c); len(r.names[i]) > 1 && isFailure(r.names[i][0]) { // a mark of the runner
			r.names[i] = r.names[i][1:]
		}
	}
	for l := range strings.SplitSeq(strings.ReplaceAll(termsafe.Text(output), "\t", "    "), "\n") {
		r.lines = append(r.lines, newReasonLine(l))
	}
	for i := range r.lines {
		r.lines[i].names = r.named(&r.lines[i])
	}
	var list []FailingCheck
	for i, c := range checks {
		if found := r.of(i, c); found != (FailingCheck{Check: c}) {
			list = append(list, found)
		}
	}
	return list
}

type reasons struct {
	names [][]string // the words of each check
	lines []reasonLine
}

type reasonLine struct {
	text   string // without blanks and the mark of a comment around it
	indent int
	words  []string
	kind   lineKind
	names  int // the check that it names; -1: none
}

// lineKind is what a line can be beside a reason.
type lineKind int

const (
	mayTell   lineKind = iota
	blankLine          // nothing, or only marks
	aside              // a place, a frame, what a program logs, a heading of one word
	codeLine           // the line of code below a frame
	tallyLine          // counts, or the end of the runner
)

var (
	logged   = lazy.Regexp(`^(?:\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d)|(?:ts|time|level)=|\{"|[IWED]\d{4} \d\d:|\d{9,}[.:\d]* |\[ *\d+%\]|.{0,40}\b(?:DEBUG|INFO|TRACE)\b)`)
	framed   = lazy.Regexp(`^(?:at (?:async |new )?[\w.$<>\[\] /]+ ?\(|at \S*\w:\S+:\d+|in function |from \S+:\d+|File "|Traceback |#\d+ |\d+: 0x|stack traceback|note: |\d+: |backtrace|.*\.\w+:\d+:in )`)
	placed   = lazy.Regexp(`^\W*(?:in test file |at |in )?\S*[\w)]\.\w{1,5}(?::\d+){0,2}(?:,? (?:at )?line \d+)?\W*(?:: ?(?:Failure|Error))?\W*$`)
	tallied  = lazy.Regexp(`(?i)^\W*(?:\d+ (?:of \d+ )?(?:\w+ )?(?:tests?|pass(?:ed|ing|es)?|fail(?:ed|ing|ures?)?|examples?|errors?|specs?|runs?|assertions?|checks?|tasks?)\b|test result:|\W*(?:pass|fail|tests|suites|cancelled|skipped|todo) \d+$|tests?(?: run| suites?| files?)?: |ran \d+|finished in|time: |errors? while running|make(?:\[\d+\])?: |.*\(\d+ tests?\b|FAIL\s+\S+\s+[\d.]+m?s$|FAIL$|exit (?:status|code))`)
	metadata = lazy.Regexp(`^(?:duration_ms|location|failureType|code|name|operator|stack|type|severity|at|compare|file|line|column|source):`)
)

func newReasonLine(raw string) reasonLine {
	text := strings.TrimLeft(raw, " ")
	l := reasonLine{indent: len(raw) - len(text)}
	if rest, ok := strings.CutPrefix(text, "#"); ok && strings.HasPrefix(rest, " ") { // a comment of TAP
		text = strings.TrimLeft(rest, " ")
		l.indent = len(raw) - len(text)
	}
	if rest, ok := strings.CutPrefix(text, "E  "); ok { // what pytest says of an error
		text = strings.TrimLeft(rest, " ")
	}
	l.text = strings.TrimSpace(strings.TrimPrefix(strings.TrimLeft(text, "|│ "), "=>"))
	l.words = words(l.text)
	switch {
	case len(l.words) == 0:
		l.kind = blankLine
	case strings.ContainsAny(l.text[:min(len(l.text), 3)], "✔✓"):
		l.kind = tallyLine
	case tallied().MatchString(l.text):
		l.kind = tallyLine
	case logged().MatchString(l.text), placed().MatchString(l.text), metadata().MatchString(l.text):
		l.kind = aside
	case framed().MatchString(l.text):
		l.kind = aside
	case len(l.words) == 1 && !strings.HasSuffix(strings.TrimSuffix(l.text, ":"), "Error"):
		l.kind = aside
	}
	return l
}

// named is the check whose name the line gives: of several the longest.
func (r *reasons) named(l *reasonLine) int {
	best := -1
	if l.kind == tallyLine || l.kind == blankLine || framed().MatchString(l.text) || logged().MatchString(l.text) && !fails(l.words) {
		return best
	}
	for i, name := range r.names {
		if (best < 0 || len(name) > len(r.names[best])) && mentions(l.words, name) {
			best = i
		}
	}
	return best
}

// heads reports whether the line is about the check, and does not only mention it: it says that
// something failed, or says little else.
func (r *reasons) heads(l *reasonLine, check int) bool {
	const others = 5
	return l.names == check && !passes(l.words) && (fails(l.words) || strings.HasSuffix(l.text, ":") || len(l.words) <= len(r.names[check])+others)
}

// of is why the check fails, and how long it took. The rest of a line that names it says it
// best, then what follows a colon, then the block below.
func (r *reasons) of(check int, name string) FailingCheck {
	found, best := FailingCheck{Check: name}, 4
	for i := range r.lines {
		l := &r.lines[i]
		if l.names != check {
			continue
		}
		if rest := restOf(l, name); rest != "" && best > 1 {
			best, found.Why = 1, rest
		}
		if !r.heads(l, check) {
			continue
		}
		if found.Seconds == 0 {
			found.Seconds = took(l.text)
		}
		rank := 3
		if strings.HasSuffix(l.text, ":") {
			rank = 2
		}
		text, place := r.below(i, rank == 2)
		if text != "" && rank < best {
			best, found.Why = rank, text
		}
		if found.File == "" {
			found.File, found.Line = placeOf(place)
		}
	}
	found.Why = oneLine(found.Why)
	if file, line := placeOf(found.Why); file != "" {
		found.File, found.Line = file, line
	}
	return found
}

// restOf is what the line says after the name: “FAILED name - why”, “name: why”.
func restOf(l *reasonLine, name string) string {
	at := strings.LastIndex(l.text, name)
	if at < 0 {
		return ""
	}
	rest := l.text[at+len(name):]
	said, dash := strings.CutPrefix(rest, " - ")
	if !dash {
		var colon bool
		if said, colon = strings.CutPrefix(rest, ": "); !colon {
			return ""
		}
	}
	said = strings.TrimSpace(said)
	of := words(said)
	switch {
	case len(of) < 2, passes(l.words):
		return ""
	case dash && fails(words(l.text[:at])), tells(of, said):
		return said
	}
	return ""
}

// tells reports whether the line says that something is not as it should be.
func tells(of []string, text string) bool {
	return fails(of) || slices.ContainsFunc(of, func(w string) bool {
		return strings.HasPrefix(w, "assert") || strings.HasPrefix(w, "expect") || strings.HasSuffix(w, "error")
	}) || strings.Contains(text, " != ") || strings.Contains(text, "!==")
}

// namesError reports whether the line begins with the name of an error.
func namesError(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	return strings.HasSuffix(strings.TrimSuffix(first, ":"), "Error") || strings.HasSuffix(strings.TrimSuffix(first, ":"), "Exception")
}

// below is the first line of the block below a line that says something, where the block is
// the check's: lines that are further in, or that follow at once. After a colon the first line
// is meant. Place is the first of its lines that names a place.
func (r *reasons) below(at int, colon bool) (text, place string) {
	head := &r.lines[at]
	gap := false
	var second string
	for i := at + 1; i < len(r.lines) && i <= at+reasonWithin; i++ {
		l := &r.lines[i]
		in := l.indent > head.indent
		switch {
		case l.kind == blankLine && l.text == "":
			gap = true
			continue
		case l.names >= 0 && l.names != head.names, l.kind == tallyLine, passes(l.words),
			!colon && (l.indent < head.indent && !(i == at+1 && namesError(l.text)) || gap && !in), gap && second != "":
			return second, place
		}
		if file, _ := placeOf(l.text); file != "" && place == "" && !strings.HasPrefix(l.text, "at ") {
			place = l.text
		}
		switch {
		case l.kind == blankLine, l.kind == aside, l.names >= 0 && !tells(l.words, l.text):
			if strings.HasPrefix(l.text, "File ") {
				i++ // the code of the frame
			}
			continue
		case strings.HasPrefix(l.text, "+") || strings.HasPrefix(l.text, "---") || strings.HasPrefix(l.text, "@@") || strings.HasPrefix(l.text, "==="):
			return second, place // a comparison, or the next section
		}
		for _, key := range []string{"error: ", "message: "} {
			if said, ok := strings.CutPrefix(l.text, key); ok && strings.Trim(said, "|>-'") == "" && i+1 < len(r.lines) {
				return r.lines[i+1].text, place
			}
		}
		if colon || tells(l.words, l.text) {
			return l.text, place
		}
		second = cmp.Or(second, l.text)
	}
	return second, place
}
