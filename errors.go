package looprun

import (
	"errors"
	"fmt"
)

// ErrNoGuards is returned by [Run] and [Loop.Run] when nothing could ever stop
// the loop: no guards were given, or a limit is neither stated nor [Off].
var ErrNoGuards = errors.New("no guards")

// ErrNoAnswer is returned by a [Responder] that has no answer to a question.
// The next responder is asked; when none is left the run ends with the guard's
// exit code.
var ErrNoAnswer = errors.New("no answer")

// ErrAdvised is in the error of [Loop.Ask] when nobody answered a question that an
// assistant recommended rejecting: no default of the asker's may let it through. It
// is an [ErrNoAnswer].
var ErrAdvised = errors.New("an assistant recommended rejecting it")

// ErrDeferred is returned by a [Responder] that keeps the question for later.
// The run pauses with the question pending.
var ErrDeferred = errors.New("question deferred")

// ErrInterrupted is returned by a [Responder] when a person interrupted the
// prompt. The run ends as interrupted and its question is kept. An [Interrupt] beside
// it says by which signal; without one it is SIGINT.
var ErrInterrupted = errors.New("interrupted")

// ErrEvent is returned by [State.Apply] for an event that cannot happen in
// that state. The state is left as it was.
var ErrEvent = errors.New("event out of order")

// Refusal is an [ErrEvent] that says in words why the event cannot happen.
type Refusal struct{ Why string }

func (r *Refusal) Error() string { return ErrEvent.Error() + ": " + r.Why }

// Unwrap returns [ErrEvent].
func (r *Refusal) Unwrap() error { return ErrEvent }

func refusal(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// ErrUnknownEvent is returned when an event of an unknown type is decoded: the
// journal was written by a newer looprun.
var ErrUnknownEvent = errors.New("unknown event type")

// ErrAnswered is in the error of an answer that came second.
var ErrAnswered = errors.New("the question was answered already")

// ErrEnded is returned to who speaks to a loop that has ended.
var ErrEnded = errors.New("the run has ended")
