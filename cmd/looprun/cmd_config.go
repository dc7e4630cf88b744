package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/session"
)

// configCmd works with looprun.yaml.
type configCmd struct {
	Show   configShowCmd   `cmd:"" help:"Print each option of run, its value, and where the value comes from."`
	Check  configCheckCmd  `cmd:"" help:"Validate the configuration; nothing is run."`
	Schema configSchemaCmd `cmd:"" help:"Print the JSON Schema of looprun.yaml."`
}

type configCheckCmd struct {
	File   string `arg:"" optional:"" help:"The file (all that count here)."`
	Format string `enum:"text,json,github,junit" default:"text" help:"${enum}."`
}

func (c *configCheckCmd) Run(a *app) error {
	correct, err := config.Check(c.File, a.config.Files().Config, func(o *config.Options) error {
		_, err := session.New(a.program(), o)
		return err
	})
	files := convert.Each(correct, func(f *config.File) string { return f.Name })
	a.config.Needed(correct)
	if err := a.checked(c.Format, files, err, func(string) string { return "" }); err != nil {
		return err
	}
	if len(correct) == 0 && c.Format == "text" {
		a.say.News("there is no %s here, and neither you nor the system has one", config.Name)
	}
	return nil
}

type configSchemaCmd struct{}

func (configSchemaCmd) Run(a *app) error {
	return config.WriteSchema(a.stdout)
}

type configShowCmd struct {
	config.Options `kong:"-"`
	Format         string `enum:"text,json" default:"text" help:"${enum}."`
}

func (c *configShowCmd) Run(a *app) error {
	a.config.Apply(&c.Options)
	rows := a.config.Show(&c.Options)
	if c.Format == "json" {
		if err := a.printJSON("setting", rows); err != nil {
			return err
		}
	} else {
		p := a.printer()
		if err := errors.Join(config.WriteShown(p, rows), p.Flush()); err != nil {
			return err
		}
	}
	a.config.Unagreed()
	if err := c.Wrong(); err != nil {
		a.say.Warn("%s", fmt.Sprint(a.config.Locate(err)))
	}
	return nil
}

// shownIn returns what config show prints in a folder, with these flags of run. It makes the
// folder the current one; empty is the current one.
func shownIn(dir string, flags []string) ([]config.Shown, error) {
	if dir != "" {
		if err := os.Chdir(dir); err != nil {
			return nil, err
		}
	}
	a, c, err := quietly[configShowCmd](append([]string{"config", "show"}, flags...))
	if err != nil {
		return nil, err
	}
	a.config.Apply(&c.Options)
	return a.config.Show(&c.Options), nil
}
