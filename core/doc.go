// Package core is the state machine of a run. Everything that happens to a run is an [Event],
// and [State.Apply] folds events into the [State]. It does no I/O and starts no goroutines, so
// the same events always give the same state; resuming a run means replaying its journal.
//
// [Driver] decides the next step of a run and leaves it to its caller to carry out: package
// engine does so with processes and goroutines, and a workflow engine can too. It lets every
// [Guard] look at the new state. When one trips, a [Question] is asked, its [Answer] names an
// [Action], and the action changes the state. A missing answer never means “continue”.
//
// [Record] is the only way into a [Journal]: it writes an event before its effect can be seen.
// It is also the only function here that reads the clock.
//
// A program that only runs loops finds what it needs from this package in package looprun.
package core
