package session

import (
	"context"
	"fmt"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/config"
)

// keepable returns an error if checkpoints are not possible because there is no git work tree.
func (s *Session) keepable() error {
	if !s.opts.Checkpoint {
		return nil
	}
	_, err := checkpoint.Top(context.Background(), s.dir)
	return notKept(err)
}

func notKept(err error) error {
	if err == nil {
		return nil
	}
	return config.Usagef("%s: %v; run looprun in a git work tree, or leave it out", config.Flag("checkpoint"), err)
}

// keep sets up checkpoints and takes the one that the first iteration starts from.
func (s *Session) keep() error {
	if !s.opts.Checkpoint {
		return nil
	}
	k, err := checkpoint.Open(context.Background(), s.dir, s.run.Dir, s.run.ID)
	if err == nil {
		s.found, err = k.Save(context.Background(), "Start")
	}
	s.keeper = k
	return notKept(err)
}

// overtimeOfCheckpoint is how much longer than the run a checkpoint may take: it holds the
// last iteration's work.
const overtimeOfCheckpoint = 10 * time.Second

// checkpoint saves the files as they are after an iteration. If that fails the run continues;
// the iteration just cannot be restored later.
func (s *Session) checkpoint(iteration int) string {
	if s.keeper == nil {
		return ""
	}
	ctx, cancel := s.hurried(overtimeOfCheckpoint)
	defer cancel()
	commit, err := s.keeper.Save(ctx, fmt.Sprintf("Iteration %d", iteration))
	if err != nil {
		s.app.Say.Warn("iteration %d has no checkpoint: %v", iteration, err)
	}
	return commit
}

// takeBest restores the files of the iteration that the run was accepted with.
func (s *Session) takeBest(state *core.State, result core.Result) error {
	if result.Status != core.StatusAccepted {
		return nil
	}
	d := state.Decisions[len(state.Decisions)-1] // to accept it
	if d.Restore == 0 {
		return nil
	}
	restored, err := checkpoint.Restore(context.Background(), s.dir, s.run.Dir, s.run.ID, d.Checkpoint, fmt.Sprintf("Iteration %d, accepted", d.Restore))
	if err != nil {
		return fmt.Errorf("the files of iteration %d were not brought back: %w; looprun restore %s %d tries again", d.Restore, err, state.RunID, d.Restore)
	}
	s.app.Say.News("the files are those of iteration %d%s; what they were before is kept as %.12s", d.Restore, restored.Except(), restored.Before)
	return nil
}
