package main

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/looprun/looprun/internal/provenance"
	"github.com/looprun/looprun/internal/termsafe"
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
			a.say.News("%s is correct", s.name)
		}
	}
	a.needed(correct)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(correct) == 0 {
		a.say.News("there is no %s here, and neither you nor the system has one", configName)
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
			a.say.News("%s; it has yours", text)
		} else if text != "" {
			a.say.News("%s; read it, then agree once with looprun --trust, or in CI with %s", text, f.trustLine())
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
		a.say.News("%s needs your consent %s before it is used; read it, then agree once with looprun --trust", f.name, what)
	}
	if err := c.check(); err != nil {
		a.say.Warn("%s", fmt.Sprint(a.config.locate(err)))
	}
}

type configShowCmd struct {
	options
	Format string `enum:"text,json" default:"text" help:"${enum}." env:"-"`
}

// Help shows an example below the flags.
func (configShowCmd) Help() string {
	return `Takes the flags of run, to see what they would change.

Example:
  looprun config show --max-iterations 20`
}

// shownOption is an option as config show prints it.
type shownOption struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// Origin is a flag, the name of a variable, file:line, or default.
	Origin   string `json:"origin"`
	Enforced bool   `json:"enforced,omitempty"`
}

func (c *configShowCmd) Run(a *app) error {
	a.config.apply(&c.options)
	rows := c.rows(a.config)
	if c.Format == "json" {
		if err := a.printJSON(rows); err != nil {
			return err
		}
	} else {
		w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "OPTION\tVALUE\tFROM")
		for _, r := range rows {
			if r.Enforced {
				r.Origin += " (enforced)"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", r.Key, cmp.Or(termsafe.Line(r.Value), "-"), termsafe.Line(r.Origin))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	c.note(a)
	return nil
}

func (c *configShowCmd) rows(config *configuration) []shownOption {
	computed := c.computed()
	var rows []shownOption
	for _, k := range configKeys(config.ctx.Model) {
		f := config.flag(flagOf(k.name))
		r := shownOption{Key: k.name, Value: valueText(f.Target), Origin: "default"}
		source := config.source(f)
		switch {
		case source != nil:
			r.Origin, r.Enforced = source.at(k.name), source.enforced()
		case config.given(f) != "":
			r.Origin = config.given(f)
		default:
			r.Origin = cmp.Or(config.presetOrigin(k.name), r.Origin)
			r.Value = cmp.Or(computed[k.name], r.Value)
		}
		if k.name == exitCodesKey {
			all := maps.Clone(c.ConfigExitCodes)
			if all == nil {
				all = map[string]int{}
			}
			maps.Copy(all, c.ExitCode)
			r.Value = valueText(reflect.ValueOf(all))
		}
		rows = append(rows, r)
	}
	part := func(key string, text func(*layer) string) {
		for _, l := range config.layers {
			if value := text(&l); value != "" {
				rows = append(rows, shownOption{Key: key, Value: value, Origin: l.at(key), Enforced: l.enforced()})
				return
			}
		}
	}
	part("signature", func(l *layer) string {
		if s := l.signature; s != nil {
			return fmt.Sprintf("%d mask, %d ignore, %d extract, %d reports", len(s.Mask), len(s.Ignore), len(s.Extract), len(s.Reports))
		}
		return ""
	})
	part("ladder", func(l *layer) string {
		var rungs []string
		for _, r := range l.ladder {
			rungs = append(rungs, string(r.Rung))
		}
		return strings.Join(rungs, ", ")
	})
	return rows
}

// computed are the values of options that are left out, where they are no
// constant of the flag.
func (c *configShowCmd) computed() map[string]string {
	s := &session{opts: &c.options}
	values := map[string]string{"kill_after": s.killAfter().String(), "detached": s.modeText()}
	if dir, err := s.stateDir(); err == nil {
		values["state_dir"] = dir
	}
	values["non_interactive"] = fmt.Sprint(c.silent() != "")
	values["delay"] = valueText(reflect.ValueOf(duration(c.backoff().Base)))
	l, caps, err := c.limits()
	if err != nil { // it is reported; the limits are what was given
		return values
	}
	for key, n := range map[string]int{
		"max_iterations": l.Iterations, "loop_threshold": l.Loop, "max_errors": l.Errors, "cap_iterations": caps.Iterations,
	} {
		values[key] = valueText(reflect.ValueOf(countLimit(n)))
	}
	values["max_runtime"] = valueText(reflect.ValueOf(durationLimit(l.Runtime)))
	values["cap_runtime"] = valueText(reflect.ValueOf(durationLimit(caps.Runtime)))
	if caps.Cost > 0 {
		values["cap_cost"] = valueText(reflect.ValueOf(moneyLimit(caps.Cost)))
	}
	if caps.Tokens > 0 {
		values["cap_tokens"] = valueText(reflect.ValueOf(tokenLimit(caps.Tokens)))
	}
	return values
}

// valueText is an option as one would write it.
func valueText(v reflect.Value) string {
	given := v.Kind() == reflect.Pointer // where it points to something
	if given {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch of := v.Interface().(type) {
	case duration, durationLimit:
		if v.IsZero() && !given {
			return ""
		}
	case []string:
		return strings.Join(of, ", ")
	case map[string]int:
		if len(of) == 0 {
			return ""
		}
		return shownValue(of)
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, _ := m.MarshalText() // it never fails
		return string(text)
	}
	return fmt.Sprint(v.Interface())
}
