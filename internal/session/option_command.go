package session

import (
	"context"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/termsafe"
)

// How long an option's command may run, and how many characters of its first output line are
// shown.
const (
	optionTime = time.Minute
	optionLine = 200
)

// optionCommand is the command of an option whose action is run.
type optionCommand struct {
	line, dir string
	env       []string
	limit     time.Duration // it is ended then, with everything it started
	killAfter time.Duration
}

// run runs the command with the question as JSON on its standard input. Its findings are the
// first line of output, or the reason why it did not exit by itself.
func (c optionCommand) run(ctx context.Context, q core.Question) (core.DebugFinished, error) {
	question, err := helper.Document(q)
	if err != nil {
		return core.DebugFinished{}, err
	}
	var printed helper.Head
	end := helper.Command{
		Line: c.line, Dir: c.dir, Env: c.env, Input: question,
		Stdout: printed.Take, Stderr: printed.Take, Timeout: c.limit, KillAfter: c.killAfter,
	}.Run(ctx)
	switch {
	case end.Cause == proc.StartFailed:
		return core.DebugFinished{}, end.Err("")
	case end.Cut() != "":
		return core.DebugFinished{ExitCode: end.Code, Findings: "it " + end.Cut()}, nil
	}
	return core.DebugFinished{ExitCode: end.Code, Findings: termsafe.Cut(printed.FirstLine(), optionLine)}, nil
}
