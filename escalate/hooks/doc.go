// Package hooks tells the outside world what happens to a run: a shell line is
// run when a guard trips, when a question is asked and when the run ends, with
// the event as JSON on its standard input, and a [Notifier] is told of questions
// and ends.
//
//	h := &hooks.Hooks{OnQuestion: "./tell-the-team.sh", Warn: warn}
//	loop.Observe = h.Observe
//	…
//	h.Close(ctx) // before the program ends
//
// A hook is told, it decides nothing: neither what it prints nor how it exits
// reaches the run. Hooks run beside the loop, one after the other, in the order
// of their events. Each ends at its time limit, with everything it started. One
// that fails is reported and changes nothing else.
//
// The environment of a hook has no variable of looprun's: a looprun that is
// started in a hook is a run of its own, not one inside this run.
package hooks
