package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/escalate/user"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/project"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/scratchpad"
)

// initCmd writes an initial configuration and policy.
type initCmd struct {
	Yes    bool             `short:"y" help:"Ask nothing: take the first that is found of go, npm, cargo, pytest, make."`
	Check  config.ShellLine `placeholder:"LINE" help:"Shell line that judges whether it is done, in place of the project's tests."`
	Force  bool             `help:"Replace files that are there; each is kept beside the new one, with .bak at its end."`
	DryRun bool             `help:"Print the files and write nothing; nothing is asked."`
}

func (c *initCmd) Run(a *app) error {
	dir, err := config.CurrentDir()
	if err != nil {
		return err
	}
	s, err := c.setup(a, project.Detect(dir))
	if errors.Is(err, core.ErrInterrupted) {
		a.say.Printf("interrupted; nothing was written")
		a.code, a.raise = core.StatusInterrupted.ExitCode(), session.Raise(syscall.SIGINT)
		return nil
	}
	if err != nil {
		return err
	}
	files, err := c.files(s)
	if err != nil {
		return err
	}
	if c.DryRun {
		return printFiles(a, files)
	}
	above := config.Nearest(dir)
	done, err := project.Write(dir, files, c.Force)
	if err != nil {
		return err
	}
	if err := config.Agree(filepath.Join(dir, config.Name), a.say.Warn); err != nil {
		return err
	}
	for _, w := range done {
		fmt.Fprintln(a.stdout, w)
	}
	if above != filepath.Join(dir, config.Name) && inputfile.IsFile(above) {
		a.say.Warn("%s applied here until now; the new file replaces it", config.SeenFrom(dir, above))
	}
	if len(done) == 0 {
		a.say.News("nothing to write: the files are up to date")
	}
	a.say.Printf("next, with your own command in place of ./fix.sh:\n  looprun --dry-run -- ./fix.sh\n  looprun -- ./fix.sh")
	return nil
}

// setup determines what to write: from the flags, from the existing project, and from the
// person.
func (c *initCmd) setup(a *app, found []project.Project) (project.Setup, error) {
	s := project.Setup{Check: string(c.Check), Iterations: "10", Policy: true}
	if c.Check == "" && len(found) > 0 {
		s.Choose(found[0])
	}
	if !c.Yes && !c.DryRun {
		ctx, stop := session.WatchSignals(context.Background(), func() {})
		defer stop()
		if err := askSetup(ctx, a, &s, found, c.Check != ""); err != nil {
			return s, err
		}
	}
	if s.Check == "" {
		return s, config.Usage("there is no go.mod, no package.json with a test script, no Cargo.toml, nothing for pytest and no Makefile with the target test here", "give the check with --check LINE")
	}
	if strings.ContainsAny(s.Check, "\r\n\x00") {
		return s, config.Usage("--check has more than one line", "put them into a script and name that")
	}
	return s, nil
}

// files returns the files to write. looprun.yaml comes last: the others mean nothing without
// it.
func (c *initCmd) files(s project.Setup) ([]project.File, error) {
	var schema bytes.Buffer
	if err := config.WriteSchema(&schema); err != nil {
		return nil, err
	}
	files := []project.File{
		{Name: project.IgnoreName, Data: []byte(project.IgnoreText), Replaces: []byte("*\n")},
		{Name: project.ConfigSchema, Data: schema.Bytes()},
	}
	if s.Policy {
		files = append(files, project.File{Name: project.PolicySchema, Data: policy.Schema()}, project.File{Name: project.PolicyName, Data: s.PolicyText()})
	}
	return append(files, project.File{Name: config.Name, Data: s.ConfigText()}), nil
}

// printFiles prints the files that people would edit; it only names the schemas.
func printFiles(a *app, files []project.File) error {
	for _, f := range files {
		text := f.Data
		if strings.HasPrefix(f.Name, scratchpad.StateDirName) {
			text = nil
		}
		if _, err := fmt.Fprintf(a.stdout, "==> %s\n%s", f.Name, text); err != nil {
			return err
		}
	}
	return nil
}

// interview asks only the person at the terminal: input piped into looprun is not an answer.
type interview struct {
	ctx  context.Context
	user core.Responder
}

// askSetup asks for what cannot be detected. Enter alone accepts what was found.
func askSetup(ctx context.Context, a *app, s *project.Setup, found []project.Project, given bool) error {
	o := user.Options{NoColor: !a.say.PromptColours(), Plain: a.say.Flags.Prompt == "plain"}
	if err := user.Available(o); err != nil {
		return config.Usage(whyNobody(err), "use --yes to take what is found here, or --dry-run to see it first")
	}
	i := interview{ctx, user.New(o)}
	if !given {
		if err := i.project(s, found); err != nil {
			return err
		}
		check, err := i.text("Done", "Which shell line judges whether it is done? Exit code 0 means that it is.", s.Check, nil, wantLine)
		if err != nil {
			return err
		}
		if check != s.Check {
			s.Check, s.Verify, s.Found = check, "", ""
		}
	}
	var err error
	s.Iterations, err = i.text("Limit", "How many iterations may a run have? A number, or off.", s.Iterations, nil, wantCount)
	if err != nil {
		return err
	}
	s.Policy, err = i.confirm("CI", "Also write a policy, which answers if nobody can be asked?")
	return err
}

// project asks which project is meant if several were found.
func (i interview) project(s *project.Setup, found []project.Project) error {
	if len(found) < 2 {
		return nil
	}
	var kinds, details []string
	for _, p := range found {
		kinds = append(kinds, p.Kind)
		details = append(details, fmt.Sprintf("%s: %s (%s)", p.Kind, p.Check, p.File))
	}
	kind, err := i.text("Project", "There are "+strings.Join(kinds, ", ")+" here. Which of them is to be tested?", kinds[0], details, func(word string) error {
		if slices.Contains(kinds, word) {
			return nil
		}
		return fmt.Errorf("%q is none of them; %s", word, nearest.DidYouMean(word, kinds))
	})
	if err != nil {
		return err
	}
	for _, p := range found {
		if p.Kind == kind {
			s.Choose(p)
		}
	}
	return nil
}

// text asks until the answer is valid.
func (i interview) text(header, question, preset string, details []string, wrong func(string) error) (string, error) {
	q := core.Question{ID: "init", Kind: core.KindText, Header: "looprun init · " + header, Text: question, Default: preset, Details: details}
	for {
		a, err := i.user.Respond(i.ctx, q, nil)
		if err != nil {
			return "", i.failed(err)
		}
		if a.Text == nil {
			return "", errors.New("the prompt gave no text; nothing was written")
		}
		err = wrong(*a.Text)
		if err == nil {
			return *a.Text, nil
		}
		q.Details = append(details[:len(details):len(details)], "That does not work: "+err.Error()+".")
	}
}

func (i interview) confirm(header, question string) (bool, error) {
	word, err := i.text(header, question+" yes or no", core.Yes, nil, func(word string) error {
		if word == core.Yes || word == core.No {
			return nil
		}
		return fmt.Errorf("%q is neither yes nor no", word)
	})
	return word == core.Yes, err
}

// failed makes sure that the person learns what happened to the files.
func (i interview) failed(err error) error {
	if errors.Is(err, core.ErrInterrupted) || i.ctx.Err() != nil {
		return core.ErrInterrupted
	}
	return fmt.Errorf("nothing was written: %w", err)
}

func wantLine(line string) error {
	if strings.TrimSpace(line) == "" {
		return errors.New("it is empty")
	}
	return nil
}

func wantCount(word string) error {
	var n config.CountLimit
	return n.UnmarshalText([]byte(word))
}
