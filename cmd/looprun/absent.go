package main

import (
	"fmt"
	"os"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/protocol/ask"
)

// silenced says why no person is to be asked, whether one is there or not; empty:
// one may be.
func (s *session) silenced() string {
	flag := s.opts.silent()
	switch {
	case flag != "":
		return s.setBy(flag)
	case s.parent != "":
		return "this run is inside another one, where nobody answered"
	case insideHelper():
		return "this was started by the " + firstNonEmpty(os.Getenv("LOOPRUN_ROLE"), "helper") + " command of another run"
	}
	return ""
}

// setBy says what set the flag: itself, its variable or a file.
func (s *session) setBy(name string) string {
	c := s.app.config
	if f := c.flag(name); f != nil {
		if l := c.source(f); l != nil {
			return l.at(keyOf(name)) + " sets " + keyOf(name)
		}
		if by := c.given(f); by != "" {
			return by + " is set"
		}
	}
	return "--" + name + " is set" // a resumed run has it from its journal
}

// instead adds to [looprun.ErrNoAnswer] what the user can do about it, where the
// user has not decided that it is so.
func (s *session) instead(q looprun.Question, err error) error {
	switch {
	case q.To == ask.ToAssistant || s.opts.Wait || s.opts.Retry != nil && q.From == "":
		return err
	case q.Exclusive || q.Mandatory || q.Advice != nil:
		return fmt.Errorf("only a person can answer this; --detached defer keeps it for looprun answer: %w", err)
	case !s.opts.Detached.IsZero() || s.policy != nil:
		return err
	case q.From == looprun.FromCommand:
		return fmt.Errorf("--assistant LINE or --detached MODE answers such a question: %w", err)
	}
	return fmt.Errorf("--policy FILE or --detached MODE answers such a question: %w", err)
}
