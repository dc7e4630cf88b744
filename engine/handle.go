package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/looprun/looprun/core"
)

// Handle is a run in progress. Its methods may be called from any goroutine.
type Handle struct {
	loop     *Loop
	cancel   context.CancelCauseFunc
	over     chan struct{}
	result   core.Result
	err      error
	panicked *Panic
	goexit   bool // the goroutine of the run was ended, and no panic ended it
}

// Go runs the loop in a goroutine of its own and returns without waiting for it. Each call
// must follow a successful [Loop.Start] or [Loop.Resume]; [Handle.Wait] returns the error if
// not. When ctx ends, the run is interrupted, with the signal of an [Interrupt] cause.
func Go(ctx context.Context, l *Loop) *Handle {
	ctx, cancel := context.WithCancelCause(ctx)
	h := &Handle{loop: l, cancel: cancel, over: make(chan struct{}), goexit: true}
	go func() {
		defer close(h.over)
		defer cancel(nil)
		defer func() { h.panicked = recovered(recover()) }()
		h.result, h.err = l.run(ctx)
		h.goexit = false
	}()
	return h
}

// Snapshot returns a copy of the run's current recorded state.
func (h *Handle) Snapshot() *core.State { return h.loop.State() }

// Questions returns the questions that wait for an answer, in the order in which they are
// asked.
func (h *Handle) Questions() []core.Question { return h.Snapshot().Pending() }

// NextQuestion waits until a question waits for an answer, and returns the first one. It
// returns [core.ErrEnded] if the run has ended or has paused with its question, and the cause
// of ctx if ctx ended.
func (h *Handle) NextQuestion(ctx context.Context) (core.Question, error) {
	for {
		asked := *h.loop.asked.Load()
		select {
		case <-h.over:
			return core.Question{}, core.ErrEnded
		default:
		}
		if waiting := h.Questions(); len(waiting) > 0 {
			return waiting[0], nil
		}
		select {
		case <-asked:
		case <-h.over:
		case <-ctx.Done():
			return core.Question{}, context.Cause(ctx)
		}
	}
}

// Answer answers the question with that id, which must be the one being asked now. The first
// valid answer counts. Answer returns [core.ErrAnswered] if another came first and
// [core.ErrEnded] if the run has ended. The answer counts as a program's, whoever its fields
// claim to be from: it may have come over a wire.
func (h *Handle) Answer(ctx context.Context, questionID string, a core.Answer) error {
	return h.loop.Answer(ctx, questionID, a.ByProgram())
}

// AnswerForPerson is like Answer for an answer that a person gave. The program vouches for
// that, so the answer may be to a question that only a person may answer.
func (h *Handle) AnswerForPerson(ctx context.Context, questionID string, a core.Answer) error {
	return h.loop.Answer(ctx, questionID, a.ByPerson())
}

// Stop ends the run as interrupted, like the end of its context; [core.Result.Err] returns the
// cause. Stop does not wait for the end.
func (h *Handle) Stop(cause error) { h.cancel(cause) }

// Done is closed when the run has ended.
func (h *Handle) Done() <-chan struct{} { return h.over }

// Wait waits for the end of the run and returns its result. An error means that looprun itself
// failed; the run can be resumed. If a part of the run panicked, every call panics with a
// [*Panic]. If the work called runtime.Goexit, as FailNow does in a test, Wait does so too.
func (h *Handle) Wait() (core.Result, error) {
	<-h.over
	switch {
	case h.panicked != nil:
		panic(h.panicked)
	case h.goexit:
		runtime.Goexit()
	}
	return h.result, h.err
}

// Panic is a panic from a part of a run, raised again in the goroutine that waits for the run.
type Panic struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

// Error returns the value and the stack.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// recovered returns the recovered panic; nil if there was none.
func recovered(value any) *Panic {
	switch v := value.(type) {
	case nil:
		return nil
	case *Panic:
		return v
	}
	return &Panic{value, debug.Stack()}
}

// errGoexit is the error of a part that ended its goroutine.
var errGoexit = errors.New("its goroutine was ended with runtime.Goexit, as FailNow of a test does")
