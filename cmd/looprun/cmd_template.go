package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/user"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/templates"
)

// templateCmd is for authors of questions.
type templateCmd struct {
	List    templateListCmd    `cmd:"" help:"List the templates and their options."`
	Show    templateShowCmd    `cmd:"" help:"Print a template's file."`
	Init    templateInitCmd    `cmd:"" help:"Write a commented pack to begin with."`
	Check   templateCheckCmd   `cmd:"" help:"Validate files or folders of templates."`
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

func (templateListCmd) Help() string {
	return `Example:
  looprun template list --templates my-pack`
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
	var list []listedTemplate
	for _, t := range set.Templates() {
		l := listedTemplate{Guard: t.Guard, Header: t.Header, Question: t.Question, Default: t.Default, Exclusive: t.Exclusive, File: t.File}
		for _, o := range t.Options {
			l.Options = append(l.Options, o.Option)
		}
		list = append(list, l)
	}
	return list
}

type templateShowCmd struct {
	Guard string `arg:"" help:"The guard whose question it is."`
	packFlag
}

func (templateShowCmd) Help() string {
	return `Example:
  looprun template show loop_detected`
}

func (c *templateShowCmd) Run(a *app) error {
	set, err := templates.Load(c.Templates...)
	if err != nil {
		return err
	}
	return set.Show(a.stdout, core.GuardID(c.Guard))
}

type templateInitCmd struct {
	Dir string `arg:"" help:"The folder to write to; nothing in it is overwritten."`
}

func (templateInitCmd) Help() string {
	return `Example:
  looprun template init my-pack`
}

func (c *templateInitCmd) Run(a *app) error {
	written, err := templates.Init(c.Dir)
	for _, name := range written {
		fmt.Fprintln(a.stdout, name)
	}
	return err
}

type templateCheckCmd struct {
	Paths []string `arg:"" help:"Files or folders."`
}

func (templateCheckCmd) Help() string {
	return `Example:
  looprun template check my-pack`
}

func (c *templateCheckCmd) Run(a *app) error {
	if err := templates.Check(c.Paths...); err != nil {
		return err
	}
	for _, path := range c.Paths {
		a.say.News("%s is correct", path)
	}
	return nil
}

type templatePreviewCmd struct {
	Guard  string `arg:"" help:"The guard whose question is shown."`
	ID     string `name:"run" placeholder:"RUN" help:"Fill it in from this run (a made-up one without)."`
	State  string `placeholder:"FILE" help:"Fill it in from this state, as looprun show --format state prints it." excludes:"--run"`
	Format string `enum:"text,terminal,json" default:"terminal" help:"${enum}: plain text, as the prompt shows it on a terminal, or JSON (${default})."`
	Width  int    `default:"80" help:"Columns of the terminal (${default})."`
	packFlag
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (templatePreviewCmd) Help() string {
	return `Example:
  looprun template preview loop_detected --templates my-pack`
}

func (c *templatePreviewCmd) Run(a *app) error {
	guard := core.GuardID(c.Guard)
	if err := templates.KnownGuard(guard); err != nil {
		return err
	}
	set, err := templates.Load(c.Templates...)
	if err != nil {
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
	if c.Format != "terminal" {
		return set.Render(a.stdout, q, templates.Format(c.Format))
	}
	text, err := user.Preview(q, c.Width)
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.stdout, text)
	return err
}

type templateSchemaCmd struct {
	Of string `arg:"" optional:"" enum:"template,messages,variables" default:"template" help:"What to print: ${enum} (${default})."`
}

func (templateSchemaCmd) Help() string {
	return `Example:
  looprun template schema variables`
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
