package hooks

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/proc"
)

// How much of the shown text is kept, in characters.
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
	told := len(j.waits) > 0 && !slices.ContainsFunc(j.waits, func(id string) bool { return !h.told[id] })
	if j.notify && !told { // a pause says nothing that its questions have not said
		both.Go(func() {
			if err := h.send(ctx, j, grace); err != nil {
				h.warn(fmt.Sprintf("could not notify for %s: %s; the run continues", j.hook, h.shown(err.Error(), lineKept)))
				return
			}
			if h.told == nil {
				h.told = map[string]bool{}
			}
			h.told[j.asks] = true
		})
	}
	if j.command != "" {
		if err := h.run(ctx, j, grace); err != nil {
			h.warn(fmt.Sprintf("hook %s (%s): %s; the run does not depend on it", j.hook, h.shown(j.command, commandKept), h.shown(err.Error(), lineKept)))
		}
	}
	both.Wait()
}

// send waits for the notifier until ctx has ended, and no longer than grace after that: a
// notifier that does not return is abandoned.
func (h *Hooks) send(ctx context.Context, j job, grace time.Duration) error {
	sent := make(chan error, 1)
	go func() {
		if asker, ok := h.Notify.(Asker); ok && j.asks != "" {
			sent <- asker.Ask(ctx, j.asks, j.title, j.body)
			return
		}
		sent <- h.Notify.Notify(ctx, j.title, j.body)
	}()
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

// run runs the command, with everything it starts, until it or ctx ends. The error is why it
// failed.
func (h *Hooks) run(ctx context.Context, j job, grace time.Duration) error {
	var printed helper.Head
	end := helper.Command{
		Line: j.command, Dir: h.Dir, Env: h.environ(), Input: j.document,
		Stdout: printed.Take, Stderr: printed.Take, KillAfter: grace,
	}.Run(ctx)
	if end.Cause == proc.Stopped {
		return context.Cause(ctx)
	}
	return end.Err(printed.FirstLine())
}

func (h *Hooks) environ() []string {
	if h.Env == nil {
		return helper.Environ(os.Environ())
	}
	return helper.Environ(h.Env)
}
