// Package hooks informs the outside world about a run. It runs a shell line when a guard
// trips, when a question is asked and when the run ends, with the event as JSON on its
// standard input. It also sends questions and ends to a [Notifier].
//
//	h := &hooks.Hooks{OnQuestion: "./tell-the-team.sh", Warn: warn}
//	loop.Observe = h.Observe
//	…
//	h.Close(ctx) // before the program ends
//
// A hook is informed but decides nothing: neither its output nor its exit code affects the
// run. Hooks run alongside the loop, one at a time, in the order of their events. Each ends at
// its time limit, with everything it started. A failing hook is reported and has no other
// effect.
//
// The environment of a hook has none of looprun's variables: a looprun that a hook starts is a
// separate run, not one inside this run.
package hooks
