package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/looprun/looprun/core"
)

// Handle is a run that goes on. Its methods can be called from any goroutine.
type Handle struct {
	loop     *Loop
	cancel   context.CancelCauseFunc
	over     chan struct{}
	result   core.Result
	err      error
	panicked *Panic
	goexit   bool // the goroutine of the run was ended, and no panic ended it
}

// Go runs the loop in a goroutine of its own, and returns while it goes on. It needs a
// [Loop.Start] or [Loop.Resume] that succeeded, each time; [Handle.Wait] has the error.
// When ctx ends the run is interrupted, with the signal of an [Interrupt] cause.
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

// Snapshot is the state of the run as it is on record now. It is the caller's own.
func (h *Handle) Snapshot() *core.State { return h.loop.State() }

// Questions are those that wait for an answer, in the order in which they are asked.
func (h *Handle) Questions() []core.Question { return h.Snapshot().Pending() }

// NextQuestion waits until a question waits for an answer, and returns the first.
// [core.ErrEnded] says that the run has ended, or has paused with its question; else the error
// is the cause of ctx.
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

// Answer answers the question with that id, which has to be the one that is asked now.
// The first valid answer counts: [core.ErrAnswered] says that another came first, [core.ErrEnded]
// that the run has ended. It is a program's answer, whatever the fields of a say of who
// gave it: a may have come over a wire.
func (h *Handle) Answer(ctx context.Context, questionID string, a core.Answer) error {
	return h.loop.Answer(ctx, questionID, a.ByProgram())
}

// AnswerForPerson is Answer for an answer that a person gave, which the program vouches
// for: it takes what is for a person alone.
func (h *Handle) AnswerForPerson(ctx context.Context, questionID string, a core.Answer) error {
	return h.loop.Answer(ctx, questionID, a.ByPerson())
}

// Stop ends the run as interrupted, as the end of its context does; [core.Result.Err] has the
// cause. It does not wait for the end.
func (h *Handle) Stop(cause error) { h.cancel(cause) }

// Done is closed when the run has ended.
func (h *Handle) Done() <-chan struct{} { return h.over }

// Wait waits for the end of the run and returns its verdict. An error means that looprun
// itself failed; the run can be resumed. Where a part of the run panicked, Wait panics with
// a [*Panic], each time; where the work ended its goroutine with runtime.Goexit, as FailNow
// of a test does, Wait ends that of its caller so.
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

// Panic is a panic of a part of a run, in the goroutine of whoever waits for the run.
type Panic struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

// Error has the value and the stack.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap is the value where it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// recovered is the panic that was recovered; nil: there was none.
func recovered(value any) *Panic {
	switch v := value.(type) {
	case nil:
		return nil
	case *Panic:
		return v
	}
	return &Panic{value, debug.Stack()}
}

// errGoexit is what came of a part that ended its goroutine.
var errGoexit = errors.New("its goroutine was ended with runtime.Goexit, as FailNow of a test does")
