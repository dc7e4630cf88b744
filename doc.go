// Package looprun runs work again and again until it is done, and stops it when it is stuck:
//
//	res, err := looprun.Run(ctx, looprun.Config{
//		Work:   looprun.Func(fix),
//		Check:  looprun.Argv("go", "test", "./..."),
//		Limits: looprun.DefaultLimits(),
//		Guards: guards.Default(),
//	})
//
// A run that a guard stopped is a [Result] with [StatusTripped], not an error; an error means
// that looprun itself failed.
//
// # What a program brings along
//
// Work and check are functions ([Func]) or commands ([Argv], [Shell]); a program with commands
// calls [Guardian] first in its main. Each limit must be set or [Off]. Guards come from
// package guards, or you write your own ([Guard]; guardtest checks that it keeps the rules).
// Questions come from package templates. A [Responder] answers them: a function, or one of the
// packages in escalate. Package scratchpad provides a [Journal] on disk, and Config.Resume
// resumes from it. An [Observer] can watch all events.
//
// # What the package leaves alone
//
// It has no state of its own: runs share nothing, and several can run at once. It installs no
// signal handler, prints nothing, never exits, and reads no files or variables for itself;
// commands get the environment of the program. Everything that waits for work or for people
// takes a context, and stops waiting when the context ends.
package looprun
