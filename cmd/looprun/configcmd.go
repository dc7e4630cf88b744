package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/provenance"
)

// configCmd is about looprun.yaml.
type configCmd struct {
	Show   configShowCmd   `cmd:"" help:"Print each option of run, its value, and where the value comes from."`
	Check  configCheckCmd  `cmd:"" help:"Say everything that is wrong with the configuration; nothing is run."`
	Schema configSchemaCmd `cmd:"" help:"Print the JSON Schema of looprun.yaml."`
}

type configCheckCmd struct {
	File string `arg:"" optional:"" help:"The file (all that count here)."`
}

// Help shows an example below the flags.
func (configCheckCmd) Help() string {
	return `Example:
  looprun config check looprun.yaml`
}

func (c *configCheckCmd) Run(a *app) error {
	sources := []configSource{{name: c.File, path: c.File}}
	if c.File == "" {
		var err error
		if sources, err = configSources(a.config.text("config")); err != nil {
			return err
		}
	} else if path, err := filepath.Abs(c.File); err == nil {
		sources[0].path = path
		sources[0].system = path == systemConfig
	}
	var errs []error
	var correct []*configFile
	for _, s := range sources {
		f, err := checkConfig(a, s)
		errs = append(errs, err)
		if f != nil && err == nil {
			correct = append(correct, f)
			a.say.news("%s is correct", s.name)
		}
	}
	a.needed(correct)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(correct) == 0 {
		a.say.news("there is no %s here, and neither you nor the system has one", configName)
	}
	return nil
}

// needed says of each file that runs can find which of its keys need consent, and
// how that is given.
func (a *app) needed(files []*configFile) {
	var all configuration
	all.add(files)
	for _, f := range files {
		if f.path != userConfig() {
			f.found = filepath.Base(f.path) == configName && !f.system
		}
		if f.found {
			f.doubt = provenance.Doubt(f.path)
		}
		if text := f.needs(all.risks(f)); text != "" && a.consented(a.config, f) {
			a.say.news("%s; it has yours", text)
		} else if text != "" {
			a.say.news("%s; read it, then agree once with looprun --trust, or in CI with %s", text, f.trustLine())
		}
	}
}

// needs says what in a file needs consent; empty for nothing.
func (f *configFile) needs(risks []risk) string {
	var keys []string
	for _, r := range risks {
		line, _ := f.doc.KeyPos(r.key)
		keys = append(keys, fmt.Sprintf("%s (line %d)", r.key, line))
	}
	text := strings.Join(slices.Compact(keys), ", ")
	switch {
	case !f.needsConsent(risks):
		return ""
	case f.doubt != "":
		return fmt.Sprintf("where %s is found it needs your consent, whatever it sets: %s", f.name, f.doubt)
	}
	return fmt.Sprintf("where %s is found it needs your consent for %s", f.name, text)
}

type configSchemaCmd struct{}

// Help shows an example below the flags.
func (configSchemaCmd) Help() string {
	return `Example:
  looprun config schema > looprun.schema.json`
}

func (configSchemaCmd) Run(a *app) error {
	return writeConfigSchema(a.stdout, configKeys(a.config.ctx.Model))
}

// stray warns of variables that look like a flag's and are none: they would be
// ignored without a word.
func (c *configuration) stray(warn func(string, ...any)) {
	if os.Getenv("LOOPRUN") != "" { // inside of a run there are variables for its command
		return
	}
	known := knownVariables(c.ctx.Model.Node)
	if !slices.ContainsFunc(os.Environ(), func(v string) bool { return unknownVariable(v, known) }) {
		return
	}
	whole, err := wholeModel() // the one at hand may be of looprun run alone
	if err != nil {
		return
	}
	for _, line := range strayVariables(os.Environ(), knownVariables(whole.Node)) {
		warn("%s", line)
	}
}

func knownVariables(n *kong.Node) []string {
	known := []string{trustVariable}
	for _, f := range n.Flags {
		known = append(known, f.Envs...)
	}
	for _, child := range n.Children {
		known = append(known, knownVariables(child)...)
	}
	return known
}

func (c *configShowCmd) note(a *app) {
	for _, f := range a.config.files {
		risks := a.config.risks(f)
		if !f.needsConsent(risks) || a.consented(a.config, f) {
			continue
		}
		what := fmt.Sprintf("for %d of its keys", len(risks))
		if f.doubt != "" {
			what = "(" + f.doubt + ")"
		}
		a.say.news("%s needs your consent %s before it is used; read it, then agree once with looprun --trust", f.name, what)
	}
	if err := c.check(); err != nil {
		a.say.warn("%s", fmt.Sprint(a.config.locate(err)))
	}
}
