package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/scratchpad"
)

// answerCmd answers a pending question, from any terminal.
type answerCmd struct {
	Words    []string `arg:"" optional:"" name:"run option" help:"The run (the latest that has a question), and the id of the option."`
	Option   string   `placeholder:"ID" help:"The id of the option." env:"-"`
	Reason   string   `placeholder:"TEXT" help:"Why; it is kept in the record." env:"-"`
	Guidance string   `placeholder:"TEXT" help:"What the next iteration should know." env:"-"`
	Resume   bool     `help:"Go on with the run at once." env:"-"`
	StateDir string   `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

func (answerCmd) Help() string {
	return `looprun show --pending prints the question and its options.

Example:
  looprun answer accept --reason 'good enough for the demo' && looprun resume`
}

func (c *answerCmd) Run(a *app) error {
	dir, option, err := c.target()
	if err != nil {
		return err
	}
	if insideOf(dir) {
		return &usageError{"a run's question cannot be answered by its own command", "answer it from outside"}
	}
	run, state, _, err := scratchpad.Open(dir, scratchpad.SyncAsync)
	if errors.Is(err, scratchpad.ErrLocked) {
		return &usageError{fmt.Sprintf("run %s is alive and asks at its own terminal", filepath.Base(dir)), "answer it there, or end it with --detached defer"}
	}
	if err != nil {
		return err
	}
	err = c.record(run, state, option)
	if err = errors.Join(err, run.Close()); err != nil {
		return err
	}
	if c.Resume {
		return (&resumeCmd{ID: state.RunID, StateDir: c.StateDir}).Run(a)
	}
	a.say.printf("recorded; continue with looprun resume %s", state.RunID)
	return nil
}

// target is the run and the option that the words name.
func (c *answerCmd) target() (dir, option string, err error) {
	option = c.Option
	words := c.Words
	if option == "" && len(words) > 0 {
		option, words = words[len(words)-1], words[:len(words)-1]
	}
	switch {
	case option == "":
		return "", "", &usageError{"no option was given", "looprun show --pending prints the options; write looprun answer [RUN] OPTION"}
	case len(words) > 1:
		return "", "", &usageError{fmt.Sprintf("%d words are too many", len(c.Words)), "write looprun answer [RUN] OPTION"}
	case len(words) == 1:
		dir, err = find(c.StateDir, words[0])
		return dir, option, err
	}
	dir, err = latestPending(c.StateDir)
	return dir, option, err
}

// latestPending is the latest run that waits with a question.
func latestPending(flag string) (string, error) {
	state, err := stateDir(flag)
	if err != nil {
		return "", err
	}
	ids, err := scratchpad.IDs(state)
	if err != nil {
		return "", err
	}
	for _, id := range ids {
		dir := filepath.Join(state, id)
		if s, _, err := scratchpad.Load(dir); err == nil && s.Question != nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no run in %s waits with a question", state)
}

// record checks the answer against its question and puts it on record.
func (c *answerCmd) record(run *scratchpad.Run, s *looprun.State, option string) error {
	switch q := s.Question; {
	case q == nil:
		return fmt.Errorf("run %s has no question that waits for an answer", s.RunID)
	case s.Answer != nil:
		return fmt.Errorf("run %s was answered already: %s by %s; looprun resume goes on", s.RunID, s.Answer.Option, s.Answer.Responder)
	}
	answer := looprun.Answer{
		Option: option, Responder: looprun.RespondedByUser, Person: true, Guidance: c.Guidance,
		Reason: firstNonEmpty(c.Reason, "answered with looprun answer"),
	}
	if _, err := s.Resolve(answer); err != nil {
		return err
	}
	e := looprun.Event{
		Seq: s.Seq + 1, Time: time.Now().UTC().Truncate(time.Millisecond), Elapsed: s.Elapsed,
		Data: looprun.QuestionAnswered{QuestionID: s.Question.ID, Answer: answer},
	}
	if err := s.Apply(e); err != nil {
		return err
	}
	if err := run.Journal.Append(e); err != nil {
		return err
	}
	return run.Journal.Sync()
}
