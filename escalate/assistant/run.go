package assistant

import (
	"bytes"
	"context"
	"fmt"

	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/tail"
	"github.com/looprun/looprun/internal/termsafe"
)

// Limits on what the command prints, in bytes.
const (
	outputLimit = 1 << 20
	stderrKept  = 4 << 10
)

// output is what the command printed.
type output struct {
	text []byte // at most outputLimit bytes
	long bool   // there was more
}

// failure says how a run of the command came to nothing.
type failure struct {
	text   string
	passes bool // it may be gone when the command runs again
}

func (f *failure) Error() string { return f.text }

// run runs the command once, with everything it starts, and returns what it
// printed when it exited with 0. The error is a [*failure], the cause of the
// end of ctx, or says what this program lacks.
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
	end, err := proc.RunFed(ctx, proc.Spec{
		Argv: proc.Shell(r.Command), Dir: r.Dir, Env: r.Env,
		Stdout: out.take, Stderr: func(b []byte) {
			complaint.Take(b)
			if r.Stderr != nil {
				r.Stderr(b)
			}
		},
		Timeout: r.Timeout, KillAfter: r.KillAfter,
	}, text, out.full)
	if err != nil {
		return output{}, fmt.Errorf("the assistant: %w", err)
	}
	if err := context.Cause(ctx); err != nil {
		return output{}, err
	}
	return out.output, r.verdict(end, out.output, lastLine(complaint.Bytes()))
}

// verdict says why what was printed cannot be a reply; nil when it can. Too
// much output is left to whoever checks it.
func (r *responder) verdict(end proc.Exit, out output, complaint string) error {
	if complaint != "" {
		complaint = ": " + complaint
	}
	switch {
	case out.long:
		return nil
	case end.Cause != proc.Exited:
		return &failure{text: r.cut(end) + complaint}
	case end.Code != 0:
		missing := end.Signal == 0 && (end.Code == 126 || end.Code == 127)
		return &failure{text: fmt.Sprintf("the assistant exited with %d", end.Code) + complaint, passes: !missing}
	case len(bytes.TrimSpace(out.text)) == 0:
		return &failure{text: "the assistant printed nothing" + complaint, passes: true}
	}
	return nil
}

// cut says what kept the command from ending by itself.
func (r *responder) cut(end proc.Exit) string {
	switch end.Cause {
	case proc.Timeout:
		return fmt.Sprintf("the assistant took longer than %s", r.Timeout)
	case proc.StartFailed:
		return fmt.Sprintf("the assistant could not be started: %v", end.StartErr)
	case proc.Lost:
		return fmt.Sprintf("it is not known how the assistant ended: %v", end.Lost)
	}
	return fmt.Sprintf("the assistant did not end by itself: %s", end.Cause)
}

// encode is the request as the command gets it.
func (r Request) encode() ([]byte, error) {
	text, err := proc.Document(r)
	if err != nil {
		return nil, fmt.Errorf("the request to the assistant: %w", err)
	}
	return text, nil
}

// collector keeps output up to its limit and says when it is passed.
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

// lastLine is the last line that says something.
func lastLine(text []byte) string {
	lines := bytes.Split(bytes.TrimSpace([]byte(termsafe.Text(string(text)))), []byte("\n"))
	return cut(termsafe.Line(string(lines[len(lines)-1])), lineKept)
}
