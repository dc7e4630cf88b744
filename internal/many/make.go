package many

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/loops"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/xdg"
)

// Order describes the batch that the user requested.
type Order struct {
	Loops []loops.Loop
	// From is the folder that the loops' paths are relative to: the one of their file.
	From string
	// Here is the folder whose repository is used by a loop that names none.
	Here string
	// Given holds the keys for every run; they take precedence over a loop's own.
	Given config.Given
	// State is where the runs are kept, and Trees where work trees are created; empty means in
	// the user's state folder.
	State, Trees string
	Version      string
	Limits
}

// Over replaces limits with those that a file sets.
func (l *Limits) Over(f *loops.File) {
	l.Jobs = cmp.Or(f.Jobs, l.Jobs)
	if f.MaxCost != nil {
		l.Cost = max(0, float64(*f.MaxCost))
	}
	if f.MaxTokens != nil {
		l.Tokens = max(0, int64(*f.MaxTokens))
	}
	if f.MinFree != nil {
		l.MinFree = int64(*f.MinFree)
	}
	if f.Keep != nil {
		l.Keep = time.Duration(*f.Keep)
	}
}

// FromFile adopts the loops and the limits of a file.
func (o *Order) FromFile(name string) error {
	f, err := loops.Read(name)
	if err != nil {
		return err
	}
	o.Loops = f.Loops
	o.Over(f)
	o.From, err = filepath.Abs(filepath.Dir(name))
	return err
}

// FromLine creates a copy of one for each line that the shell line each prints, if there is
// one, and for each combination of values, written as KEY=A,B.
func (o *Order) FromLine(one loops.Loop, each config.ShellLine, matrix []string) (err error) {
	one.Matrix = map[string][]string{}
	for _, given := range matrix {
		key, values, _ := strings.Cut(given, "=")
		if !loops.IsKey(key) || one.Matrix[key] != nil {
			return config.Usage(fmt.Sprintf("--matrix: %q is not a name of letters, digits, - and _ that is given once", key), "write KEY=A,B")
		}
		one.Matrix[key] = strings.Split(values, ",")
	}
	if each != "" {
		if one.Matrix[loops.Item], err = items(each); err != nil {
			return err
		}
	}
	o.From = o.Here
	o.Loops, err = one.Each()
	return err
}

// items returns the lines that a shell line prints.
func items(line config.ShellLine) ([]string, error) {
	var out, said bytes.Buffer
	const most = 1 << 20
	exit := proc.Run(proc.Spec{Argv: proc.Shell(string(line)), Stdout: func(b []byte) {
		if out.Len() <= most {
			out.Write(b)
		}
	}, Stderr: func(b []byte) { said.Write(b) }, Timeout: 10 * time.Minute}, nil)
	if !exit.Well() {
		why := fmt.Sprintf("--for: the line failed with %d", exit.Code)
		if text := console.Short(strings.TrimSpace(said.String()), 300); text != "" {
			why += ": " + text
		}
		return nil, config.Usage(why, "it has to print one item a line, and exit with 0")
	}
	if out.Len() > most {
		return nil, config.Usage("--for: the line printed more than 1 MiB", "let it print one item a line")
	}
	var items []string
	for text := range strings.Lines(out.String()) {
		if item := strings.TrimSpace(text); item != "" && !slices.Contains(items, item) {
			items = append(items, item)
		}
	}
	if len(items) == 0 {
		return nil, config.Usage("--for: the line printed nothing", "let it print one item a line")
	}
	return items, nil
}

// Make builds the plan, and reports errors in it before anything runs. left holds the changed
// files that no loop sees, by repository.
func Make(ctx context.Context, o Order) (p *Plan, left map[string][]string, err error) {
	p = &Plan{Schema: planSchema, State: o.State, Trees: o.Trees, Version: o.Version, Limits: o.Limits}
	if p.Trees == "" {
		home := xdg.State()
		if home == "" {
			return nil, nil, config.Usage("there is no home directory for work trees", "name a folder with --trees DIR")
		}
		p.Trees = filepath.Join(home, "trees")
	}
	p.Trees, _ = filepath.Abs(p.Trees)
	if err := os.MkdirAll(p.Trees, 0o700); err != nil {
		return nil, nil, config.Usage(fmt.Sprintf("--trees: %v", err), "name a folder that can be written")
	}
	found := map[string]place{}
	left = map[string][]string{}
	for _, l := range o.Loops {
		planned, err := o.plan(ctx, l, found)
		if err != nil {
			return nil, nil, fmt.Errorf("loop %s: %w", l.Name, err)
		}
		p.Loops = append(p.Loops, planned)
	}
	trees, _ := filepath.EvalSymlinks(p.Trees) // it is there
	for _, at := range found {
		if in, _ := filepath.Rel(at.top, trees); filepath.IsLocal(in) {
			return nil, nil, config.Usage(fmt.Sprintf("the work trees would be in %s, within the repository %s", p.Trees, at.top), "name a folder outside of it with --trees DIR")
		}
		if left[at.top], err = changes(ctx, at.top); err != nil {
			return nil, nil, err
		}
		p.Missing = append(p.Missing, at.missing...)
	}
	p.name(time.Now())
	return p, left, nil
}

// place is a repository at a commit, with those of its submodules that are missing on this
// machine.
type place struct {
	top, commit string
	missing     []string
}

// plan returns one loop in the form in which it will be run.
func (o *Order) plan(ctx context.Context, l loops.Loop, found map[string]place) (Loop, error) {
	fail := func(err error) (Loop, error) { return Loop{}, err }
	repo := filepath.Join(o.From, l.Repo)
	switch {
	case l.Repo == "":
		repo = o.Here
	case filepath.IsAbs(l.Repo):
		repo = l.Repo
	}
	if strings.Contains(l.Repo, "://") || strings.HasPrefix(l.Repo, "git@") {
		return fail(config.Usage("repo: "+l.Repo+" is not on this machine", "clone it, and name the folder"))
	}
	ref := cmp.Or(l.Ref, "HEAD")
	key := repo + "\x00" + ref
	at, known := found[key]
	if !known {
		var err error
		if at.top, err = checkpoint.Top(ctx, repo); err != nil {
			return fail(config.Usage(err.Error(), "looprun many works on git repositories"))
		}
		if at.commit, err = checkpoint.Resolve(ctx, at.top, ref); err != nil {
			return fail(config.Usage(err.Error(), "commit something, or name another commit with ref"))
		}
		if _, at.missing, err = submodules(ctx, at.top, at.commit); err != nil {
			return fail(err)
		}
		found[key] = at
	}
	if info, err := os.Stat(filepath.Join(at.top, filepath.FromSlash(l.Dir))); err != nil || !info.IsDir() {
		return fail(config.Usage(fmt.Sprintf("dir %q is not a folder in %s", l.Dir, at.top), "name one that is there"))
	}
	for _, name := range l.Copy {
		info, err := os.Stat(filepath.Join(at.top, name))
		if err != nil {
			return fail(config.Usage("copy: "+err.Error(), "name a file that is there"))
		}
		if !info.Mode().IsRegular() {
			return fail(config.Usage("copy: "+name+" is not a regular file", "name a file"))
		}
	}
	flags, err := o.flags(l)
	if err != nil {
		return fail(err)
	}
	planned := Loop{
		Name: l.Name, Repository: at.top, Base: at.commit, Dir: l.Dir, Setup: string(l.Setup), Copy: l.Copy, Env: l.Env,
		Flags: append(flags, o.Given.Words(notForRuns...)...), Command: l.Command.Words,
	}
	if l.Command.Shell != "" {
		planned.Command = proc.Shell(string(l.Command.Shell))
	}
	return planned, nil
}

// notForRuns lists keys that apply to looprun many itself when given on its command line.
var notForRuns = []string{"shell", "check", "name", "state_dir", "result", "checkpoint", "wait_answer"}

// flags returns the flags that the loop itself gives its run.
func (o *Order) flags(l loops.Loop) ([]string, error) {
	return o.Given.Over(l.Keys(), notForRuns...).Words(o.From)
}

// Try lets looprun check the flags of the runs, each set of them once. Nothing is run. With
// trust the user consents to the looprun.yaml of each.
func (b *Batch) Try(ctx context.Context, trust bool) error {
	var consent []string
	if trust {
		consent = []string{"--trust"}
	}
	var tried [][]string
	for i := range b.Loops {
		l := &b.Loops[i]
		if slices.ContainsFunc(tried, func(t []string) bool { return slices.Equal(t, l.Flags) }) {
			continue
		}
		const enough = 50 // a matrix can make each of them differ
		if tried = append(tried, l.Flags); len(tried) > enough {
			return nil
		}
		var said bytes.Buffer
		args := slices.Concat([]string{b.Self, "run", "--dry-run", "--state-dir", b.State, "--detached", "defer", "--color", "never", "--name=" + l.Name}, consent, l.Flags, []string{"--"}, l.Command)
		exit := proc.Run(proc.Spec{Argv: args, Dir: filepath.Join(l.Repository, filepath.FromSlash(l.Dir)), Stderr: func(t []byte) { said.Write(t) }, Timeout: time.Minute}, nil)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !exit.Well() {
			text, _, _ := strings.Cut(said.String(), "\nlooprun:   ") // the line to call it by is this one's
			text = strings.ReplaceAll("\n"+strings.TrimSpace(text), "\nlooprun: ", "\n")
			return fmt.Errorf("loop %s: %s", l.Name, strings.TrimSpace(text))
		}
	}
	return nil
}

// Begin records the plan. release lets others execute it.
func (p *Plan) Begin(mask func(string) string) (release func() error, err error) {
	if err := p.write(mask); err != nil {
		return nil, err
	}
	return p.Take()
}
