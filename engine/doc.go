// Package engine runs what package core decides, in this process: [Loop] asks the core what
// is next, runs an iteration through a [Runner], puts its questions to the responders and
// writes what happened to the journal. [Executor] is the runner that runs a [Step] for the
// work and one for the check, learns from their output as it comes, and has a [Judge] say
// what their ends mean.
//
// It is for programs that put a run together themselves, as the command line does. Package
// looprun does it for all others, and has what they need of this package.
package engine
