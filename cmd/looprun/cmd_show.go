package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/statusline"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// showCmd shows what happened in a run.
type showCmd struct {
	ID       string `arg:"" optional:"" name:"run" help:"The run: its id or a part of it (the latest)."`
	Number   int    `short:"n" default:"50" help:"How many of the last iterations to show; 0 for all (${default})." env:"-"`
	Pending  bool   `help:"Show only the questions that wait for an answer."`
	Follow   bool   `short:"f" help:"Show what happens, as it happens, until the run ends; with --format json an event a line." env:"-" excludes:"pending"`
	Format   string `enum:"text,json,state,ask-user-question" default:"text" help:"${enum}: state is all that is known, for policy test and template preview; the last, with --pending, is for interfaces that take questions in that form." env:"-"`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

func (showCmd) Help() string {
	return `A long text is shown with $PAGER on a terminal. Columns are cut to its width; -v
shows them whole, with the moments at which iterations ended.

With --follow exit code 1 says that the run was killed: it is not there any more and
has not ended.

Example:
  looprun show --format json | jq .status
  looprun show --follow`
}

// shown is a run as show prints it in JSON.
type shownRun struct {
	Schema     string               `json:"schema"`
	RunID      string               `json:"run_id"`
	Dir        string               `json:"dir"`
	Name       string               `json:"name,omitempty"`
	Status     looprun.Status       `json:"status"`
	Ending     *looprun.Ending      `json:"ending,omitempty"`
	Command    []string             `json:"command"`
	Check      []string             `json:"check,omitempty"`
	Iterations int                  `json:"iterations"`
	Runtime    float64              `json:"runtime_seconds"`
	CostUSD    float64              `json:"cost_usd,omitempty"`
	Tokens     int64                `json:"tokens,omitempty"`
	Limits     looprun.Limits       `json:"limits"`
	Caps       looprun.Caps         `json:"caps"`
	Progress   string               `json:"progress"`
	Pending    []looprun.Question   `json:"pending,omitempty"`
	Decisions  []looprun.Decision   `json:"decisions"`
	Answers    []looprun.PastAnswer `json:"answers,omitempty"` // newest first
	Known      []looprun.KnownIssue `json:"known_issues"`
	Task       string               `json:"task,omitempty"`
	Subtasks   *looprun.Subtasks    `json:"subtasks,omitempty"`
	Blockers   []string             `json:"blockers,omitempty"`
	Warnings   []string             `json:"warnings,omitempty"`
	History    []endedIteration     `json:"history"`

	started time.Time
	live    bool
}

// endedIteration is an iteration and when it ended.
type endedIteration struct {
	Time    time.Time `json:"time"`
	CostUSD float64   `json:"cost_usd,omitempty"` // that was reported while it ran
	Tokens  int64     `json:"tokens,omitempty"`
	looprun.IterationFinished
}

func (c *showCmd) Run(a *app) error {
	dir, err := a.find(c.StateDir, c.ID)
	if err != nil {
		return err
	}
	if c.Follow {
		return c.follow(a, dir)
	}
	if c.Format == "state" {
		state, _, err := scratchpad.Load(dir)
		if err != nil {
			return err
		}
		return json.NewEncoder(a.stdout).Encode(state)
	}
	run, err := c.load(dir)
	if err != nil {
		return err
	}
	if c.Format == "ask-user-question" {
		return c.export(a, run)
	}
	if c.Format == "json" {
		if c.Pending {
			return a.printJSON(run.Pending)
		}
		return a.printJSON(run)
	}
	if c.Pending && len(run.Pending) == 0 {
		a.code = 1
		a.say.Printf("no question waits for an answer")
		return nil
	}
	if c.Pending {
		return run.pending(a.stdout)
	}
	p := a.printer()
	if err := run.text(p, time.Now(), a.say.Flags.Verbose); err != nil {
		return err
	}
	return p.Page()
}

// load reads the run; its history from the journal, as much as is asked for.
func (c *showCmd) load(dir string) (*shownRun, error) {
	alive := scratchpad.Locked(dir)
	var s looprun.State
	var history []endedIteration
	cost, tokens := 0.0, int64(0) // before the iteration
	tail, err := scratchpad.Replay(dir, func(e looprun.Event) error {
		if d, ok := e.Data.(looprun.IterationFinished); ok {
			history = append(history, endedIteration{e.Time, s.Cost - cost, s.Tokens - tokens, d})
			cost, tokens = s.Cost, s.Tokens
			if over := len(history) - c.Number; c.Number > 0 && over > 0 {
				history = append(history[:0], history[over:]...)
			}
		}
		return s.Apply(e)
	})
	if err != nil {
		return nil, err
	}
	if tail.Events == 0 {
		return nil, fmt.Errorf("the run in %s was killed before it started", dir)
	}
	return &shownRun{
		Schema: "looprun.dev/run/v1", RunID: s.RunID, Dir: dir, Name: s.Name, CostUSD: s.Cost, Tokens: s.Tokens, Status: scratchpad.Standing(&s, alive), Ending: s.Ending,
		Command: s.Command, Check: s.Check, Iterations: s.Iterations, Runtime: s.Result().RuntimeSeconds,
		Limits: s.Limits, Caps: s.Caps, Progress: s.Summary(), Pending: s.Answerable(),
		Decisions: s.Decisions, Answers: s.PastAnswers(), Known: s.Known, Warnings: s.Warnings, Task: s.Task, Subtasks: s.Decomposed(), Blockers: s.Blockers, History: history, started: s.Started, live: alive,
	}, nil
}

// text prints the run for a person. With exact, times are moments and texts whole.
func (r *shownRun) text(p *console.Printer, now time.Time, exact bool) error {
	t := &console.Table{Columns: []console.Column{{}, {Least: 20}}}
	status := string(r.Status)
	if r.Ending != nil && r.Ending.Guard != "" {
		status += fmt.Sprintf(" (%s)", r.Ending.Guard)
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
	line("command", "%s", console.CommandLine(r.Command))
	if len(r.Check) > 0 {
		line("check", "%s", console.CommandLine(r.Check))
	}
	line("iterations", "%d", r.Iterations)
	line("runtime", "%s", console.Round(time.Duration(r.Runtime*float64(time.Second))))
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
	line("directory", "%s", console.Relative(r.Dir))
	for i, a := range r.Answers {
		key := "decisions"
		if i > 0 {
			key = ""
		}
		line(key, "%s, %s", console.Moment(now, a.Time, exact), a)
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
		return r.pending(p)
	}
	return nil
}

// history is the table of the iterations, behind an empty line.
func (r *shownRun) history(now time.Time, exact bool) *console.Table {
	t := &console.Table{Space: true, Columns: []console.Column{
		{Title: "ITERATION", Right: true, Least: 4},
		{Title: "ENDED", Drop: 3},
		{Title: "OUTCOME"},
		{Title: "EXIT", Right: true},
		{Title: "TOOK", Right: true, Drop: 2},
		{Title: "SIGNATURE", Least: 6, First: true, Drop: 1},
		{Title: "WHAT", Least: 20},
	}}
	costs := slices.ContainsFunc(r.History, func(d endedIteration) bool { return d.spent() != "" })
	const costColumn = 5
	if costs {
		t.Columns = slices.Insert(t.Columns, costColumn, console.Column{Title: "COST", Right: true, Drop: 4})
	}
	for _, d := range r.History {
		number := fmt.Sprint(d.Iteration)
		if d.Iteration == 0 {
			number = "precheck"
		}
		what := cmp.Or(d.Detail, d.Says())
		if !exact {
			what = console.Short(what, 60)
		}
		row := []console.Entry{
			{Text: number},
			{Text: console.Moment(now, d.Time, exact), Colour: console.Dim},
			{Text: strings.ReplaceAll(string(d.Outcome), "_", " "), Colour: outcomeColour(d.Outcome)},
			{Text: fmt.Sprint(d.ExitCode)},
			{Text: console.RoundMS(d.DurationMS)},
			{Text: d.Signature.Hash.String()},
			{Text: what},
		}
		if costs {
			row = slices.Insert(row, costColumn, console.Entry{Text: d.spent()})
		}
		t.Add(row...)
	}
	return t
}

// spent is what the iteration cost, in dollars where that is known.
func (d *endedIteration) spent() string {
	switch {
	case d.CostUSD > 0:
		return fmt.Sprintf("$%.2f", d.CostUSD)
	case d.Tokens > 0:
		return statusline.Tokens(d.Tokens)
	}
	return ""
}

func outcomeColour(o looprun.Outcome) string {
	switch o {
	case looprun.OutcomeDone:
		return console.Green
	case looprun.OutcomeError:
		return console.Red
	}
	return ""
}

func (r *shownRun) pending(w io.Writer) error {
	var b strings.Builder
	for i, q := range r.Pending {
		if i > 0 {
			b.WriteByte('\n')
		}
		pendingText(&b, q)
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
		fmt.Fprintf(&b, "answer with: looprun answer %s %s%s%s\n", r.RunID, termsafe.Line(firstWord(session.OptionsOf(q))), words, which)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func firstWord(words []string) string {
	if len(words) == 0 {
		return "OPTION"
	}
	return words[0]
}

// export prints the pending questions for a person's interface.
func (c *showCmd) export(a *app, r *shownRun) error {
	if !c.Pending {
		return config.Usage("--format ask-user-question is for questions", "add --pending")
	}
	var questions []ask.Question
	for _, q := range r.Pending {
		asked := chatQuestion(q)
		asked.Header = cmp.Or(asked.Header, "Question")
		questions = append(questions, asked)
	}
	text, left := ask.AskUserQuestion(questions)
	for _, name := range left {
		a.say.Warn("left out, since that form takes 4 questions with 4 options each: %s", name)
	}
	_, err := a.stdout.Write(append(text, '\n'))
	return err
}

// followEvery is how often the journal of a run is looked at.
const followEvery = 250 * time.Millisecond

// follow prints what happens in a run until it ends: what has happened in its last
// iterations, and then each event as it comes.
func (c *showCmd) follow(a *app, dir string) error {
	switch {
	case c.Pending:
		return config.Usage("--follow and --pending exclude each other", "use one of them")
	case c.Format != "text" && c.Format != "json":
		return config.Usage("--follow has no --format "+c.Format, "use text or json")
	}
	journal, err := scratchpad.Follow(dir)
	if err != nil {
		return err
	}
	defer journal.Close()
	// Events are printed as they are while a run goes on, with their time in place of the name.
	f := &following{w: a.stdout, say: &console.Observer{Messages: console.Messages{
		Flags: console.Flags{Verbose: true}, Colour: console.Colours(a.say.Flags.Color, console.IsTerminal(a.files.stdout), os.Getenv),
	}}}
	f.past.most = c.Number
	for {
		alive := scratchpad.Locked(dir) // before the look: what a run writes last is still read
		n, err := journal.Next(func(e looprun.Event) error { return f.event(c.Format, e) })
		if err == nil {
			err = f.showPast()
		}
		switch {
		case err != nil:
			return console.Quietly(err)
		case !alive && n == 0 && f.state.Ended:
			return nil
		case !alive && n == 0:
			a.code = 1
			a.say.Printf("%s is not there any more: looprun was killed. looprun resume %s goes on", f.name(dir), f.name(dir))
			return nil
		case alive:
			time.Sleep(followEvery)
		}
	}
}

// following is what is known of a run that is followed.
type following struct {
	w     io.Writer
	say   *console.Observer
	state looprun.State
	past  past
}

func (f *following) name(dir string) string {
	if f.state.RunID == "" {
		return dir
	}
	return f.state.RunID
}

// event prints an event, or, while what has happened is read, keeps it.
func (f *following) event(format string, e looprun.Event) error {
	if err := f.state.Apply(e); err != nil {
		return err
	}
	if started, ok := e.Data.(looprun.IterationStarted); ok {
		f.past.begin(started.Iteration)
	}
	f.say.W = &f.past
	if f.past.over {
		f.say.W = f.w
	}
	if format == "json" {
		line, err := json.Marshal(e)
		if err == nil {
			_, err = f.say.W.Write(append(line, '\n'))
		}
		return err
	}
	f.say.Lead = e.Time.Local().Format(time.TimeOnly)
	if time.Since(e.Time) > 12*time.Hour {
		f.say.Lead = e.Time.Local().Format(time.DateTime)
	}
	f.say.Observe(e, &f.state)
	switch e.Data.(type) {
	case looprun.RunFinished, looprun.RunPaused:
		r := f.state.Result()
		f.say.Say(console.ToneOf(r.Status), "%s", console.Verdict(&f.state, r, r.ExitCode))
	}
	return nil
}

// showPast prints what was kept.
func (f *following) showPast() error {
	if f.past.over {
		return nil
	}
	f.past.over = true
	for _, text := range f.past.iterations {
		if _, err := f.w.Write(text); err != nil {
			return err
		}
	}
	f.past.iterations = nil
	return nil
}

// past keeps what is printed of the last iterations.
type past struct {
	most       int // iterations; 0: all
	over       bool
	iterations [][]byte
}

// begin begins the text of an iteration. What comes before the first is kept with
// it, and the text of the one that is too many goes.
func (p *past) begin(iteration int) {
	if p.over || iteration <= 1 && len(p.iterations) <= 1 {
		return
	}
	p.iterations = append(p.iterations, nil)
	if over := len(p.iterations) - p.most; p.most > 0 && over > 0 {
		p.iterations = append(p.iterations[:0], p.iterations[over:]...)
	}
}

func (p *past) Write(b []byte) (int, error) {
	if len(p.iterations) == 0 {
		p.iterations = append(p.iterations, nil)
	}
	last := len(p.iterations) - 1
	p.iterations[last] = append(p.iterations[last], b...)
	return len(b), nil
}

// find is the directory of a run that is looked at: without an id the latest, of
// the user's runs first. Of another's it says so, since that may say anything.
func (a *app) find(flag, id string) (string, error) {
	dir, err := session.Find(flag, id)
	if err == nil && id == "" && errors.Is(scratchpad.Mine(dir), scratchpad.ErrNotMine) {
		a.say.Warn("run %s, the latest, is not known to be yours: what it says may be made up", filepath.Base(dir))
	}
	return dir, err
}
