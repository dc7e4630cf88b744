package looprun

import "context"

// Iteration is what a [Runner] is told about the iteration it is to run.
type Iteration struct {
	// Number counts from 1; 0 is the precheck, which runs the check alone.
	Number int
	// Limit is the number of iterations allowed so far, or [Off].
	Limit int
	// First says that it is the first one since the run started or was resumed:
	// a command that cannot be started is then not tried again.
	First bool
	// Guidance is what the last answer gives this iteration to go by.
	Guidance string
	// Last is the one that ran last, also where it runs again; nil in the first.
	Last *IterationFinished
	// Answers are those of the command's questions that wait to be fetched.
	Answers []Asked
	// Task is what is worked on: the run's name, until a rejection put another task
	// or a part of it in its place. Subtasks is how far a task is that was taken
	// apart; nil: none was.
	Task     string
	Subtasks *Subtasks
	// Judging says that it is the check that runs.
	Judging bool
}

// Runner runs one iteration: the work, and the check that judges it.
//
// Run returns when everything it started is gone. When the context ends it ends
// the iteration at once, with the cause it finds in [context.Cause]. An error
// means that looprun cannot go on; a command that fails is no error but an
// [IterationFinished] that says so.
type Runner interface {
	Run(context.Context, Iteration) (IterationFinished, error)
}

// Suspender is a [Runner] that can stand still in the middle of an iteration,
// while a question is asked.
type Suspender interface {
	Suspend()
	Resume()
}

// Holder is a [Runner] whose time limits can stand still, and whose output can be
// held back, while the command waits for the answer to a question of its own.
type Holder interface {
	Hold()
	Release()
}

// Journal keeps the events of a run. Append returns when the event would
// survive the end of the process; Sync when it would survive a power loss.
type Journal interface {
	Append(Event) error
	Sync() error
}

// MemoryJournal keeps all events in memory, about a kilobyte an iteration. The
// zero value is ready to use.
type MemoryJournal struct{ Events []Event }

// Append keeps the event.
func (j *MemoryJournal) Append(e Event) error {
	j.Events = append(j.Events, e)
	return nil
}

// Sync does nothing.
func (j *MemoryJournal) Sync() error { return nil }

// noJournal keeps nothing: a run that nobody resumes needs no more than its state.
type noJournal struct{}

func (noJournal) Append(Event) error { return nil }
func (noJournal) Sync() error        { return nil }

// Observer is told of every event once it is in the journal, with the state
// after it. It must not keep the state, nor change it.
type Observer func(Event, *State)
