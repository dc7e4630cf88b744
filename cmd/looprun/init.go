package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/scratchpad"
)

// initCmd writes a configuration and a policy to begin with.
type initCmd struct {
	Yes    bool      `short:"y" help:"Ask nothing: take what is found, the first in the order go, npm, cargo, pytest, make." env:"-"`
	Check  shellLine `placeholder:"LINE" help:"Shell line that says that it is done, in place of the project's tests." env:"-"`
	Force  bool      `help:"Replace files that are there; each is kept beside the new one, with .bak at its end." env:"-"`
	DryRun bool      `help:"Print the files and write nothing; nothing is asked." env:"-"`
}

// Help shows an example below the flags.
func (initCmd) Help() string {
	return `Looks for go.mod, package.json, Cargo.toml, pytest and a Makefile, asks what it cannot
know, and writes looprun.yaml, looprun.policy.yaml and the schemas with which an editor
checks them, in this folder. All of them are written, or none. You are taken to agree
to what looprun.yaml sets, so you need not say --trust.

Example:
  looprun init --yes`
}

// The names of the files that init writes, besides looprun.yaml.
const (
	initPolicy       = "looprun.policy.yaml"
	initSchemas      = scratchpad.StateDirName + "/schemas"
	initConfigSchema = initSchemas + "/looprun.schema.json"
	initPolicySchema = initSchemas + "/looprun.policy.schema.json"
	initIgnore       = scratchpad.StateDirName + "/.gitignore"
)

// setup is what the files are written from.
type setup struct {
	check      string
	verify     string // exits 0 when a partial result can be used; empty: none is known
	found      string // what it was found by
	iterations string
	policy     bool
}

func (c *initCmd) Run(a *app) error {
	dir, err := currentDir()
	if err != nil {
		return err
	}
	s, err := c.setup(a, detect(dir))
	if errors.Is(err, looprun.ErrInterrupted) {
		a.say.printf("interrupted; nothing was written")
		a.code, a.raise = looprun.StatusInterrupted.ExitCode(), raise(syscall.SIGINT)
		return nil
	}
	if err != nil {
		return err
	}
	files, err := c.files(a, s)
	if err != nil {
		return err
	}
	if c.DryRun {
		return printFiles(a, files)
	}
	above := nearestConfig(dir)
	done, err := writeFiles(dir, files, c.Force)
	if err != nil {
		return err
	}
	c.trust(a, dir, files[len(files)-1].data)
	for _, w := range done {
		fmt.Fprintln(a.stdout, w)
	}
	if above != filepath.Join(dir, configName) && isFile(above) {
		a.say.warn("%s counted here until now; from now on the new one does", seenFrom(dir, above))
	}
	if len(done) == 0 {
		a.say.news("everything is there already, as it would be written")
	}
	a.say.printf("next, with your own command in place of ./fix.sh:\n  looprun --dry-run -- ./fix.sh\n  looprun -- ./fix.sh")
	return nil
}

// setup finds out what to write: from the flags, from what is there, and from
// the person.
func (c *initCmd) setup(a *app, found []project) (setup, error) {
	s := setup{check: string(c.Check), iterations: "10", policy: true}
	if c.Check == "" && len(found) > 0 {
		s.choose(found[0])
	}
	if !c.Yes && !c.DryRun {
		ctx, stop := watchSignals(context.Background(), func() {})
		defer stop()
		if err := s.ask(ctx, a, found, c.Check != ""); err != nil {
			return s, err
		}
	}
	if s.check == "" {
		return s, &usageError{"there is no go.mod, no package.json with a test script, no Cargo.toml, nothing for pytest and no Makefile with the target test here", "say with --check LINE what tells that it is done"}
	}
	if strings.ContainsAny(s.check, "\r\n\x00") {
		return s, &usageError{"--check has more than one line", "put them into a script and name that"}
	}
	return s, nil
}

func (s *setup) choose(p project) { s.check, s.verify, s.found = p.check, p.verify, p.file }

// files are what is to be written. looprun.yaml comes last: the others mean
// nothing without it.
func (c *initCmd) files(a *app, s setup) ([]initFile, error) {
	var schema bytes.Buffer
	if err := writeConfigSchema(&schema, configKeys(a.config.ctx.Model)); err != nil {
		return nil, err
	}
	files := []initFile{
		{name: initIgnore, data: []byte(ignoreText), replaces: []byte("*\n")},
		{name: initConfigSchema, data: schema.Bytes()},
	}
	if s.policy {
		files = append(files, initFile{name: initPolicySchema, data: policy.Schema()}, initFile{name: initPolicy, data: s.policyText()})
	}
	return append(files, initFile{name: configName, data: s.configText()}), nil
}

// trust records the consent to the file that the user has just had written.
func (c *initCmd) trust(a *app, dir string, text []byte) {
	a.remember(&configFile{configSource: configSource{name: configName, path: filepath.Join(dir, configName)}, text: text})
}

// printFiles prints what people would edit; the schemas are only named.
func printFiles(a *app, files []initFile) error {
	for _, f := range files {
		text := f.data
		if strings.HasPrefix(f.name, scratchpad.StateDirName) {
			text = nil
		}
		if _, err := fmt.Fprintf(a.stdout, "==> %s\n%s", f.name, text); err != nil {
			return err
		}
	}
	return nil
}
