// Package looprun runs work again and again until it is done, and stops it
// when it is stuck:
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
