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

// What holds where [Hooks] says nothing.
const (
	// DefaultTimeout is how long a hook may take.
	DefaultTimeout = 10 * time.Second
	// DefaultKillAfter is how much of that it has to clean up, between SIGTERM
	// and SIGKILL.
	DefaultKillAfter = time.Second
)

// queueLimit is how many events may wait for their hooks. A run that asks more
// often than its hooks can tell leaves events out, and says so; its end is never
// left out.
const queueLimit = 64

// Notifier sends a message to people. It returns when ctx ends. Its errors are
// shown as they are: no secret may be in them.
type Notifier interface {
	Notify(ctx context.Context, title, body string) error
}

// Hooks runs the hooks of one run. Its zero value has none and does nothing.
// Fields are set before the first event and not changed after.
type Hooks struct {
	// OnQuestion, OnTrip and OnEnd are shell lines, run by sh -c: for
	// question.asked, for guard.tripped, and for run.finished and run.paused.
	// An empty one is no hook.
	OnQuestion, OnTrip, OnEnd string
	// Dir is where they run; empty is the caller's directory. Env is their
	// environment, less LOOPRUN and LOOPRUN_…; nil is the caller's, less the same.
	Dir string
	Env []string
	// Timeout is how long each may take, and all that are left when the run
	// ends; zero is [DefaultTimeout]. KillAfter is how long before that SIGTERM
	// comes; zero is [DefaultKillAfter]. It is at most half of Timeout.
	Timeout   time.Duration
	KillAfter time.Duration
	// Warn is told, in one line, of each hook that failed, from another
	// goroutine; nil: nobody is.
	Warn func(text string)
	// Notify is told of questions and ends; nil: nobody is.
	Notify Notifier
	// Morning is what the message about the end of a run says beside how it ended, as lines;
	// nil: nothing.
	Morning func() []string
	// Mask takes secrets out of a text; nil: there are none.
	Mask func(string) string

	mu      sync.Mutex
	queue   []job
	idle    chan struct{} // closed when the worker has nothing more to do; nil: there is no worker
	current *job          // what runs
	cut     context.CancelCauseFunc
	left    int // events left out since that was last said
	closed  bool
}

// job is what one event makes to do.
type job struct {
	hook     string
	command  string // empty: there is only a message to send
	document []byte // for the command's standard input
	title    string
	body     string
	notify   bool
	last     bool // the run's end
}

// errClosing ends hooks for the sake of the one for the run's end.
var errClosing = errors.New("it was ended with the run")

// Observe queues the hooks of an event; it waits for nothing. It has the form of
// an engine.Observer and is for the goroutine that runs the loop.
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

// work does what is queued, in order, until nothing is left.
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

// Close runs the hooks that are left and returns when they have ended, within
// [Hooks.Timeout] in all: hooks from before the run's end have half of that, the
// one for the end the rest. When ctx ends so do they. Events that come later
// have no hooks.
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
	// What SIGKILL does not end nobody can wait for.
	over := time.NewTimer(grace)
	defer over.Stop()
	select {
	case <-idle:
	case <-over.C:
	}
}

// makeRoom gives what time is left to the hook for the run's end, if it waits.
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

// stop ends everything.
func (h *Hooks) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left += len(h.queue)
	h.queue = nil
	if h.cut != nil {
		h.cut(errClosing)
	}
}

// limits are the time limit and the part of it that is for cleaning up.
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
