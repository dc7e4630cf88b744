package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/review"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/scratchpad"
)

// showCmd shows what happened in a run.
type showCmd struct {
	ID       string `arg:"" optional:"" name:"run" help:"The run: its id or a part of it (the latest)."`
	Number   int    `short:"n" default:"50" help:"How many of the last iterations to show; 0 for all (${default})."`
	Pending  bool   `help:"Show only the questions that wait for an answer."`
	Follow   bool   `short:"f" help:"Show what happens, as it happens, until the run ends; with --format json an event a line." excludes:"--pending"`
	Format   string `enum:"text,json,state,ask-user-question" default:"text" help:"${enum}: state is all that is known, for policy test and template preview; the last, with --pending, is for interfaces that take questions in that form."`
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
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
	run, err := review.Load(dir, c.Number)
	if err != nil {
		return err
	}
	if c.Format == "json" {
		if c.Pending {
			return a.printJSON("pending", run.Pending)
		}
		return a.printJSON("run", run)
	}
	if c.Pending && len(run.Pending) == 0 {
		a.code = 1
		a.say.Printf("no question waits for an answer")
		return nil
	}
	if c.Format == "ask-user-question" {
		return c.export(a, run)
	}
	if c.Pending {
		return run.Questions(a.stdout)
	}
	p := a.printer()
	if err := run.Text(p, time.Now(), a.say.Flags.Verbose); err != nil {
		return err
	}
	return p.Page()
}

// export prints the pending questions for another program's interface.
func (c *showCmd) export(a *app, r *review.Run) error {
	if !c.Pending {
		return config.Usage("--format ask-user-question is for questions", "add --pending")
	}
	var questions []ask.Question
	for _, q := range r.Pending {
		asked := session.ChatQuestion(q.Question)
		asked.Header = cmp.Or(asked.Header, "Question")
		questions = append(questions, asked)
	}
	text, left := ask.AskUserQuestion(questions)
	for _, name := range left {
		a.say.Warn("left out: %s (the form takes 4 questions with 2 to 4 options); use looprun answer", name)
	}
	if text == nil {
		a.code = 1
		a.say.Printf("no question fits the form")
	}
	return a.print(string(text))
}

// follow prints the events of a run until it ends.
func (c *showCmd) follow(a *app, dir string) error {
	switch {
	case c.Pending:
		return config.Usage("--follow and --pending exclude each other", "use one of them")
	case c.Format != "text" && c.Format != "json":
		return config.Usage("--follow has no --format "+c.Format, "use text or json")
	}
	// Print events as they are printed while a run is in progress, with their time instead of
	// the name.
	f := review.Following{W: a.stdout, JSON: c.Format == "json", Number: c.Number, Say: &console.Observer{Messages: console.Messages{
		Flags: console.Flags{Verbose: true}, Colour: console.Colours(a.say.Flags.Color, console.IsTerminal(a.files.stdout), os.Getenv),
	}}}
	killed, err := f.Follow(dir)
	if killed != "" {
		a.code = 1
		a.say.Printf("run %s was killed; continue with looprun resume %[1]s", killed)
	}
	return err
}

// find returns the directory of a run to show: without an id the latest, preferring the user's
// own runs. For somebody else's run it prints a notice, since that run's contents are not
// trustworthy.
func (a *app) find(flag, id string) (string, error) {
	state, err := config.StateDir(flag)
	if err != nil || id != "" {
		return session.Find(flag, id)
	}
	dir, mine, err := scratchpad.Latest(state, scratchpad.Outermost)
	if err != nil || dir == "" {
		return session.Find(flag, "") // it says why there is none
	}
	if !mine {
		a.say.Warn("run %s, the latest, is not known to be yours; its content may be forged", filepath.Base(dir))
	}
	return dir, nil
}
