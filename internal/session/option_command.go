package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/termsafe"
)

// How long the command of an option has, and how many characters of the first line
// that it prints are shown.
const (
	optionTime = time.Minute
	optionLine = 200
)

// optionCommand is the command of an option with the action run.
type optionCommand struct {
	line, dir string
	env       []string
	limit     time.Duration // it is ended then, with everything it started
	killAfter time.Duration
}

// run runs the command with the question as JSON on its standard input. Its
// findings are the first line that it prints, or what kept it from ending by
// itself.
func (c optionCommand) run(ctx context.Context, q core.Question) (core.DebugFinished, error) {
	question, err := proc.Document(q)
	if err != nil {
		return core.DebugFinished{}, err
	}
	var printed proc.Head
	end, err := proc.RunFed(ctx, proc.Spec{
		Argv: proc.Shell(c.line), Dir: c.dir, Env: c.env,
		Stdout: printed.Take, Stderr: printed.Take, Timeout: c.limit, KillAfter: c.killAfter,
	}, question, nil)
	if err != nil {
		return core.DebugFinished{}, err
	}
	found := firstLine(printed)
	switch end.Cause {
	case proc.StartFailed:
		return core.DebugFinished{}, fmt.Errorf("it could not be started: %w", end.StartErr)
	case proc.Timeout:
		found = fmt.Sprintf("it took longer than %s and was ended", c.limit)
	case proc.Lost:
		found = fmt.Sprintf("it is not known how it ended: %v", end.Lost)
	}
	return core.DebugFinished{ExitCode: end.Code, Findings: found}, nil
}

// firstLine is the first line that says something.
func firstLine(h proc.Head) string {
	for line := range strings.SplitSeq(termsafe.Text(string(h)), "\n") {
		if line = termsafe.Line(line); line != "" {
			return termsafe.Cut(line, optionLine)
		}
	}
	return ""
}
