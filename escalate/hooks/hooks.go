package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
)

// Defaults for [Hooks].
const (
	// DefaultTimeout is how long a hook may take.
	DefaultTimeout = 10 * time.Second
	// DefaultKillAfter is how much of that time it has to clean up, between SIGTERM and
	// SIGKILL.
	DefaultKillAfter = time.Second
)

// queueLimit is how many events may wait for their hooks. If a run asks faster than its hooks
// can run, events are left out and a warning is given; the run's end is never left out.
const queueLimit = 64

// Notifier sends a message to people. It returns when ctx ends. Its errors are shown
// unchanged, so they must not contain secrets.
type Notifier interface {
	Notify(ctx context.Context, title, body string) error
}

// Asker is a [Notifier] that can also bring answers back. Its Ask is called in place of Notify
// for a question, with the question's id.
type Asker interface {
	Notifier
	Ask(ctx context.Context, question, title, body string) error
}

// Hooks runs the hooks of one run. The zero value has none and does nothing. Set the fields
// before the first event and do not change them afterwards.
type Hooks struct {
	// OnQuestion, OnTrip and OnEnd are shell lines, run by sh -c: for question.asked, for
	// guard.tripped, and for run.finished and run.paused. If empty, there is no hook.
	OnQuestion, OnTrip, OnEnd string
	// Dir is the directory in which they run; empty means the caller's. Env is their
	// environment, without LOOPRUN and LOOPRUN_…; nil means the caller's, without the same.
	Dir string
	Env []string
	// Timeout is how long each hook may take, and all remaining hooks together when the run
	// ends; zero means [DefaultTimeout]. KillAfter is how long before the limit SIGTERM is
	// sent; zero means [DefaultKillAfter]. It is at most half of Timeout.
	Timeout   time.Duration
	KillAfter time.Duration
	// Warn receives one line about each failed hook, from another goroutine; may be nil.
	Warn func(text string)
	// Notify receives questions and ends; may be nil.
	Notify Notifier
	// Morning returns the lines that the message about the end of a run adds to how the run
	// ended. With nil it adds none.
	Morning func() []string
	// Mask removes secrets from a text; nil means that there are none.
	Mask func(string) string

	mu      sync.Mutex
	queue   []job
	idle    chan struct{} // closed when the worker has nothing more to do; nil: there is no worker
	current *job          // what runs
	cut     context.CancelCauseFunc
	left    int // events left out since that was last said
	closed  bool
	told    map[string]bool // the ids of the questions that were sent; the worker's
}

// job is the command and the message for one event.
type job struct {
	hook     string
	command  string // empty: there is only a message to send
	document []byte // for the command's standard input
	title    string
	body     string
	notify   bool
	last     bool     // the run's end
	asks     string   // the id of the question that the message is about
	waits    []string // those of the questions that a pause waits for: sent only if one of them was not
}

// errClosing ends hooks to leave time for the hook of the run's end.
var errClosing = errors.New("it was ended with the run")

// Observe queues the hooks of an event and does not wait. It has the signature of an
// engine.Observer and must be called from the goroutine that runs the loop.
func (h *Hooks) Observe(e core.Event, s *core.State) {
	j, ok, err := h.job(e, s)
	if err != nil {
		h.warn(fmt.Sprintf("hook %s: the event cannot be written as JSON: %v", j.hook, err))
		return
	}
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return
	case !j.last && len(h.queue) >= queueLimit:
		h.left++
		return
	}
	h.queue = append(h.queue, j)
	if h.idle == nil {
		h.idle = make(chan struct{})
		go h.work(h.idle)
	}
}

// work runs the queued jobs in order until none is left.
func (h *Hooks) work(idle chan struct{}) {
	defer close(idle)
	for {
		h.mu.Lock()
		if left := h.left; left > 0 {
			h.left = 0
			h.mu.Unlock()
			h.warn(fmt.Sprintf("%d events were left out by the hooks, which are slower than the run; make them faster", left))
			continue
		}
		if len(h.queue) == 0 {
			h.idle, h.current, h.cut = nil, nil, nil
			h.mu.Unlock()
			return
		}
		j := h.queue[0]
		h.queue = h.queue[1:]
		ctx, cut := context.WithCancelCause(context.Background())
		h.current, h.cut = &j, cut
		h.mu.Unlock()
		h.do(ctx, j)
		cut(nil)
	}
}

// Close runs the remaining hooks and returns when they have ended, within [Hooks.Timeout] in
// all: hooks from before the run's end get half of that, and the hook for the end gets the
// rest. When ctx ends, the hooks end too. Later events have no hooks.
func (h *Hooks) Close(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	idle := h.idle
	h.mu.Unlock()
	if idle == nil {
		return
	}
	timeout, grace := h.limits()
	half, full := time.NewTimer((timeout-grace)/2), time.NewTimer(timeout-grace)
	defer half.Stop()
	defer full.Stop()
	for ended := false; !ended; {
		select {
		case <-idle:
			return
		case <-half.C:
			h.makeRoom()
		case <-full.C:
			ended = true
		case <-ctx.Done():
			ended = true
		}
	}
	h.stop()
	// It is no use to wait for a process that survives SIGKILL.
	over := time.NewTimer(grace)
	defer over.Stop()
	select {
	case <-idle:
	case <-over.C:
	}
}

// makeRoom leaves the remaining time to the hook for the run's end, if that is waiting.
func (h *Hooks) makeRoom() {
	h.mu.Lock()
	last := slices.IndexFunc(h.queue, func(j job) bool { return j.last })
	if last < 0 {
		h.mu.Unlock()
		return
	}
	h.left += last
	h.queue = h.queue[last:]
	if h.cut != nil && !h.current.last {
		h.cut(errClosing)
	}
	h.mu.Unlock()
}

// stop ends all hooks.
func (h *Hooks) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left += len(h.queue)
	h.queue = nil
	if h.cut != nil {
		h.cut(errClosing)
	}
}

// limits returns the time limit and the part of it that is for cleaning up.
func (h *Hooks) limits() (timeout, grace time.Duration) {
	timeout, grace = h.Timeout, h.KillAfter
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	if grace <= 0 {
		grace = DefaultKillAfter
	}
	return timeout, min(grace, timeout/2)
}

func (h *Hooks) warn(text string) {
	if h.Warn != nil {
		h.Warn(text)
	}
}
