package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/user"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/templates"
)

// templateCmd is for authors of questions.
type templateCmd struct {
	List    templateListCmd    `cmd:"" help:"List the templates and their options."`
	Show    templateShowCmd    `cmd:"" help:"Print a template's file."`
	Init    templateInitCmd    `cmd:"" help:"Write a commented pack to begin with."`
	Check   templateCheckCmd   `cmd:"" help:"Validate files or folders of templates."`
	Test    templateTestCmd    `cmd:"" help:"Compare all screens of a pack with those kept in its folder golden."`
	Preview templatePreviewCmd `cmd:"" help:"Show a question as it will look."`
	Schema  templateSchemaCmd  `cmd:"" help:"Print the JSON Schema and the variables."`
}

type packFlag struct {
	Templates []string `placeholder:"DIR" help:"Folder of templates over the built-in ones; repeatable." sep:"none" key:"templates"`
}

type templateListCmd struct {
	Format string `enum:"text,json" default:"text" help:"${enum}."`
	packFlag
}

func (c *templateListCmd) Run(a *app) error {
	set, err := templates.Load(c.Templates...)
	if err != nil {
		return err
	}
	if c.Format == "json" {
		return a.printJSON("listed-template", listedTemplates(set))
	}
	p := a.printer()
	return errors.Join(set.List(p), p.Flush())
}

// listedTemplate is a template as list prints it in JSON, with placeholders not filled in.
type listedTemplate struct {
	Guard     core.GuardID  `json:"guard"`
	Header    string        `json:"header"`
	Question  string        `json:"question"`
	Default   string        `json:"default,omitempty"`
	Exclusive bool          `json:"exclusive,omitempty"`
	Options   []core.Option `json:"options"`
	File      string        `json:"file"`
}

func listedTemplates(set *templates.Set) []listedTemplate {
	return convert.Each(set.Templates(), func(t *templates.Template) listedTemplate {
		options := convert.Each(t.Options, func(o templates.Option) core.Option { return o.Option })
		return listedTemplate{t.Guard, t.Header, t.Question, t.Default, t.Exclusive, options, t.File}
	})
}

type templateShowCmd struct {
	Guard  string `arg:"" help:"The guard whose question it is."`
	Merged bool   `help:"With what a file with extends takes from the built-in one."`
	packFlag
}

func (c *templateShowCmd) Run(a *app) error {
	set, err := templates.Load(c.Templates...)
	if err != nil {
		return err
	}
	return set.Show(a.stdout, core.GuardID(c.Guard), c.Merged)
}

type templateInitCmd struct {
	Dir string `arg:"" help:"The folder to write to; nothing in it is overwritten."`
}

func (c *templateInitCmd) Run(a *app) error {
	written, err := templates.Init(c.Dir)
	for _, name := range written {
		fmt.Fprintln(a.stdout, name)
	}
	return err
}

type templateCheckCmd struct {
	Paths    []string `arg:"" help:"Files or folders."`
	Complete bool     `help:"Also report questions and texts that a folder leaves to the built-in ones."`
	Format   string   `enum:"text,json,github,junit" default:"text" help:"${enum}."`
}

func (c *templateCheckCmd) Run(a *app) error {
	checked, err := templates.Examine(c.Complete, c.Paths...)
	strays(a, checked)
	return a.checked(c.Format, c.Paths, err, func(path string) string {
		for _, p := range checked {
			if about := p.About.String(); p.Path == path && about != "" {
				return ": " + about
			}
		}
		return ""
	})
}

// strays names the files of packs that are ignored.
func strays(a *app, packs []templates.Checked) {
	for _, p := range packs {
		for _, file := range p.Strays {
			a.say.Warn(session.StrayTemplate, file)
		}
	}
}

type templateTestCmd struct {
	Paths  []string `arg:"" help:"Folders of templates."`
	Update bool     `help:"Write the screens instead of comparing them."`
	Format string   `enum:"text,json,github,junit" default:"text" help:"${enum}."`
}

func (c *templateTestCmd) Run(a *app) error {
	var problems problem.List
	for _, dir := range c.Paths {
		screens, err := screensOf(dir)
		if err != nil {
			problems = append(problems, problem.Of(err)...)
			continue
		}
		golden := filepath.Join(dir, "golden")
		if c.Update {
			if err := os.MkdirAll(golden, 0o755); err != nil {
				return err
			}
		}
		for _, name := range slices.Sorted(maps.Keys(screens)) {
			file := filepath.Join(golden, name+".txt")
			if c.Update {
				if err := os.WriteFile(file, []byte(screens[name]), 0o644); err != nil {
					return err
				}
				continue
			}
			if p, differs := compare(file, screens[name]); differs {
				problems = append(problems, p)
			}
		}
	}
	return a.checked(c.Format, c.Paths, problems.Err(), func(string) string { return "" })
}

// screensOf returns what a pack shows in made-up runs: the question of each guard on a terminal
// of 80 columns, and all other texts.
func screensOf(dir string) (map[string]string, error) {
	set, err := templates.Load(dir)
	if err != nil {
		return nil, err
	}
	var texts strings.Builder
	screens := map[string]string{}
	if err := set.WriteMessages(&texts); err != nil {
		return nil, err
	}
	screens["messages"] = texts.String()
	for _, t := range set.Templates() {
		q, err := set.Question(templates.Sample(t.Guard))
		if err != nil {
			return nil, err
		}
		name := strings.ReplaceAll(string(t.Guard), string(templates.AnyGuard), "other")
		if screens[name], err = user.Preview(q, 80, set); err != nil {
			return nil, err
		}
	}
	return screens, nil
}

// compare returns the first line in which a screen differs from the file.
func compare(file, screen string) (p problem.Problem, differs bool) {
	p = problem.Problem{File: file, Remedy: "looprun template test --update writes the screens again"}
	kept, err := os.ReadFile(file)
	if err != nil {
		p.Text = "cannot be read: the screen was never kept"
		return p, true
	}
	was, is := strings.Split(strings.ReplaceAll(string(kept), "\r\n", "\n"), "\n"), strings.Split(screen, "\n")
	for i := range max(len(was), len(is)) {
		old, now := "nothing", "nothing"
		if i < len(was) {
			old = fmt.Sprintf("%q", was[i])
		}
		if i < len(is) {
			now = fmt.Sprintf("%q", is[i])
		}
		if old != now {
			p.Line, p.Text = i+1, fmt.Sprintf("the screen has %s, kept is %s", now, old)
			return p, true
		}
	}
	return p, false
}

type templatePreviewCmd struct {
	Guard    string `arg:"" optional:"" help:"The guard whose question is shown."`
	Messages bool   `help:"Show every text of messages.yaml instead."`
	ID       string `name:"run" placeholder:"RUN" help:"Fill it in from this run (a made-up one without)."`
	State    string `placeholder:"FILE" help:"Fill it in from this state, as looprun show --format state prints it." excludes:"--run"`
	Format   string `enum:"terminal,json" default:"terminal" help:"${enum}: as the prompt shows it on a terminal, or JSON (${default})."`
	Width    int    `default:"80" help:"Columns of the terminal (${default})."`
	packFlag
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *templatePreviewCmd) Run(a *app) error {
	if (c.Guard == "") != c.Messages {
		return config.Usage("template preview shows the question of one guard, or with --messages all other texts", "name a guard, or see looprun template preview --help")
	}
	set, err := templates.Load(c.Templates...)
	switch {
	case err != nil:
		return err
	case c.Messages:
		return set.WriteMessages(a.stdout)
	}
	guard := core.GuardID(c.Guard)
	if err := templates.KnownGuard(guard); err != nil {
		return err
	}
	state, trip := templates.Sample(guard)
	switch {
	case c.ID != "" && c.State != "":
		return config.Usage("--run and --state exclude each other", "use one of them")
	case c.ID != "":
		dir, err := a.find(c.StateDir, c.ID)
		if err != nil {
			return err
		}
		if state, _, err = scratchpad.Load(dir); err != nil {
			return err
		}
	case c.State != "":
		if state, err = readState(c.State); err != nil {
			return err
		}
	}
	if c.ID != "" || c.State != "" {
		trip = core.Trip{Guard: guard, Iteration: state.Iterations, Reason: "shown as a preview"}
		if t := state.LastTrip; t != nil && t.Guard == guard {
			trip = *t
		}
	}
	q, err := set.Question(state, trip)
	if err != nil {
		return err
	}
	if c.Format == "json" {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(q)
	}
	text, err := user.Preview(q, c.Width, set)
	if err != nil {
		return err
	}
	return a.print(text)
}

type templateSchemaCmd struct {
	Of string `arg:"" optional:"" enum:"template,messages,variables" default:"template" help:"What to print: ${enum} (${default})."`
}

func (c *templateSchemaCmd) Run(a *app) error {
	switch c.Of {
	case "messages":
		return templates.WriteMessagesSchema(a.stdout)
	case "variables":
		return templates.WriteVariables(a.stdout)
	}
	return templates.WriteSchema(a.stdout)
}
