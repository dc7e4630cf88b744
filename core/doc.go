// Package core is the state machine of a run over its events: everything that happens to a
// run is an [Event], and [State.Apply] folds events into the [State]. It does no I/O and
// starts no goroutine, so the same events always give the same state; resuming a run is
// replaying its journal.
//
// [Driver] takes the steps of a run for whoever carries them out: package engine does so
// with processes and goroutines, and a workflow engine can. It lets every [Guard] look at
// the new state; when one trips, a [Question] is asked, its [Answer] names an [Action], and
// the action changes the state. No answer never means “continue”.
//
// [Record] is the one door to a [Journal]: it writes what happened before its effect can be
// seen. It is also the one function here that asks for the time.
//
// A program that only runs loops has what it needs of this package in package looprun.
package core
