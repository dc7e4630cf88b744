package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// diffCmd shows what an iteration changed.
type diffCmd struct {
	ID        string `arg:"" name:"run" help:"The run: its id or a part of it."`
	Iteration *int   `arg:"" optional:"" name:"iteration" help:"The iteration (all of them, from the start of the run to its last)."`
	Stat      bool   `help:"Print the names of the files, and how much of each changed."`
	StateDir  string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *diffCmd) Run(a *app) error {
	_, kept, err := a.kept(c.StateDir, c.ID)
	if err != nil {
		return err
	}
	ctx, first := context.Background(), kept.iterations[0]
	to := kept.iterations[len(kept.iterations)-1]
	if c.Iteration != nil {
		if to, err = kept.iteration(*c.Iteration); err != nil {
			return err
		}
		first = to
	}
	var options []string
	if c.Stat {
		options = []string{"--stat"}
	}
	text, err := checkpoint.Diff(ctx, kept.repository, first.previous, to.commit, options...)
	if err != nil {
		return err
	}
	p := a.printer()
	if console.IsTerminal(a.files.stdout) {
		text = termsafe.Text(text)
	}
	p.WriteString(text)
	return p.Page()
}

// restoreCmd restores the files of an iteration.
type restoreCmd struct {
	ID        string   `arg:"" name:"run" help:"The run: its id or a part of it."`
	Iteration restored `arg:"" name:"iteration" help:"The iteration, or best for the one with the fewest failures."`
	StateDir  string   `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

// restored is the number of an iteration; zero is the best one.
type restored int

// UnmarshalText parses a number, or best.
func (n *restored) UnmarshalText(text []byte) error {
	if string(text) == "best" {
		return nil
	}
	number, err := strconv.Atoi(string(text))
	if err != nil || number < 1 {
		return fmt.Errorf("%q is neither the number of an iteration nor best", text)
	}
	*n = restored(number)
	return nil
}

func (c *restoreCmd) Run(a *app) error {
	dir, kept, err := a.kept(c.StateDir, c.ID)
	if err != nil {
		return err
	}
	id, number := filepath.Base(dir), int(c.Iteration)
	if number == 0 {
		if kept.state.Best == nil || kept.state.Best.Checkpoint == "" {
			return config.Usage("no iteration of run "+id+" is known to be the best: none was kept whose failures were counted", "name an iteration")
		}
		number = kept.state.Best.Iteration
	}
	to, err := kept.iteration(number)
	if err != nil {
		return err
	}
	if err := scratchpad.Mine(dir); err != nil {
		return config.Usage(fmt.Sprintf("run %s: %v", id, err), "restore nothing that somebody else may have written")
	}
	here := fmt.Sprintf("git restore --source %.12s -- . takes the files of iteration %d here", to.commit, to.number)
	if _, err := os.Stat(kept.dir); err != nil {
		return config.Usage(fmt.Sprintf("the work tree of run %s is gone: %s", id, kept.dir), here)
	}
	if files, moved := session.Moved(dir, &kept.state); moved {
		return config.Usage(fmt.Sprintf("run %s began in %s, and its files are in %s: it was moved or copied", id, kept.dir, files), here+"; restore in the original otherwise")
	}
	release, err := scratchpad.Hold(dir)
	if errors.Is(err, scratchpad.ErrLocked) {
		return config.Usage("run "+id+" is active", "end it first")
	} else if err != nil {
		return err
	}
	defer func() { _ = release() }()
	back, err := checkpoint.Restore(context.Background(), kept.dir, dir, id, to.commit, fmt.Sprintf("Iteration %d, restored", to.number))
	if lost, ok := errors.AsType[*checkpoint.LostError](err); ok {
		return config.Usage(fmt.Sprintf("restore changed nothing: %v", lost), "move it away, then restore again")
	} else if err != nil {
		return err
	}
	a.say.News("the files in %s are those of iteration %d%s; what they were before is kept as %.12s", kept.dir, to.number, back.Except(), back.Before)
	return nil
}

// keptFiles holds the checkpoints of a run.
type keptFiles struct {
	state      core.State
	dir        string // the run's work tree
	repository string // where its checkpoints are
	iterations []keptIteration
}

type keptIteration struct {
	number   int
	commit   string
	previous string // the checkpoint that it started from
}

// kept finds a run and its checkpoints.
func (a *app) kept(stateDir, id string) (dir string, k *keptFiles, err error) {
	if dir, err = a.find(stateDir, id); err != nil {
		return "", nil, err
	}
	k = new(keptFiles)
	s := &k.state
	last := ""
	_, err = scratchpad.Replay(dir, func(e core.Event) error {
		switch d := e.Data.(type) {
		case core.RunStarted:
			last = d.Checkpoint
		case core.IterationFinished:
			if d.Checkpoint != "" {
				k.iterations = append(k.iterations, keptIteration{d.Iteration, d.Checkpoint, last})
				last = d.Checkpoint
			}
		}
		return s.Apply(e)
	})
	if err != nil {
		return "", nil, err
	}
	if len(k.iterations) == 0 {
		return "", nil, config.Usage("run "+s.RunID+" keeps no files of its iterations", "start it with --checkpoint")
	}
	k.dir, k.repository = s.Dir, cmp.Or(s.Repository, s.Dir)
	if s.Repository != "" && !checkpoint.Known(context.Background(), s.Repository, last) { // it is going on
		k.repository = s.Dir
	}
	return dir, k, nil
}

// iteration returns the last iteration with that number: one that was cut off ran again.
func (k *keptFiles) iteration(number int) (keptIteration, error) {
	for i := len(k.iterations) - 1; i >= 0; i-- {
		if k.iterations[i].number == number {
			return k.iterations[i], nil
		}
	}
	return keptIteration{}, config.Usage(fmt.Sprintf("iteration %d has no checkpoint", number), fmt.Sprintf("there are those of %d to %d", k.iterations[0].number, k.iterations[len(k.iterations)-1].number))
}
