package main

import (
	"context"
	"io"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/ci"
	"github.com/looprun/looprun/report"
)

// speakToCI prepares the log of the CI job: what the command prints is data
// there.
func (s *session) speakToCI() {
	s.ci = ci.New(ci.Options{
		Provider: ci.Provider(s.opts.CI), Log: s.outlets.messages(s.app, ci.LogOf(s.app.stdout, s.app.stderr)),
		AllowCommands: s.opts.CICommands == "allow",
	})
	s.app.say.w = s.ci.Messages(s.app.say.w)
}

// ciPatience is how long another program may take to tell the CI system.
const ciPatience = 5 * time.Second

// tellCI tells the CI system the verdict. What it could not be told is a warning:
// the run has ended whatever it learns.
func (s *session) tellCI(state *looprun.State, result looprun.Result) {
	ctx, cancel := context.WithTimeout(context.Background(), ciPatience)
	defer cancel()
	verdict := ci.Verdict{Result: result, Limit: state.Limits.Iterations, RunDir: s.run.Dir, Summary: func(w io.Writer, limit int) error {
		r, err := report.Load(s.run.Dir)
		if err != nil {
			return err
		}
		return r.Markdown(w, limit)
	}}
	if err := s.ci.Finish(ctx, verdict); err != nil {
		s.app.say.warn("the CI system could not be told: %v", err)
	}
}
