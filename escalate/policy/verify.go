package policy

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/proc"
)

// verifier decides whether a rule's verify command lets the rule match. why is the reason if
// not; an error means that nothing can be decided.
type verifier func(context.Context, *Rule) (end *core.VerifyFinished, why string, err error)

// killAfter is how long a verify command past its limit may take to clean up.
const killAfter = time.Second

func (o Options) verifier() verifier {
	switch o.Verifying {
	case VerifyRun:
		return func(ctx context.Context, r *Rule) (*core.VerifyFinished, string, error) {
			return o.run(ctx, r, cmp.Or(r.VerifyTimeout, DefaultVerifyTimeout))
		}
	case VerifyPass:
		return assume(true)
	}
	return assume(false)
}

// assume returns a verifier that runs nothing.
func assume(pass bool) verifier {
	return func(_ context.Context, r *Rule) (*core.VerifyFinished, string, error) {
		if pass {
			return nil, "", nil
		}
		return nil, fmt.Sprintf("%s was not run, and is taken to fail", quote(r.Verify)), nil
	}
}

// run runs the rule's command with its whole process tree, and ends the rest of the tree at
// the time limit.
func (o Options) run(ctx context.Context, r *Rule, limit time.Duration) (*core.VerifyFinished, string, error) {
	if o.BeforeVerify != nil {
		if err := o.BeforeVerify(ctx); err != nil {
			return nil, "", fmt.Errorf("%s: before verify: %w", r.Where, err)
		}
	}
	output := o.Output
	if output == nil {
		output = func([]byte) {}
	}
	if limit <= 0 {
		limit = DefaultVerifyTimeout
	}
	start := time.Now()
	exit := helper.Command{
		Line: r.Verify, Dir: o.Dir, Env: o.Env, Stdout: output, Stderr: output,
		Timeout: limit, KillAfter: cmp.Or(o.KillAfter, killAfter),
	}.Run(ctx)
	if err := context.Cause(ctx); err != nil {
		return nil, "", fmt.Errorf("%s: verify: %w", r.Where, err)
	}
	end := &core.VerifyFinished{
		Rule: r.Where, Command: r.Verify, ExitCode: exit.Code,
		TimedOut:   exit.Cause == proc.Timeout,
		DurationMS: time.Since(start).Milliseconds(),
	}
	if o.AfterVerify != nil {
		if err := o.AfterVerify(*end); err != nil {
			return end, "", fmt.Errorf("%s: after verify: %w", r.Where, err)
		}
	}
	why := exit.Failed() // only a command that ended by itself, in time and with 0, lets it match
	if why != "" {
		why = quote(r.Verify) + " " + why
	}
	return end, why, nil
}
