package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/internal/proc"
)

// How much of what is shown is kept, in characters.
const (
	lineKept    = 200
	commandKept = 80
)

// do runs the command and sends the message, both within the time limit.
func (h *Hooks) do(ctx context.Context, j job) {
	timeout, grace := h.limits()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout-grace, fmt.Errorf("it took longer than %s and was ended", timeout))
	defer cancel()
	var both sync.WaitGroup
	if j.notify {
		both.Go(func() {
			if err := h.send(ctx, j, grace); err != nil {
				h.warn(fmt.Sprintf("no message was sent for %s: %s; the run goes on", j.hook, h.shown(err.Error(), lineKept)))
			}
		})
	}
	if j.command != "" {
		if err := h.run(ctx, j, grace); err != nil {
			h.warn(fmt.Sprintf("hook %s (%s): %s; the run does not depend on it", j.hook, h.shown(j.command, commandKept), h.shown(err.Error(), lineKept)))
		}
	}
	both.Wait()
}

// send waits for the notifier until ctx has ended, and no longer than grace
// after that: one that does not return is left behind.
func (h *Hooks) send(ctx context.Context, j job, grace time.Duration) error {
	sent := make(chan error, 1)
	go func() { sent <- h.Notify.Notify(ctx, j.title, j.body) }()
	select {
	case err := <-sent:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err := <-sent:
		return err
	case <-late.C:
		return context.Cause(ctx)
	}
}

// run runs the command with everything it starts, until it or ctx ends. The
// error says why it failed.
func (h *Hooks) run(ctx context.Context, j job, grace time.Duration) error {
	var printed proc.Head
	end, err := proc.RunFed(ctx, proc.Spec{
		Argv: proc.Shell(j.command), Dir: h.Dir, Env: h.environ(),
		Stdout: printed.Take, Stderr: printed.Take, KillAfter: grace,
	}, j.document, nil)
	if err != nil {
		return fmt.Errorf("it could not be started: %w", err)
	}
	return failed(ctx, end, firstLine(printed))
}

// failed says why the command failed; nil when it did not.
func failed(ctx context.Context, end proc.Exit, line string) error {
	var text string
	switch {
	case end.Cause == proc.StartFailed:
		return fmt.Errorf("it could not be started: %w", end.StartErr)
	case end.Lost != nil:
		return fmt.Errorf("it is not known how it ended: %w", end.Lost)
	case end.Cause != proc.Exited && errors.Is(context.Cause(ctx), errClosing):
		text = "it was ended with the run"
	case end.Cause != proc.Exited:
		text = context.Cause(ctx).Error()
	case end.Signal != 0:
		text = fmt.Sprintf("it was ended by %s", end.Signal)
	case end.Code != 0:
		text = fmt.Sprintf("it exited with %d", end.Code)
	default:
		return nil
	}
	if line != "" {
		text += ": " + line
	}
	return errors.New(text)
}

// environ is the environment without what would make a looprun in the hook one
// that is inside the run.
func (h *Hooks) environ() []string {
	env := h.Env
	if env == nil {
		env = os.Environ()
	}
	kept := make([]string, 0, len(env))
	for _, v := range env {
		if !strings.HasPrefix(v, "LOOPRUN_") && !strings.HasPrefix(v, "LOOPRUN=") {
			kept = append(kept, v)
		}
	}
	return kept
}

// firstLine is the first line that says something.
func firstLine(h proc.Head) string {
	line, _, _ := strings.Cut(strings.TrimLeft(string(h), " \t\r\n"), "\n")
	return line
}
