package review

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/statusline"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/scratchpad"
)

// Run is what happened in a run; in JSON it has the form that looprun show prints.
type Run struct {
	RunID      string            `json:"run_id"`
	Dir        string            `json:"dir"`
	Name       string            `json:"name,omitempty"`
	Status     core.Status       `json:"status"`
	Ending     *core.Ending      `json:"ending,omitempty"`
	Command    []string          `json:"command"`
	Check      []string          `json:"check,omitempty"`
	Iterations int               `json:"iterations"`
	Runtime    float64           `json:"runtime_seconds"`
	CostUSD    float64           `json:"cost_usd,omitempty"`
	Tokens     int64             `json:"tokens,omitempty"`
	Limits     core.Limits       `json:"limits"`
	Caps       core.Caps         `json:"caps"`
	Progress   string            `json:"progress"`
	Pending    []Waiting         `json:"pending,omitempty"`
	Answered   string            `json:"answered,omitempty"` // see [scratchpad.Summary.Answered]
	Decisions  []core.Decision   `json:"decisions"`
	Answers    []core.PastAnswer `json:"answers,omitempty"` // newest first
	Known      []core.KnownIssue `json:"known_issues"`
	Task       string            `json:"task,omitempty"`
	Subtasks   *core.Subtasks    `json:"subtasks,omitempty"`
	Blockers   []string          `json:"blockers,omitempty"`
	Warnings   []string          `json:"warnings,omitempty"`
	Withdrawn  []withdrawn       `json:"withdrawn,omitempty"`
	History    []*endedIteration `json:"history"`

	started time.Time
	live    bool
}

// Waiting is a waiting question: who asks it, since when, and the message of the command's
// signal or rejection, if that caused it.
type Waiting struct {
	Run        string               `json:"run_id" doc:"The run that asks."`
	Asked      time.Time            `json:"asked_at" doc:"Since when it waits."`
	Age        float64              `json:"age_seconds" doc:"How long that is, in seconds."`
	Task       string               `json:"task,omitempty" doc:"What is worked on."`
	Agent      string               `json:"agent,omitempty" doc:"Who works on it, as the signal or the rejection says."`
	Cause      string               `json:"cause,omitempty" doc:"Why it is asked: of a clarification its cause, of a rejection its reason."`
	Context    string               `json:"context,omitempty" doc:"What the command says one needs to know."`
	Considered []signal.Considered  `json:"options_considered,omitempty" doc:"What the command has thought of, and why it is not enough."`
	Attempts   []string             `json:"attempts_made,omitempty" doc:"What it has tried."`
	WouldHelp  string               `json:"what_would_help,omitempty" doc:"What it says would help."`
	Rejection  *rejection.Rejection `json:"rejection,omitempty" doc:"Why it says that the task cannot be done as given."`
	core.Question
}

// waiting returns the waiting questions, with what is known about them.
func waiting(s *core.State, asked map[string]time.Time) []Waiting {
	var list []Waiting
	for _, q := range s.Answerable() {
		w := Waiting{Run: s.RunID, Asked: asked[q.ID], Age: time.Since(asked[q.ID]).Round(time.Second).Seconds(), Task: s.Task, Question: q}
		switch sig, no := s.Signal, s.Rejected; {
		case sig != nil && (q.Guard == core.Blocked || q.Guard == core.Clarification):
			w.Task, w.Agent, w.Cause, w.Context = cmp.Or(sig.Task, s.Task), sig.Agent, sig.Cause, sig.Context
			w.Considered, w.Attempts, w.WouldHelp = sig.Considered, sig.Attempts, sig.WouldHelp
		case no != nil && q.Guard == core.Rejection:
			w.Task, w.Agent, w.Cause, w.Rejection = cmp.Or(no.Rejection.Task, s.Task), no.Rejection.Agent, string(no.Rejection.ReasonType), &no.Rejection
		}
		list = append(list, w)
	}
	return list
}

// endedIteration is an iteration with the time at which it ended.
type endedIteration struct {
	Time    time.Time `json:"time"`
	CostUSD float64   `json:"cost_usd,omitempty"` // that was reported while it ran
	Tokens  int64     `json:"tokens,omitempty"`
	core.IterationFinished
}

// withdrawn is an iteration that its worker lost or gave back.
type withdrawn struct {
	Time time.Time `json:"time"`
	core.IterationWithdrawn
}

// Load reads the run in dir, and its last number iterations; 0 means all.
func Load(dir string, number int) (*Run, error) {
	alive := scratchpad.Locked(dir)
	h := history{number: number, asked: map[string]time.Time{}}
	s := new(core.State)
	_, err := scratchpad.Replay(dir, func(e core.Event) error {
		h.add(s, e)
		return s.Apply(e)
	})
	if err != nil {
		return nil, err
	}
	if s.Seq == 0 {
		return nil, fmt.Errorf("the run in %s was killed before it started", dir)
	}
	answered := ""
	if !alive {
		answered = s.Unused()
	}
	return &Run{
		Answered: answered, RunID: s.RunID, Dir: dir, Name: s.Name, CostUSD: s.Cost, Tokens: s.Tokens, Status: scratchpad.Standing(s, alive), Ending: s.Ending,
		Command: s.Command, Check: s.Check, Iterations: s.Iterations, Runtime: s.Result().RuntimeSeconds,
		Limits: s.Limits, Caps: s.Caps, Progress: s.Summary(), Pending: waiting(s, h.asked),
		Decisions: s.Decisions, Answers: s.PastAnswers(), Known: s.Known, Warnings: s.Warnings, Task: s.Task, Subtasks: s.Decomposed(), Blockers: s.Blockers, Withdrawn: h.withdrawn, History: h.list, started: s.Started, live: alive,
	}, nil
}

// history extracts the last iterations from the events of a run.
type history struct {
	number    int // of iterations; 0: all
	list      []*endedIteration
	withdrawn []withdrawn
	cost      float64 // before the next one
	tokens    int64
	asked     map[string]time.Time // questions, when they were
}

func (h *history) add(s *core.State, e core.Event) {
	switch d := e.Data.(type) {
	case core.QuestionAsked:
		h.asked[d.ID] = e.Time
	case core.IterationFinished:
		h.list = append(h.list, &endedIteration{e.Time, s.Cost - h.cost, s.Tokens - h.tokens, d})
		h.cost, h.tokens = s.Cost, s.Tokens
		h.list = last(h.list, h.number)
	case core.IterationWithdrawn:
		h.withdrawn = last(append(h.withdrawn, withdrawn{e.Time, d}), h.number)
	}
}

// last returns the last n of a list; all if n is not positive.
func last[T any](list []T, n int) []T {
	if n <= 0 {
		return list
	}
	return slices.Delete(list, 0, max(0, len(list)-n))
}

// Text prints the run for a person. With exact, times are absolute and texts are not cut.
func (r *Run) Text(p *console.Printer, now time.Time, exact bool) error {
	t := &console.Table{Columns: []console.Column{{}, {Least: 20}}}
	status := string(r.Status)
	if r.Ending != nil {
		status = core.Ending{Status: r.Status, Guard: r.Ending.Guard}.String()
	}
	if r.Answered != "" {
		status += ", answered: " + r.Answered
	}
	line := func(key, format string, args ...any) {
		t.Add(console.Entry{Text: key}, console.Entry{Text: fmt.Sprintf(format, args...)})
	}
	line("run", "%s", r.RunID)
	if r.Name != "" {
		line("name", "%s", r.Name)
	}
	t.Add(console.Entry{Text: "status"}, console.Entry{Text: status, Colour: console.StatusColour(r.Status)})
	line("started", "%s", console.Moment(now, r.started, exact))
	line("command", "%s", core.CommandLine(r.Command))
	if len(r.Check) > 0 {
		line("check", "%s", core.CommandLine(r.Check))
	}
	line("iterations", "%d", r.Iterations)
	line("runtime", "%s", plural.Round(time.Duration(r.Runtime*float64(time.Second))))
	if r.CostUSD > 0 {
		line("cost", "$%.2f", r.CostUSD)
	}
	if r.Tokens > 0 {
		line("tokens", "%d", r.Tokens)
	}
	line("progress", "%s", r.Progress)
	if r.Task != r.Name {
		line("task", "%s", r.Task)
	}
	if r.Subtasks != nil {
		line("sub-tasks", "%s", r.Subtasks)
	}
	for _, b := range r.Blockers {
		line("deferred for", "%s", b)
	}
	if !scratchpad.IsCopy(r.Dir) { // else it has little more than this page, and may go at once
		line("directory", "%s", console.Relative(r.Dir))
	}
	for i, a := range r.Answers {
		line([]string{"decisions", ""}[min(i, 1)], "%s, %s", console.Moment(now, a.Time, exact), a)
	}
	for i, w := range r.Withdrawn {
		line([]string{"withdrawn", ""}[min(i, 1)], "%s, iteration %d: %s", console.Moment(now, w.Time, exact), w.Iteration, w.Reason)
	}
	for _, w := range r.Warnings {
		line("warning", "%s", w)
	}
	for _, k := range r.Known {
		line("skipped", "%s", k.Label)
	}
	if exact {
		t.Columns[1].Least = 0
	}
	t.Print(p)
	if len(r.History) > 0 {
		r.history(now, exact).Print(p)
	}
	if n := len(r.History); n > 0 && n < r.Iterations {
		fmt.Fprintf(p, "the last %d of %d iterations; -n 0 shows all\n", n, r.Iterations)
	}
	if len(r.Pending) > 0 {
		fmt.Fprintln(p)
		return r.Questions(p)
	}
	return nil
}

// history returns the table of the iterations, after an empty line.
func (r *Run) history(now time.Time, exact bool) *console.Table {
	t := &console.Table{Space: true, Columns: []console.Column{
		{Title: "ITERATION", Right: true, Least: 4},
		{Title: "ENDED", Drop: 3},
		{Title: "OUTCOME"},
		{Title: "EXIT", Right: true},
		{Title: "TOOK", Right: true, Drop: 2},
		{Title: "COST", Right: true, Drop: 4, Optional: true},
		{Title: "SIGNATURE", Least: 6, First: true, Drop: 1},
		{Title: "WHAT", Least: 20},
	}}
	t.AddAll(len(r.History), func(i int) []console.Entry {
		d := r.History[i]
		number := fmt.Sprint(d.Iteration)
		if d.Iteration == 0 {
			number = "precheck"
		}
		what := cmp.Or(d.Detail, d.Says())
		if !exact {
			what = console.Short(what, 60)
		}
		return []console.Entry{
			{Text: number},
			{Text: console.Moment(now, d.Time, exact), Colour: console.Dim},
			{Text: strings.ReplaceAll(string(d.Outcome), "_", " "), Colour: outcomeColour(d.Outcome)},
			{Text: fmt.Sprint(d.ExitCode)},
			{Text: console.RoundMS(d.DurationMS)},
			{Text: d.spent()},
			{Text: d.Signature.Hash.String()},
			{Text: what},
		}
	})
	return t
}

// spent returns the cost of the iteration, in dollars if known.
func (d *endedIteration) spent() string {
	switch {
	case d.CostUSD > 0:
		return fmt.Sprintf("$%.2f", d.CostUSD)
	case d.Tokens > 0:
		return statusline.Tokens(d.Tokens)
	}
	return ""
}

func outcomeColour(o core.Outcome) string {
	return map[core.Outcome]string{core.OutcomeDone: console.Green, core.OutcomeError: console.Red}[o]
}

// Questions prints the waiting questions, and how to answer them.
func (r *Run) Questions(w io.Writer) error {
	var b strings.Builder
	program := "looprun"
	if scratchpad.IsCopy(r.Dir) {
		program = "looprun-fleet"
	}
	for i, q := range r.Pending {
		if i > 0 {
			b.WriteByte('\n')
		}
		WriteQuestion(&b, q.Question)
	}
	for i, q := range r.Pending {
		if i == 0 {
			b.WriteByte('\n')
		}
		which := ""
		if r.live || len(r.Pending) > 1 {
			which = " --question " + termsafe.Line(q.ID)
		}
		words := ""
		if o, ok := q.GoesOn(); ok && q.WantsWords(o) {
			words = " --guidance 'TEXT'"
		}
		option := append(session.OptionsOf(q.Question), "OPTION")[0]
		fmt.Fprintf(&b, "answer with: %s answer %s %s%s%s\n", program, r.RunID, termsafe.Line(option), words, which)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteQuestion writes a question in plain lines: what stopped the run or is asked, the
// details, and the ids that answer it.
func WriteQuestion(b *strings.Builder, q core.Question) {
	title := termsafe.Line(q.Header)
	if q.From == "" {
		title = termsafe.Line(q.Text)
	}
	fmt.Fprintf(b, "%s (%s)\n", title, termsafe.Line(q.ID))
	if q.From != "" {
		fmt.Fprintln(b, termsafe.Line(q.Text))
	}
	for _, d := range q.Details {
		fmt.Fprintln(b, strings.TrimRight("  "+strings.ReplaceAll(termsafe.Text(d), "\n", "\n  "), " "))
	}
	if q.From == "" {
		b.WriteByte('\n')
	}
	switch {
	case q.Kind == core.KindConfirm && len(q.Options) == 0:
		b.WriteString("  yes\n  no\n")
	case q.Kind == core.KindText:
		b.WriteString("  --text TEXT\n")
	}
	var ids, labels []string
	for _, o := range q.Options {
		if o.Action == core.ActionReview { // a person's at the terminal
			continue
		}
		ids, labels = append(ids, termsafe.Line(o.ID)), append(labels, termsafe.Line(o.Label))
	}
	if o, ok := q.GoesOn(); ok {
		ids, labels = append(ids, "--guidance TEXT"), append(labels, "Type what to do, and continue ("+termsafe.Line(o.Label)+")")
	}
	width := 0
	for _, id := range ids {
		width = max(width, cells.Width(id))
	}
	for i, id := range ids {
		fmt.Fprintf(b, "  %s  %s\n", cells.Pad(id, width), labels[i])
	}
}
