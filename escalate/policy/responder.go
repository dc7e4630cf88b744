package policy

import (
	"context"
	"time"

	"github.com/looprun/looprun/core"
)

// Options are what a policy needs to know to answer the questions of a run.
// The zero value runs verify commands in the current directory, with this
// process's environment, and knows nothing of CI.
type Options struct {
	// Dir is where verify commands run, and Env their whole environment; nil is
	// the caller's.
	Dir string
	Env []string
	// CI is where the run takes place.
	CI core.CI
	// Earlier is what earlier runs of the last day have spent of a budget for each day;
	// nil: nothing.
	Earlier func() Used
	// Given are facts that hold in place of those of the run.
	Given Given
	// Verifying says what is done about verify commands.
	Verifying Verifying
	// KillAfter is the time between the signal that ends a verify command at its
	// limit and SIGKILL; zero is a second.
	KillAfter time.Duration
	// BeforeVerify is called before a verify command runs, so that what stands
	// still can be ended first. With an error it does not run, and there is no
	// answer. AfterVerify is told how it ended. Nil for neither.
	BeforeVerify func(context.Context) error
	AfterVerify  func(core.VerifyFinished) error
	// Output takes what verify commands print; nil discards it. The slice is
	// valid during the call only.
	Output func([]byte)
	// Evaluated is told of each evaluation that the responder makes; nil for
	// nobody.
	Evaluated func(Evaluation)
}

// Verifying says what is done about verify commands.
type Verifying int

// The ways of dealing with verify commands.
const (
	VerifyRun  Verifying = iota // they run
	VerifyFail                  // they do not run, and are taken to fail
	VerifyPass                  // they do not run, and are taken to exit with 0
)

// Responder answers the questions of a run by the policy. It returns
// [core.ErrNoAnswer] when no rule matches, and the errors of
// [Policy.Evaluate]. Options.Verifying is not used: a run verifies.
func (p *Policy) Responder(o Options) core.Responder {
	o.Verifying = VerifyRun
	return core.Vouch(core.ResponderFunc(func(ctx context.Context, q core.Question, s *core.State) (core.Answer, error) {
		none := core.Answer{Responder: core.RespondedByPolicy}
		e, err := p.Evaluate(ctx, q, s, o)
		if o.Evaluated != nil {
			o.Evaluated(e)
		}
		switch {
		case err != nil:
			return none, err
		case e.Answer == nil:
			return none, core.ErrNoAnswer
		}
		return *e.Answer, nil
	}))
}
