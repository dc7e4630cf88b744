package looprun

import (
	"context"
	"sync/atomic"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
)

// Handle is a run that goes on. Its methods can be called from any goroutine.
type Handle struct {
	loop     *engine.Loop
	cancel   context.CancelCauseFunc
	over     chan struct{}
	asked    atomic.Pointer[chan struct{}] // closed at the next question
	result   Result
	err      error
	panicked *Panic
}

// Start starts a run and returns while it goes on. Its errors are those of a
// configuration that is wrong, as [Run] returns them; nothing has run then.
//
// A program that answers questions itself, as they come, has [Await] as its last
// responder, and calls [Handle.NextQuestion] and [Handle.Answer].
func Start(ctx context.Context, c Config) (*Handle, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	h := &Handle{cancel: cancel, over: make(chan struct{}), err: engine.ErrGoexit}
	h.asked.Store(new(make(chan struct{})))
	loop, err := c.loop(ctx)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	h.loop, loop.Observe = loop, h.listen(loop.Observe)
	go func() {
		defer close(h.over)
		defer cancel(nil)
		defer func() { h.panicked = engine.Recovered(recover()) }()
		h.result, h.err = loop.Run(ctx)
	}()
	return h, nil
}

// Snapshot is the state of the run as it is on record now. It is the caller's own.
func (h *Handle) Snapshot() *State { return h.loop.State() }

// Questions are those that wait for an answer, in the order in which they are asked.
func (h *Handle) Questions() []Question { return h.Snapshot().Pending() }

// NextQuestion waits until a question waits for an answer, and returns the first.
// [ErrEnded] says that the run has ended, or has paused with its question; else the error
// is the cause of ctx.
func (h *Handle) NextQuestion(ctx context.Context) (Question, error) {
	for {
		asked := *h.asked.Load()
		select {
		case <-h.over:
			return Question{}, ErrEnded
		default:
		}
		if waiting := h.Questions(); len(waiting) > 0 {
			return waiting[0], nil
		}
		select {
		case <-asked:
		case <-h.over:
		case <-ctx.Done():
			return Question{}, context.Cause(ctx)
		}
	}
}

// listen is the observer that also tells NextQuestion of questions.
func (h *Handle) listen(next Observer) Observer {
	return func(e Event, s *State) {
		if next != nil {
			next(e, s)
		}
		if e.Data.Type() == core.TypeQuestionAsked {
			close(*h.asked.Swap(new(make(chan struct{}))))
		}
	}
}

// Answer answers the question with that id, which has to be the one that is asked now.
// The first valid answer counts: [ErrAnswered] says that another came first, [ErrEnded]
// that the run has ended. It is a program's answer, whatever the fields of a say of who
// gave it: a may have come over a wire.
func (h *Handle) Answer(ctx context.Context, questionID string, a Answer) error {
	return h.loop.Answer(ctx, questionID, a.ByProgram())
}

// AnswerForPerson is Answer for an answer that a person gave, which the program vouches
// for: it takes what is for a person alone.
func (h *Handle) AnswerForPerson(ctx context.Context, questionID string, a Answer) error {
	return h.loop.Answer(ctx, questionID, a.ByPerson())
}

// Stop ends the run as interrupted, as the end of its context does; [core.Result.Err] has the
// cause. It does not wait for the end.
func (h *Handle) Stop(cause error) { h.cancel(cause) }

// Done is closed when the run has ended.
func (h *Handle) Done() <-chan struct{} { return h.over }

// Wait waits for the end of the run and returns what [Run] does. Where a part of the run
// panicked, Wait panics with a [*Panic], each time.
func (h *Handle) Wait() (Result, error) {
	<-h.over
	if h.panicked != nil {
		panic(h.panicked)
	}
	return h.result, h.err
}

// Await is a responder that waits for [Handle.Answer].
func Await() Responder {
	return ResponderFunc(func(ctx context.Context, _ Question, _ *State) (Answer, error) {
		<-ctx.Done()
		return Answer{}, ErrNoAnswer
	})
}

// Vouch is the responder as one whose answers say themselves who gave them; see
// [core.Vouch]. Those of every other responder of a [Config] are a program's, so that what
// comes over a wire cannot claim to be a person's. The responders in escalate need no Vouch.
func Vouch(r Responder) Responder { return core.Vouch(r) }
