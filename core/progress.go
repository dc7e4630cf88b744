package core

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/signature"
)

// Progress is how much of the judged work is done, as far as its output said
// so. A count that is not known is -1.
type Progress struct {
	Failing int      `json:"failing" doc:"How many fail; -1: not known."`
	Passed  int      `json:"passed" doc:"How many pass; -1: not known."`
	Total   int      `json:"total" doc:"How many there are; -1: not known."`
	Checks  []string `json:"checks,omitempty" doc:"Those that fail, by name."`
	// Tests says that the checks are tests.
	Tests bool `json:"tests,omitempty" doc:"Whether the checks are tests."`
	// Tasks says that the checks are tasks of a list, and fail while they are open.
	Tasks bool `json:"tasks,omitempty" doc:"Whether the checks are tasks of a list, which fail while they are open."`
}

// Progress is what the iteration's output said; nil when it said nothing.
func (d *IterationFinished) Progress() *Progress {
	if d == nil || d.Signature.Hash == 0 || (d.Signature.Failing < 0 && d.Signature.Passed < 0) {
		return nil
	}
	s := &d.Signature
	return &Progress{
		Tests: s.Kind == signature.KindTestFail && !d.OpenTasks, Tasks: d.OpenTasks, Failing: s.Failing, Passed: s.Passed, Total: s.Total, Checks: s.Checks,
	}
}

// Best is an iteration whose files are kept: its number, the commit that has them, and
// how far it was.
type Best struct {
	Iteration  int      `json:"iteration"`
	Checkpoint string   `json:"checkpoint"`
	Progress   Progress `json:"progress"`
}

// atLeast reports whether this is as far as the best so far, as far as the two can be
// compared: of checks of one kind, and not of fewer of them.
func (p *Progress) atLeast(best *Best) bool {
	if p == nil || p.Failing < 0 {
		return false
	}
	if best == nil || p.Tests && !best.Progress.Tests {
		return true
	}
	return p.Tests == best.Progress.Tests && p.Tasks == best.Progress.Tasks && p.Total >= best.Progress.Total && p.Failing <= best.Progress.Failing
}

// fell reports whether an earlier iteration had fewer failures than the last one, and is
// kept. Where nothing is known of the last, it did.
func (s *State) fell() bool {
	if s.Best == nil || s.Best.Iteration == s.Iterations {
		return false
	}
	p := s.Last.Progress()
	return p == nil || !p.atLeast(s.Best)
}

// Improved reports whether fewer checks fail than at the last trip, or than in
// the first iteration when there was none. What is not known is no improvement.
func (s *State) Improved() bool {
	return s.Last.Progress().better(s.Baseline)
}

// better reports whether fewer checks fail than before, as far as both are known.
func (p *Progress) better(before *Progress) bool {
	return p != nil && before != nil && p.Failing >= 0 && before.Failing > p.Failing
}

// Summary says in a few words how far the work is: “2 of 5 tests failing: auth,
// logout”. Unknown is said to be unknown.
func (s *State) Summary() string {
	if s.Last == nil {
		return "nothing has run yet"
	}
	if s.Last.Outcome == OutcomeDone && (s.Subtask == nil || s.Passed) {
		return "done"
	}
	if s.Subtask == nil {
		return s.Last.summary()
	}
	text := "sub-task " + strings.Replace(s.Decomposed().place(), "/", " of ", 1) + ": "
	if s.Last.Outcome == OutcomeDone { // the one before it was
		return text + "nothing has run yet"
	}
	return text + s.Last.summary()
}

func (d *IterationFinished) summary() string {
	if text := d.Progress().String(); text != "" {
		return text
	}
	if text := d.Says(); text != "" {
		return text
	}
	return "unknown"
}

// Says is what an iteration that did not pass came to, in words for a person: which checks
// fail, or how it ended and the line of its output that tells most. Its signature's label
// says the same to programs. Empty: there is nothing to say beside Detail.
func (d *IterationFinished) Says() string {
	if d == nil || d.Outcome == OutcomeDone {
		return ""
	}
	if d.Outcome == OutcomeWaiting && d.Match != "" {
		return d.Match
	}
	if d.Cause == CauseStartFailed && d.Detail != "" {
		return termsafe.Line(d.Detail)
	}
	said, by := d.Telling(), ": "
	if p := d.Progress(); p != nil && p.Failing > 0 && d.Outcome != OutcomeError {
		switch uncompiled := d.uncompiled(); {
		case uncompiled != "":
			return uncompiled + "; " + termsafe.Line(p.String())
		case len(p.Checks) > 0 || said == "":
			return termsafe.Line(p.String())
		}
		return p.String() + ": " + said
	}
	switch {
	case said != "" && len(d.Signature.Errors) == 0:
		said = "“" + said + "”"
	case said == "" && d.OutputBytes == 0:
		said, by = "printed nothing", ", "
	}
	ended := ""
	switch how(d, d.ExitCode) {
	case HowKilled:
		ended = "killed by " + SignalName(d.ExitCode)
	case HowNotFound:
		if m := notFound().FindStringSubmatch(d.Excerpt); m != nil {
			return oneLine(m[1]) + " was not found"
		}
	case HowExited:
		if by == ", " {
			ended = fmt.Sprintf("exit code %d", d.ExitCode)
		}
	}
	if ended == "" || said == "" {
		return ended + said
	}
	return ended + by + said
}

// compileError is how compilers begin an error: its place, and the word.
var compileError = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\S+\.\w+(?::\d+|\(\d+)[\d:,.)-]*:?\s+(?:fatal )?error\b`)
})

// uncompiled is the error of a compiler beside tests that fail: what they say may be of an
// older build. An error that names one of them is its own. Empty: there is none.
func (d *IterationFinished) uncompiled() string {
	for _, e := range d.Signature.Errors {
		of := words(e)
		own := slices.ContainsFunc(d.Signature.Checks, func(c string) bool { return mentions(of, words(c)) })
		if len(d.Signature.Checks) > 0 && !own && compileError().MatchString(e) {
			return oneLine(e)
		}
	}
	return ""
}

// Named says which failure a known issue is, as its last iteration did; where that is forgotten, its
// label.
func (s *State) Named(k KnownIssue) string {
	for i := len(s.History) - 1; i >= 0; i-- {
		if d := &s.History[i]; s.Match(d.Signature) == k.Hash && d.Says() != "" {
			return d.Says()
		}
	}
	return k.Label
}

// OnlyCountsChanged reports whether the last two outputs differ in numbers alone, which
// signature.Signature.Loose leaves out.
func (s *State) OnlyCountsChanged() bool {
	n := len(s.History)
	if n < 2 {
		return false
	}
	a, b := s.History[n-2].Signature, s.History[n-1].Signature
	return a.Hash != b.Hash && a.Loose == b.Loose && a.Loose != 0
}

// CurrentState says what passes: “3/5 tests passing”, or that it is unknown.
// Where the output does not say that it is of tests, it is “3/5 passing”.
func (s *State) CurrentState() string {
	p := s.Last.Progress()
	if p == nil || p.Passed < 0 {
		return "unknown"
	}
	done := "passing"
	if p.Tasks {
		done = "done"
	}
	if p.Total <= 0 {
		return fmt.Sprintf("%d%s %s", p.Passed, p.noun(p.Passed), done)
	}
	return fmt.Sprintf("%d/%d%s %s", p.Passed, p.Total, p.noun(p.Total), done)
}

// noun says what n of the checks are, after a blank; empty where it is not known.
func (p *Progress) noun(n int) string {
	switch {
	case p.Tasks && n == 1:
		return " task"
	case p.Tasks:
		return " tasks"
	case !p.Tests:
		return ""
	case n == 1:
		return " test"
	}
	return " tests"
}

// fail is what the checks do that count as failing.
func (p *Progress) fail() string {
	if p.Tasks {
		return "open"
	}
	return "failing"
}

// String is empty for nil.
func (p *Progress) String() string {
	if p == nil || p.Failing < 0 {
		return ""
	}
	text := fmt.Sprintf("%d%s %s", p.Failing, p.noun(p.Failing), p.fail())
	if p.Total > 0 {
		text = fmt.Sprintf("%d of %d%s %s", p.Failing, p.Total, p.noun(p.Total), p.fail())
	}
	const named = 5
	switch n := len(p.Checks); {
	case n == 0:
	case n <= named:
		text += ": " + strings.Join(p.Checks, ", ")
	default:
		text += fmt.Sprintf(": %s and %d more", strings.Join(p.Checks[:named], ", "), n-named)
	}
	return text
}

// oneLine is a line of what a command printed, safe to show and not too long.
func oneLine(text string) string { return termsafe.Short(text, lineLength) }

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
