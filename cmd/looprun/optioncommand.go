package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/termsafe"
)

// How long the command of an option has, how many bytes of what it prints are
// looked at, and how many characters of its first line are shown.
const (
	optionTime = time.Minute
	optionRead = 4 << 10
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
func (c optionCommand) run(ctx context.Context, q looprun.Question) (looprun.DebugFinished, error) {
	var question bytes.Buffer
	enc := json.NewEncoder(&question)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(q); err != nil {
		return looprun.DebugFinished{}, err
	}
	var printed headBuffer
	end, err := proc.RunFed(ctx, proc.Spec{
		Argv: []string{"sh", "-c", c.line}, Dir: c.dir, Env: c.env,
		Stdout: printed.write, Stderr: printed.write, Timeout: c.limit, KillAfter: c.killAfter,
	}, question.Bytes(), nil)
	if err != nil {
		return looprun.DebugFinished{}, err
	}
	found := printed.firstLine()
	switch end.Cause {
	case proc.StartFailed:
		return looprun.DebugFinished{}, fmt.Errorf("it could not be started: %w", end.StartErr)
	case proc.Timeout:
		found = fmt.Sprintf("it took longer than %s and was ended", c.limit)
	}
	return looprun.DebugFinished{ExitCode: end.Code, Findings: found}, nil
}

// headBuffer keeps the beginning of what is written.
type headBuffer []byte

func (h *headBuffer) write(b []byte) {
	*h = append(*h, b[:min(len(b), optionRead-len(*h))]...)
}

// firstLine is the first line that says something.
func (h headBuffer) firstLine() string {
	for line := range strings.SplitSeq(termsafe.Text(string(h)), "\n") {
		if line = termsafe.Line(line); line != "" {
			return termsafe.Cut(line, optionLine)
		}
	}
	return ""
}
