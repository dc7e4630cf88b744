package assistant

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/tail"
	"github.com/looprun/looprun/internal/termsafe"
)

// Limits on the command's output, in bytes.
const (
	outputLimit = 1 << 20
	stderrKept  = 4 << 10
)

// output is the command's standard output.
type output struct {
	text []byte // at most outputLimit bytes
	long bool   // there was more
}

// failure describes how a run of the command failed.
type failure struct {
	text   string
	passes bool // it may be gone when the command runs again
}

func (f *failure) Error() string { return f.text }

// run runs the command once, with everything it starts, and returns its output if it exited
// with 0. The error is a [*failure], the cause of ctx, or something that this program lacks.
func (r *responder) run(ctx context.Context, req Request) (output, error) {
	text, err := req.encode()
	if err != nil {
		return output{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return output{}, err
	}
	out := collector{full: make(chan struct{})}
	complaint := tail.Buffer{Limit: stderrKept}
	end := helper.Command{
		Line: r.Command, Dir: r.Dir, Env: r.Env, Input: text,
		Stdout: out.take, Stderr: func(b []byte) {
			complaint.Take(b)
			if r.Stderr != nil {
				r.Stderr(b)
			}
		},
		Enough: out.full, Timeout: r.Timeout, KillAfter: r.KillAfter,
	}.Run(ctx)
	if err := context.Cause(ctx); err != nil {
		return output{}, err
	}
	return out.output, r.verdict(end, out.output, strings.Join(termsafe.LastLines(string(complaint.Bytes()), 1, lineKept), ""))
}

// verdict returns why the output cannot be a reply; nil if it can. It leaves excessive output
// to the caller's check.
func (r *responder) verdict(end helper.End, out output, complaint string) error {
	if complaint != "" {
		complaint = ": " + complaint
	}
	missing := end.Signal == 0 && (end.Code == 126 || end.Code == 127)
	switch {
	case out.long:
		return nil
	case end.Failed() != "":
		return &failure{text: "the assistant " + end.Failed() + complaint, passes: end.Cut() == "" && !missing}
	case len(bytes.TrimSpace(out.text)) == 0:
		return &failure{text: "the assistant printed nothing" + complaint, passes: true}
	}
	return nil
}

// encode returns the request as sent to the command.
func (r Request) encode() ([]byte, error) {
	text, err := helper.Document(r)
	if err != nil {
		return nil, fmt.Errorf("the request to the assistant: %w", err)
	}
	return text, nil
}

// collector keeps output up to its limit and reports when it is exceeded.
type collector struct {
	output
	full chan struct{}
}

func (c *collector) take(b []byte) {
	if room := outputLimit - len(c.text); len(b) > room {
		b = b[:room]
		if !c.long {
			c.long = true
			close(c.full)
		}
	}
	c.text = append(c.text, b...)
}
