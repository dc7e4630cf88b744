// Package looprun runs work again and again until it is done, and stops it
// when it is stuck.
//
// The package is a functional core with an imperative shell around it. The
// core is [State]: everything that happens to a run is an [Event], and
// [State.Apply] folds events into the state. It does no I/O and reads no
// clock, so the same events always give the same state; resuming a run is
// replaying its journal.
//
// The shell is [Loop]: it asks the state what is next, runs an iteration
// through a [Runner], writes what happened to a [Journal] before acting on it,
// lets every [Guard] look at the new state, and, when one trips, puts a
// [Question] to the [Responder]s in turn. An answer names an [Action], and the
// action changes the state. No answer never means “continue”.
//
// [Run] wires these together for the common case:
//
//	res, err := looprun.Run(ctx, looprun.Config{
//		Work:   looprun.Func(fix),
//		Check:  looprun.Argv("go", "test", "./..."),
//		Limits: looprun.DefaultLimits(),
//		Guards: guards.Default(),
//	})
//
// A run that a guard stopped is a [Result] with [StatusTripped], not an error;
// an error means that looprun itself failed.
//
// # What a program brings along
//
// Work and check are functions ([Func]) or commands ([Argv], [Shell]); a program
// with commands calls [Guardian] first in its main. Limits are stated one by one or
// [Off]. Guards are those of package guards, or one's own ([Guard]; guardtest checks
// that it keeps the rules). Questions come from package templates, and who answers
// them is a [Responder]: a function, or one of the packages in escalate. A [Journal]
// on disk comes from package scratchpad, and Config.Resume goes on from there. What
// happens can be watched by an [Observer], and is logged with [log/slog].
//
// # What the package leaves alone
//
// It has no state of its own: runs share nothing, and several can go on at once. It
// installs no signal handler, prints nothing, never exits, and reads no file and no
// variable for itself; commands get the environment of the program. What waits for
// work or for people takes a context, and ends when that does.
package looprun
