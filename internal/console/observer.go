package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/signal"
)

// Observer prints what happens in a run, while it happens.
type Observer struct {
	Messages
	said   signal.Name    // the signal of this iteration that does something
	told   time.Time      // when it was last said how long is still to be waited
	warned map[string]int // what iterations have warned of, and which was the first
	// Polls means that the command is polled until something happens: only changes are
	// printed. Grace is how long the command has to end when the run is interrupted.
	Polls bool
	Grace time.Duration
	last  string // what was said of the last iteration
	// explained is the last detail printed with an iteration: a run that fails for it does not
	// print it again.
	explained string
	hinted    string // the last of the hints
	// Sections means that each iteration gets a heading in the log of a CI system.
	Sections bool
	// Withheld reports whether the output of the last check was not shown; nil means that it
	// was shown.
	Withheld func() bool
	// Asks means that only the person at this terminal is asked.
	Asks bool
	// Partial returns the warning that a partial result was accepted; nil prints none.
	Partial func(core.GuardID) string
	// Remedy is what can be done about an unanswered question; it is printed with it.
	Remedy string
	// Morning holds the lines to print before the last line of a run that nobody watched.
	Morning []string
	// Here is the question that was answered at this terminal, where the answer is already
	// visible.
	Here string
}

// Observe prints events for the person who watches.
func (m *Observer) Observe(e core.Event, s *core.State) {
	m.Report(string(e.Data.Type()), s.RunID)
	defer m.Report("", s.RunID)
	switch d := e.Data.(type) {
	case core.RunStarted:
		m.Detail("run %s in %s", d.RunID, d.Dir)
	case core.QuestionAsked:
		m.Detail("question %s: %s", d.ID, d.Text)
	case core.IterationStarted:
		m.said = ""
		if d.Iteration == 0 {
			m.Header("precheck: %s", core.CommandLine(s.Check))
			return
		}
		of := ""
		if s.Limits.Iterations > 0 {
			of = fmt.Sprintf(" of %d", s.Limits.Iterations)
		}
		if !m.Sections && (!m.Polls || d.Iteration == 1 || m.Flags.Verbose) {
			m.Header("iteration %d%s", d.Iteration, of)
		}
	case core.IterationFinished:
		m.finished(d, s)
	case core.GuardTripped:
		if m.Person && m.Asks { // the question says it
			m.Detail("%s tripped: %s", d.Guard, d.Reason)
			break
		}
		m.Say(Alert, "%s tripped: %s", d.Guard, d.Reason)
	case core.WaitStarted:
		m.told = time.Time{}
		m.News("waiting until %s: %s", d.Until.Local().Format(time.DateTime), d.Match)
		if left := s.Limits.Runtime - s.Elapsed; s.Limits.Runtime > 0 && d.Until.Sub(e.Time) > left {
			m.Warn("max_runtime leaves %s, so the run ends before the wait does; raise --max-runtime, or resume the run later", plural.Round(max(0, left)))
		}
	case core.RunAlive:
		m.countDown(s.Until, e.Time)
	case core.TurnRepeated:
		m.Warn("the agent's turn goes in circles: %s", d)
	case core.WaitFinished:
		if d.Early {
			m.News("the wait is cut short")
			return
		}
		m.News("continuing after the wait")
	case core.AnswerInvalid:
		m.Warn("not answered: %s", d.Reason)
	case core.AdviceGiven:
		m.News("%s", d.Text)
	case core.MessageRefused:
		m.Warn("guidance for the next iteration: %s", d.Reason)
	case core.QuestionAnswered:
		m.answered(d, s)
	case core.QuestionClosed:
		if strings.HasPrefix(d.QuestionID, "ask-") && !d.Unanswered {
			m.Detail("%s: %s", d.QuestionID, d.Reason) // who asked is told
			return
		}
		m.News("%s", d.Reason)
		if m.Remedy != "" {
			m.News("%s", m.Remedy)
			m.Remedy = ""
		}
	case core.DebugFinished:
		if d.ExitCode < 0 {
			m.Warn("%s: %s", d.Action, d.Findings)
			return
		}
		found := ""
		if d.Action == core.ActionRun && d.Findings != "" { // debug has shown its own
			found = ": " + d.Findings
		}
		what := string(d.Action)
		if d.Action == core.ActionRun {
			what = "the command of the option"
		}
		m.News("%s ended with exit code %d%s", what, d.ExitCode, found)
	case core.VerifyFinished:
		m.verified(d)
	case core.ActionApplied:
		if d.Action == core.ActionAccept && m.Partial != nil {
			m.Warn("%s", m.Partial(d.Guard))
		}
	case core.InterruptReceived:
		grace := m.Grace
		if InCI() {
			grace = min(grace, CIKill)
		}
		switch {
		case !s.Running:
			m.News("%s received; ending", d.Signal)
		case m.Person && d.Signal == "SIGINT":
			m.News("%s received; the command has %s to end, and Ctrl-C again kills it", d.Signal, grace)
		default:
			m.News("%s received; the command has %s to end", d.Signal, grace)
		}
	case core.OrderReceived:
		m.ordered(d, s)
	default:
		m.observeProtocol(e.Data)
	case core.RunResumed:
		if s.Concludes() {
			return // its end is the news
		}
		m.News("resumed after %s and %s: %s%s", plural.Count(s.Iterations, "iteration"), plural.Round(s.Elapsed), named(s), Short(core.CommandLine(s.Command), 60))
		if s.Answer != nil && s.Answer.Guidance != "" {
			m.News("the next iteration gets your words: “%s”", Short(s.Answer.Guidance, 200))
		}
	}
}

// ordered prints an order from outside the run.
func (m *Observer) ordered(d core.OrderReceived, s *core.State) {
	switch {
	case d.Order == core.OrderSay:
		m.News("%s gives the next iteration: “%s”", d.Who(), Short(d.Words, 200))
	case d.Order == core.OrderPause:
		m.News("%s pauses the run after this iteration", d.Who())
	case s.Running:
		m.News("%s stops the run; the command has %s to end", d.Who(), m.Grace)
	default:
		m.News("%s stops the run", d.Who())
	}
}

// observeProtocol prints the command's messages, and what follows from them.
func (m *Observer) observeProtocol(data core.Data) {
	switch d := data.(type) {
	case core.SignalReceived:
		switch {
		case d.Problem != "":
			m.Warn("a signal could not be read: %s: %s", d.Name, d.Problem)
		default:
			spent := ""
			if d.Name == signal.Cost {
				spent = fmt.Sprintf("$%.4f, %d tokens", d.USD, d.Tokens)
			}
			m.several(d.Name)
			m.News("signal %s", joinTexts(": ", string(d.Name), d.Text, d.Approach, d.Question, d.Expert, spent))
		}
	case core.RejectionSubmitted:
		m.Say(Alert, "the task was rejected (%s): %s", d.Rejection.ReasonType, d.Rejection.Headline())
	case core.RejectionInvalid:
		m.Warn("the rejection is invalid: it breaks %s; the next iteration gets the list", plural.Count(len(d.Issues), "rule"))
	case core.RejectionDecided:
		m.News("the rejection was decided: %s", d.Decision)
	case core.AttemptRecorded:
		if d.Counted {
			m.News("%s", d.Attempt)
		}
	case core.ExpertFinished:
		if !d.Helped() {
			m.News("expert %s was unsuccessful: %s", d.Expert, cmp.Or(d.Why, fmt.Sprintf("exit code %d", d.ExitCode)))
		}
	case core.SubtaskFinished:
		next := ""
		if d.Next != "" {
			next = "; next: " + d.Next
		}
		m.News("sub-task %d of %d done: %s%s", d.Number, d.Of, d.Title, next)
	case core.CostReported:
		m.Detail("cost: $%.4f, %d tokens", d.USD, d.Tokens)
	}
}

// several warns about signals of which only the highest takes effect.
func (m *Observer) several(name signal.Name) {
	if name.Priority() == 0 {
		return
	}
	if m.said != "" && m.said != name {
		first, other := m.said, name
		if name.Priority() > m.said.Priority() {
			first, other = name, m.said
		}
		m.Warn("%s and %s came in one iteration: %s goes first, %s does nothing", m.said, name, first, other)
		m.said = first
		return
	}
	m.said = name
}

// countEvery is how often the remaining wait is printed; near the end it is printed at every
// opportunity.
const countEvery = time.Minute

// countDown prints how long to wait for someone else's limit.
func (m *Observer) countDown(until *time.Time, now time.Time) {
	if until == nil {
		return
	}
	left := until.Sub(now).Round(time.Second)
	if left <= 0 || left > countEvery && now.Sub(m.told) < countEvery {
		return
	}
	m.told = now
	m.News("waiting: %s left", plural.Duration(left))
}

// joinTexts joins the texts that are not empty.
func joinTexts(by string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), by)
}

// explain adds an iteration's detail to its line, unless it says the same.
func (m *Observer) explain(text string, d core.IterationFinished) string {
	if d.Detail == "" || d.Detail == d.Says() {
		return text
	}
	if !m.Flags.Quiet { // then this line is printed
		m.explained = d.Detail
	}
	return text + " (" + d.Detail + ")"
}

func (m *Observer) finished(d core.IterationFinished, s *core.State) {
	defer m.caution(d)
	outcome := strings.ReplaceAll(string(d.Outcome), "_", " ")
	if d.Iteration == 0 {
		switch {
		case d.Outcome == core.OutcomeDone:
			m.News("precheck: passes")
		case d.RunsAgain():
			m.News("precheck: did not finish, and runs again")
		default:
			text := joinTexts(": ", "precheck: does not pass yet", d.Says())
			if d.Fatal != 0 {
				text = m.explain("precheck: "+outcome, d)
			}
			m.News("%s", text)
		}
		return
	}
	said := d.Says()
	now := string(d.Outcome) + said
	if m.Polls && now == m.last && !m.Flags.Verbose {
		return
	}
	m.last = now
	text := fmt.Sprintf("iteration %d: %s after %s", d.Iteration, outcome, RoundMS(d.DurationMS))
	if said != "" && d.Fatal == 0 { // else the last line says it
		text += ": " + said
	}
	if m.Withheld != nil && m.Withheld() {
		text += "; the check shows the same failure"
	}
	if d.Outcome != core.OutcomeWaiting && s.OnlyCountsChanged() {
		text += " (only counts changed)"
	}
	if d.Outcome != core.OutcomeInterrupted { // it has just been said by what
		text = m.explain(text, d)
	}
	m.News("%s", text)
	if hint := Hint(s, &d); hint != "" && m.hinted != hint {
		m.hinted = hint
		m.News("%s", hint)
	}
}

// Hint suggests a looprun option that could help with how an iteration ended; empty if there
// is nothing to suggest.
func Hint(s *core.State, d *core.IterationFinished) string {
	if d == nil || d.Outcome == core.OutcomeDone {
		return ""
	}
	said := strings.TrimSpace(cmp.Or(d.Words, d.Excerpt))
	last := said[strings.LastIndexByte(said, '\n')+1:]
	switch {
	case s.Promise != "" && !d.Promised && strings.Contains(last, s.Promise) && strings.HasPrefix(last, "{"):
		return "the promise is inside JSON that was not understood: name the agent with --agent, or describe its output under agents in looprun.yaml"
	case s.Promise != "" && !d.Promised && d.Detail == "" && strings.Contains(last, s.Promise):
		return "the promise is only a part of the last line, so it does not count: --promise-match anywhere accepts it"
	case strings.Contains(last, "EOFError") || strings.Contains(last, "EOF when reading"):
		return "the command reads standard input, which is empty; use --stdin FILE, or -i to talk to it"
	case strings.Contains(said, "/dev/tty"):
		return "the command looks for a terminal: -i gives it the one that looprun has"
	}
	return ""
}

// caution prints an iteration's warnings, each one once.
func (m *Observer) caution(d core.IterationFinished) {
	if m.warned == nil {
		m.warned = map[string]int{}
	}
	for _, w := range d.Warnings {
		if _, said := m.warned[w]; !said {
			m.Warn("%s", w)
			m.warned[w] = d.Iteration
		}
	}
}

// recall repeats all warnings, except those printed a few lines above.
func (m *Observer) recall(s *core.State) {
	for _, w := range s.Warnings {
		if at, said := m.warned[w]; !said || s.Last == nil || at != s.Last.Iteration {
			m.Warn("%s", w)
		}
	}
}

func (m *Observer) answered(d core.QuestionAnswered, s *core.State) {
	if m.Person && m.Here == d.QuestionID {
		return
	}
	by := d.Who()
	text := fmt.Sprintf("answered by %s: %s", by, d.Answer.String())
	if q := s.Question; m.Person && q != nil && q.ID == d.QuestionID { // as the screen showed it
		if o, ok := q.Option(d.Option); ok {
			text = fmt.Sprintf("answered by %s: %s", by, termsafe.Line(o.Label))
		}
		if d.Guidance != "" {
			text += ": “" + Short(d.Guidance, 200) + "”"
		}
	}
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	m.Printf("%s", text)
}

func (m *Observer) verified(d core.VerifyFinished) {
	end := fmt.Sprintf("exit code %d", d.ExitCode)
	if d.TimedOut {
		end = "it took too long"
	}
	m.News("verify %s (%s): %s", d.Command, d.Rule, end)
}
