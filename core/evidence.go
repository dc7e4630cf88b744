package core

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/lazy"
	"github.com/looprun/looprun/internal/termsafe"
)

// How much of a command's output and history a question carries.
const (
	evidenceChecks = 5  // failing checks with the line that says why
	evidenceTrend  = 6  // counts of failing checks
	evidenceLines  = 3  // lines of output
	evidenceBefore = 3  // answers that were given before
	decidedKept    = 20 // answers that [State.PastAnswers] lists
	lineLength     = 160
	placeLength    = 40 // characters of the command within a line
)

// Evidence is the evidence for a question, in pieces that a person can read. They are data:
// output is cleaned and shortened, and the wording is up to whoever shows it.
type Evidence struct {
	// Task is the current task, empty if it has no name. Command is the command as a person
	// would write it. Judge is what judged last: the check, if there is one and it ran.
	Task    string `json:"task,omitempty"`
	Command string `json:"command,omitempty"`
	Dir     string `json:"dir,omitempty"`
	RunID   string `json:"run_id,omitempty" mask:"own"`
	Judge   string `json:"judge,omitempty"`
	Checked bool   `json:"checked,omitempty"` // the judge is a check
	// Iteration is the last iteration, or the one that is suspended (During) while somebody
	// decides. A limit of zero is off.
	Iteration  int     `json:"iteration,omitempty"`
	Iterations int     `json:"max_iterations,omitempty"`
	During     bool    `json:"during,omitempty"`
	ElapsedMS  int64   `json:"elapsed_ms,omitempty"`
	RuntimeMS  int64   `json:"max_runtime_ms,omitempty"`
	Cost       float64 `json:"cost_usd,omitempty"`
	// Progress is what the judge's output reports about its checks; nil if nothing. Trend is
	// how many failed, oldest first, and Earlier reports that counts between the first and the
	// second are left out. Failing are failing checks with the line that gives the reason.
	Progress *Progress      `json:"progress,omitempty"`
	Trend    []int          `json:"trend,omitempty"`
	Earlier  bool           `json:"earlier,omitempty"`
	Improved bool           `json:"improved,omitempty"`
	Failing  []FailingCheck `json:"failing,omitempty"`
	// Output holds the lines to show if no checks were recognised, or those of the running
	// iteration if it is suspended; in that case QuietMS is how long ago they were printed.
	Output  []string `json:"output,omitempty"`
	QuietMS int64    `json:"quiet_ms,omitempty"`
	// Who is the name of the judge or the command, whichever failed. How and Code are how it
	// ended.
	Who  string `json:"who,omitempty"`
	How  How    `json:"how,omitempty"`
	Code int    `json:"code,omitempty"`
	// Words holds the last lines of the work's output, if something else judges it.
	Words string `json:"words,omitempty"`
	// Before holds earlier decisions of this run, newest first.
	Before []PastAnswer `json:"before,omitempty"`
}

// FailingCheck is a failing check, or an error that belongs to none, as far as the output
// describes it. Each doc tag is the field's description in a schema.
type FailingCheck struct {
	Check   string  `json:"check,omitempty" doc:"The name of the check; none where the output does not say."`
	Why     string  `json:"why,omitempty" doc:"The line of the output that says why."`
	File    string  `json:"file,omitempty" doc:"The file that the line names."`
	Line    int     `json:"line,omitempty" doc:"Its line."`
	Seconds float64 `json:"seconds,omitempty" doc:"How long the check took, where the output says so."`
}

// How describes how a step ended.
type How string

// The ways in which a step can end.
const (
	HowNot        How = ""               // nothing has run
	HowExited     How = "exited"         // with the exit code
	HowKilled     How = "killed"         // by the signal that the exit code stands for
	HowNotFound   How = "not_found"      // there is no such command
	HowNotStarted How = "not_started"    // it could not be run
	HowTooLong    How = "too_long"       // it ran into a time limit
	HowRepeated   How = "repeated"       // it did the same again and again within its turn
	HowCrashed    How = "looprun_died"   // looprun was killed in it
	HowUnread     How = "signals_unread" // what it said could not be read
	HowPassed     How = "passed"         // it passed
)

// PastAnswer is an answer given earlier in a run, for whoever answers next.
type PastAnswer struct {
	Time      time.Time `json:"time"`
	Iteration int       `json:"iteration"` // the last one before it
	// Guard is the guard that asked; if the command asked, AskID is its name for the question.
	// Question is the text of the question.
	Guard    GuardID `json:"guard,omitempty"`
	AskID    string  `json:"ask_id,omitempty"`
	Question string  `json:"question,omitempty"`
	// Answer is the label of the option, or the text. Words is the guidance that came with it,
	// Reason the reason, and Responder who gave it.
	Answer    string `json:"answer"`
	Words     string `json:"words,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Responder string `json:"responder" mask:"own"`
	// Findings are the findings of a command that an answer to the question ran.
	Findings string `json:"findings,omitempty"`
	// Rule is the location of the deciding policy rule, as file:line; Assistant is the
	// assistant that answered.
	Rule      string    `json:"rule,omitempty" mask:"own"`
	Assistant Assistant `json:"assistant,omitzero"`
}

// Who returns who answered, in the form of [Answer.Who].
func (a PastAnswer) Who() string { return a.Assistant.who(a.Responder, a.Rule) }

// String returns the answer on one line: when, the question, the answer, by whom, and its
// words.
func (a PastAnswer) String() string {
	when := fmt.Sprintf("after iteration %d", a.Iteration)
	if a.Iteration == 0 {
		when = "before the end of iteration 1"
	}
	text := fmt.Sprintf("%s, “%s”: %s by %s", when, oneLine(a.Question), oneLine(a.Answer), a.Who())
	if a.Question == "" {
		text = fmt.Sprintf("%s, %s: %s by %s", when, cmp.Or(string(a.Guard), a.AskID, "a question"), oneLine(a.Answer), a.Who())
	}
	if a.Words != "" {
		text += ": “" + termsafe.Line(a.Words) + "”"
	}
	if a.Reason != "" {
		text += " (" + termsafe.Line(a.Reason) + ")"
	}
	if a.Findings != "" {
		text += "; found: “" + termsafe.Line(a.Findings) + "”"
	}
	return text
}

// CommandLine returns a command as a person would type it; for sh -c, its line.
func CommandLine(argv []string) string {
	if len(argv) == 3 && argv[0] == "sh" && argv[1] == "-c" {
		return argv[2]
	}
	quoted := slices.Clone(argv)
	for i, a := range argv {
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// Place returns one line about where a question comes from: the task, the command, the
// directory.
func (e *Evidence) Place() string {
	parts := []string{e.Task, termsafe.Cut(e.Command, placeLength), oneLine(e.Dir)}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
}

// asking returns the evidence for a question of the command: where it comes from.
func (s *State) asking() *Evidence {
	all := s.Evidence(Trip{})
	return &Evidence{
		Task: all.Task, Command: all.Command, Dir: all.Dir, RunID: all.RunID, Iteration: all.Iteration,
		Iterations: all.Iterations, ElapsedMS: all.ElapsedMS, RuntimeMS: all.RuntimeMS, Cost: all.Cost, Before: all.Before,
	}
}

// Evidence returns the evidence for a question about the trip.
func (s *State) Evidence(t Trip) Evidence {
	e := Evidence{
		Task: oneLine(s.Task), Command: shown(s.Command), Dir: s.Dir, RunID: s.RunID,
		Iteration: max(t.Iteration, s.Iterations), Iterations: max(0, s.Limits.Iterations), During: t.During,
		ElapsedMS: s.Elapsed.Milliseconds(), RuntimeMS: max(0, s.Limits.Runtime.Milliseconds()), Cost: s.Cost,
		Judge: shown(s.Command), Improved: s.Improved(), Before: s.PastAnswers(),
	}
	if s.Running {
		e.Iteration = max(e.Iteration, s.Open)
	}
	e.Before = e.Before[:min(len(e.Before), evidenceBefore)]
	last := s.Last
	if last != nil {
		e.Words = last.Words
		e.judged(s, last)
	}
	if t.During { // it has not been judged: what it printed itself is the news
		e.Progress, e.Failing, e.Words = nil, nil, ""
		e.Output, e.QuietMS = termsafe.LastLines(t.Output, evidenceLines, lineLength), t.QuietMS
	}
	return e
}

// judged adds the findings of an iteration's judge.
func (e *Evidence) judged(s *State, d *IterationFinished) {
	e.Checked = len(s.Check) > 0 && (d.WorkExitCode != nil || d.Iteration == 0)
	if e.Checked {
		e.Judge = shown(s.Check)
	}
	e.Progress = d.Progress()
	e.Trend, e.Earlier = s.trend()
	if e.Progress != nil {
		e.Failing = d.Failing(evidenceChecks)
	}
	e.Who, e.Code = e.Judge, d.ExitCode
	if d.Outcome == OutcomeError && d.WorkExitCode != nil && *d.WorkExitCode != 0 && d.ExitCode < ExitNotExecutable {
		e.Who, e.Code = e.Command, *d.WorkExitCode // the work failed, and its check as well
	}
	e.How = how(d, e.Code)
	if e.How == HowNotFound {
		if m := notFound().FindStringSubmatch(d.Excerpt); m != nil {
			e.Who = m[1]
		}
	}
	if len(e.Failing) == 0 || e.Progress == nil {
		e.Output = printedLast(d)
	}
}

// notFound matches the message of a shell that cannot find a command.
var notFound = lazy.Regexp(`(?m)([^\s:'"]+): (?:command |inaccessible or )?not found`)

func how(d *IterationFinished, code int) How {
	switch {
	case d.Cause == CauseIterationTimeout, d.Cause == CauseIdleTimeout, d.Cause == CauseMaxRuntime:
		return HowTooLong
	case d.Cause == CauseTurnLoop:
		return HowRepeated
	case d.Cause == CauseCrash:
		return HowCrashed
	case d.Cause == CauseStartFailed, code == ExitNotExecutable:
		return HowNotStarted
	case code == ExitNotFound:
		return HowNotFound
	case SignalName(code) != "":
		return HowKilled
	case code == 0 && d.Outcome == OutcomeError:
		return HowUnread
	case d.Outcome == OutcomeDone || code == 0:
		return HowPassed
	}
	return HowExited
}

// SignalName returns the signal that a shell's exit code stands for, such as SIGSEGV for 139;
// empty if it stands for none.
func SignalName(code int) string {
	names := [...]string{
		1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT",
		8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
	}
	if n := code - 128; n > 0 && n < len(names) {
		return names[n]
	}
	return ""
}

// trend returns how many checks failed, oldest first. A long list is cut to the first count
// and the last ones, and earlier is true.
func (s *State) trend() (counts []int, earlier bool) {
	for i := range s.History {
		if p := s.History[i].Progress(); p != nil && p.Failing >= 0 {
			counts = append(counts, p.Failing)
		}
	}
	if n := len(counts); n > evidenceTrend {
		return append(counts[:1:1], counts[n-evidenceTrend+1:]...), true
	}
	return counts, false
}

// Failing returns at most that many failing checks, each with the output line that gives the
// reason. If no check has a known reason, the errors of the output follow.
func (d *IterationFinished) Failing(most int) []FailingCheck {
	errors, reasons := slices.Clone(d.Signature.Errors), d.Reasons
	if len(reasons) == 0 { // of an older journal
		reasons = reasonsOf(d.Excerpt, d.Signature.Checks)
	}
	var list []FailingCheck
	told := false
	for _, check := range d.Signature.Checks[:min(most, len(d.Signature.Checks))] {
		f := FailingCheck{Check: oneLine(check)}
		if i := slices.IndexFunc(reasons, func(r FailingCheck) bool { return r.Check == check }); i >= 0 {
			r := reasons[i]
			f.Why, f.File, f.Line, f.Seconds = r.Why, r.File, r.Line, r.Seconds
		}
		if f.Why == "" && len(d.Signature.Checks) == 1 && len(errors) > 0 {
			f.Why = oneLine(errors[0])
			f.File, f.Line = placeOf(f.Why)
		}
		told = told || f.Why != ""
		list = append(list, f)
	}
	if !told { // whose they are is not known
		for _, e := range errors {
			f := FailingCheck{Why: oneLine(e)}
			f.File, f.Line = placeOf(f.Why)
			list = append(list, f)
		}
	}
	return list
}

// placeNamed matches a file and line as most tools print them, and tookNamed matches how long
// a check took.
var (
	placeNamed = lazy.Regexp(`(?:^|[\s("'])((?:[A-Za-z]:)?[^\s:()"'<>]*[^\s:()"'<>.]\.[A-Za-z]\w{0,9}):(\d{1,7})\b`)
	tookNamed  = lazy.Regexp(`[(\[](\d{1,6}(?:\.\d{1,9})?) ?(m?s)[)\]]`)
)

// placeOf is the file and the line that the text names; empty: none.
func placeOf(text string) (file string, line int) {
	if m := placeNamed().FindStringSubmatch(text); m != nil {
		file = m[1]
		line, _ = strconv.Atoi(m[2]) // digits
	}
	return file, line
}

// took returns how long the check on the line took, in seconds; 0 if the line does not state
// it.
func took(line string) float64 {
	m := tookNamed().FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64) // digits
	if m[2] == "ms" {
		n /= 1000
	}
	return n
}

// printedLast returns lines of an output in which no checks were recognised: its errors, or
// else its last lines.
func printedLast(d *IterationFinished) []string {
	if len(d.Signature.Errors) > 0 {
		return convert.Each(d.Signature.Errors, oneLine)
	}
	return termsafe.LastLines(d.Excerpt, evidenceLines, lineLength)
}

// LastWords returns the last meaningful lines of an output, as [IterationFinished] holds them
// for its work.
func LastWords(output string) string {
	return strings.Join(termsafe.LastLines(output, evidenceLines, lineLength), "\n")
}

func shown(argv []string) string {
	return oneLine(CommandLine(argv))
}

// PastAnswers returns the run's latest answers to guards and to the command, newest first.
func (s *State) PastAnswers() []PastAnswer {
	var list []PastAnswer
	for _, d := range s.Decisions {
		list = append(list, PastAnswer{
			Time: d.Time, Iteration: d.Iteration, Guard: d.Guard, Question: d.Question,
			Answer: cmp.Or(d.Label, d.Option, string(d.Action)), Words: d.Words, Reason: d.Reason, Responder: d.Responder, Findings: d.Findings, Rule: d.Rule, Assistant: d.Assistant,
		})
	}
	for _, a := range s.Answered {
		if a.Asked != nil {
			list = append(list, PastAnswer{
				Time: a.Time, Iteration: a.Iteration, AskID: a.Asked.ownName(), Question: a.Asked.Text,
				Answer: a.Asked.Labels(a.Answer), Words: a.Guidance, Reason: a.Reason, Responder: a.Responder, Rule: a.Rule, Assistant: a.Assistant,
			})
		}
	}
	slices.SortStableFunc(list, func(a, b PastAnswer) int { return b.Time.Compare(a.Time) })
	return list[:min(len(list), decidedKept)]
}

// Labels returns the answer with labels instead of option ids.
func (q *Question) Labels(a Answer) string {
	label := func(id string) string {
		o, _ := q.Option(id)
		return cmp.Or(o.Label, id)
	}
	switch {
	case a.Cancelled || a.Text != nil:
		return a.String()
	case len(a.Options) > 0:
		return strings.Join(convert.Each(a.Options, label), ", ")
	}
	return label(a.Option)
}
