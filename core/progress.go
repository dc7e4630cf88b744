package core

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/looprun/looprun/internal/lazy"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/signature"
)

// Progress is how much of the judged work is done, as far as its output shows. A count of -1
// is unknown.
type Progress struct {
	Failing int      `json:"failing" doc:"How many fail; -1: not known."`
	Passed  int      `json:"passed" doc:"How many pass; -1: not known."`
	Total   int      `json:"total" doc:"How many there are; -1: not known."`
	Checks  []string `json:"checks,omitempty" doc:"Those that fail, by name."`
	// Tests reports whether the checks are tests.
	Tests bool `json:"tests,omitempty" doc:"Whether the checks are tests."`
	// Tasks says that the checks are tasks of a list, and fail while they are open.
	Tasks bool `json:"tasks,omitempty" doc:"Whether the checks are tasks of a list, which fail while they are open."`
}

// Progress returns the progress that the iteration's output reports; nil if it reports none.
func (d *IterationFinished) Progress() *Progress {
	if d == nil || d.Signature.Hash == 0 || (d.Signature.Failing < 0 && d.Signature.Passed < 0) {
		return nil
	}
	s := &d.Signature
	p := &Progress{
		Tests: s.Kind == signature.KindTestFail && !d.OpenTasks, Tasks: d.OpenTasks, Failing: s.Failing, Passed: s.Passed, Total: s.Total, Checks: s.Checks,
	}
	if p.Tests && p.Passed < 0 && len(p.Checks) == p.Failing && d.Tally != nil {
		p.beside(d.Tally)
	}
	return p
}

// beside counts the checks that the tool names one by one without summing them up, as go test
// -v does. A test with subtests is not a check itself. If a failing check has another name
// there, or a skipped one may be a test with subtests, the counts stay unknown.
func (p *Progress) beside(t *signature.Tally) {
	parents := map[string]bool{}
	for _, name := range t.Names {
		for i := range name {
			if name[i] == '/' {
				parents[name[:i]] = true
			}
		}
	}
	if len(parents) > 0 && t.Skipped > 0 {
		return
	}
	checks := slices.DeleteFunc(slices.Clone(t.Names), func(name string) bool { return parents[name] })
	for _, name := range p.Checks {
		if !slices.Contains(checks, name) {
			return
		}
	}
	p.Passed, p.Total = len(checks)-t.Skipped-p.Failing, len(checks)
}

// Best is the iteration with the fewest failures: its number, the commit that holds its files
// (empty if they are not kept), and its progress.
type Best struct {
	Iteration  int      `json:"iteration"`
	Checkpoint string   `json:"checkpoint,omitempty"`
	Progress   Progress `json:"progress"`
}

// atLeast reports whether this progress is at least as good as the best so far. The two are
// comparable only if they count the same kind of checks and this one counts no fewer.
func (p *Progress) atLeast(best *Best) bool {
	if p == nil || p.Failing < 0 {
		return false
	}
	if best == nil || p.Tests && !best.Progress.Tests {
		return true
	}
	return p.Tests == best.Progress.Tests && p.Tasks == best.Progress.Tasks && p.Total >= best.Progress.Total && p.Failing <= best.Progress.Failing
}

// BestIsEarlier reports whether an earlier iteration had fewer failures than the last one. If
// the last one's progress is unknown, it counts as worse.
func (s *State) BestIsEarlier() bool {
	if s.Best == nil || s.Best.Iteration == s.Iterations {
		return false
	}
	p := s.Last.Progress()
	return p == nil || !p.atLeast(s.Best)
}

// Improved reports whether fewer checks fail than at the last trip, or than in the first
// iteration if there was no trip. Unknown progress is not an improvement.
func (s *State) Improved() bool {
	return s.Last.Progress().better(s.Baseline)
}

// better reports whether fewer checks fail than before. It is false if either number is
// unknown.
func (p *Progress) better(before *Progress) bool {
	return p != nil && before != nil && p.Failing >= 0 && before.Failing > p.Failing
}

// Summary returns the progress in a few words: “2 of 5 tests failing: auth, logout”, or that
// it is unknown.
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

// Says describes for a person why an iteration did not pass: which checks fail, or how it
// ended and the most informative line of its output. The label of its signature is the form
// for programs. It is empty if there is nothing to add to Detail.
func (d *IterationFinished) Says() string { return d.SaysIn(nil) }

// SaysIn is Says in the words of texts; without texts in English.
func (d *IterationFinished) SaysIn(texts Texts) string {
	if d == nil || d.Outcome == OutcomeDone {
		return ""
	}
	if d.Outcome == OutcomeWaiting && d.Match != "" {
		return d.Match
	}
	if d.Cause == CauseStartFailed && d.Detail != "" {
		return termsafe.Line(d.Detail)
	}
	say := func(n Note) string { return n.in(texts) }
	said, by := d.Telling(), ": "
	if p := d.Progress(); p != nil && p.Failing > 0 && (d.Outcome != OutcomeError || d.WorkCause != CauseExited) {
		switch uncompiled := d.uncompiled(); {
		case uncompiled != "":
			return uncompiled + "; " + termsafe.Line(say(p.Note()))
		case len(p.Checks) > 0 || said == "":
			return termsafe.Line(say(p.Note()))
		}
		return say(p.Note()) + ": " + said
	}
	switch {
	case said != "" && len(d.Signature.Errors) == 0:
		said = "“" + said + "”"
	case said == "" && d.OutputBytes == 0:
		said, by = say(Note{Key: noteSilent}), ", "
	}
	ended := ""
	switch how(d, d.ExitCode) {
	case HowKilled:
		ended = say(Note{noteKilled, map[string]any{"Signal": SignalName(d.ExitCode)}})
	case HowNotFound:
		if m := notFound().FindStringSubmatch(d.Excerpt); m != nil {
			return say(Note{noteNotFound, map[string]any{"Label": oneLine(m[1])}})
		}
	case HowExited:
		if said == "" || by == ", " { // blank lines, or only lines of looprun
			ended = say(Note{noteCode, map[string]any{"Code": d.ExitCode}})
		}
	}
	if ended == "" || said == "" {
		return ended + said
	}
	return ended + by + said
}

// compileError matches the beginning of a compiler's error: its position, and the word error.
var compileError = lazy.Regexp(`(?i)^\S+\.\w+(?::\d+|\(\d+)[\d:,.)-]*:?\s+(?:fatal )?error\b`)

// uncompiled returns a compiler error that occurs along with failing tests, whose results may
// come from an older build. An error that mentions one of these tests does not count. Empty
// means that there is none.
func (d *IterationFinished) uncompiled() string {
	if len(d.Signature.Checks) == 0 {
		return ""
	}
	for _, e := range d.Signature.Errors {
		if !compileError().MatchString(e) {
			continue
		}
		of := words(e)
		if !slices.ContainsFunc(d.Signature.Checks, func(c string) bool { return mentions(of, words(c)) }) {
			return oneLine(e)
		}
	}
	return ""
}

// Named describes the failure of a known issue as its most recent iteration did, or returns
// the issue's label if that iteration is no longer in the history.
func (s *State) Named(k KnownIssue) string { return s.NamedIn(k, nil) }

// NamedIn is Named in the words of texts; without texts in English.
func (s *State) NamedIn(k KnownIssue, texts Texts) string {
	for i := len(s.History) - 1; i >= 0; i-- {
		if d := &s.History[i]; s.Match(d.Signature) == k.Hash {
			if text := d.SaysIn(texts); text != "" {
				return text
			}
		}
	}
	return k.Label
}

// OnlyCountsChanged reports whether the last two outputs differ only in numbers, which
// signature.Signature.Loose ignores, and as many checks fail.
func (s *State) OnlyCountsChanged() bool {
	n := len(s.History)
	if n < 2 {
		return false
	}
	a, b := s.History[n-2].Signature, s.History[n-1].Signature
	return a.Hash != b.Hash && a.Loose == b.Loose && a.Loose != 0 && a.Failing == b.Failing
}

// CurrentState returns how many checks pass: “3/5 tests passing”, “3/5 passing” if the output
// does not show that they are tests, or that it is unknown.
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

// noun returns the noun for n of the checks, with a leading space; empty if their kind is
// unknown.
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

// String returns the progress in words; empty for nil.
func (p *Progress) String() string {
	if p == nil || p.Failing < 0 {
		return ""
	}
	text := fmt.Sprintf("%d%s %s", p.Failing, p.noun(p.Failing), p.fail())
	if p.Total > 0 {
		text = fmt.Sprintf("%d of %d%s %s", p.Failing, p.Total, p.noun(p.Total), p.fail())
	}
	if len(p.Checks) > 0 {
		text += ": " + plural.First(p.Checks, namedChecks)
	}
	return text
}

// namedChecks is how many failing checks are named.
const namedChecks = 5

// Note returns the progress as a text for a question. It is not for nil, nor for a progress
// that is not known.
func (p *Progress) Note() Note {
	names := p.Checks[:min(len(p.Checks), namedChecks)]
	return Note{NoteProgress, map[string]any{
		"Tests": p.Tests, "Tasks": p.Tasks, "Failing": p.Failing, "Total": max(0, p.Total), "FailingChecks": names, "More": len(p.Checks) - len(names),
		"Text": p.String(),
	}}
}

// oneLine returns a line of a command's output, safe to show and not too long.
func oneLine(text string) string { return termsafe.Short(text, lineLength) }

// Telling returns the most informative line of the judge's output about the failure: the first
// that the signature recognised as an error, or else the line at the end of the output that
// looks most like one. If several are equal, the last wins. Lines that report a pass rank
// lowest. It is empty if nothing was printed.
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

// telling returns how much the line reveals about the failure.
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

// words returns the words of a line in lower case, without zero counts: “0 failed” and “Error:
// (none)” give no words.
func words(text string) []string {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && !strings.ContainsRune("✓✔✗✘×", r)
	})
	var kept []string
	for i := 0; i < len(all); i++ {
		if next := all[min(i+1, len(all)-1)]; (all[i] == "0" || all[i] == "no") && isFailure(next) || isFailure(all[i]) && next == "none" {
			i++
			continue
		}
		kept = append(kept, all[i])
	}
	return kept
}

// mentions reports whether the words of the name occur in the line consecutively.
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

// passes reports whether the line reports a pass and no failure.
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

// isFailure recognises AssertionError and NullPointerException by their suffixes.
func isFailure(word string) bool {
	switch word {
	case "fail", "fails", "failed", "failing", "failure", "failures", "errors", "exceptions", "fatal", "panic", "panicked",
		"aborted", "killed", "denied", "refused", "undefined", "unresolved", "cannot", "✗", "✘", "×":
		return true
	}
	return strings.HasSuffix(word, "error") || strings.HasSuffix(word, "exception")
}
