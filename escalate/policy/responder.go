package policy

import (
	"context"
	"time"

	"github.com/looprun/looprun/core"
)

// Options configures how a policy answers the questions of a run. The zero value runs verify
// commands in the current directory, with this process's environment, and knows nothing of CI.
type Options struct {
	// Dir is the directory in which verify commands run, and Env their whole environment; nil
	// means the caller's.
	Dir string
	Env []string
	// CI describes where the run takes place.
	CI core.CI
	// Earlier returns what the runs of the last day have spent of a daily budget. With nil
	// they have spent nothing.
	Earlier func() Used
	// Given holds facts that override those of the run.
	Given Given
	// Verifying is how verify commands are handled.
	Verifying Verifying
	// KillAfter is the time between the signal that ends a verify command at its limit and
	// SIGKILL; zero means one second.
	KillAfter time.Duration
	// BeforeVerify is called before a verify command runs, so that a suspended iteration can
	// be ended first. If it returns an error, the command does not run and there is no answer.
	// AfterVerify receives how the command ended. Both may be nil.
	BeforeVerify func(context.Context) error
	AfterVerify  func(core.VerifyFinished) error
	// Output receives the output of verify commands; nil discards it. The slice is valid only
	// during the call.
	Output func([]byte)
	// Evaluated receives each evaluation that the responder makes; may be nil.
	Evaluated func(Evaluation)
}

// Verifying is how verify commands are handled.
type Verifying int

// The ways to handle verify commands.
const (
	VerifyRun  Verifying = iota // they run
	VerifyFail                  // they do not run, and are taken to fail
	VerifyPass                  // they do not run, and are taken to exit with 0
)

// Responder returns a responder that answers the questions of a run by the policy. It returns
// [core.ErrNoAnswer] if no rule matches, and the errors of [Policy.Evaluate].
// Options.Verifying is ignored: a run always verifies.
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
