// Package engine carries out the decisions of package core in this process: [Loop] asks the
// core for the next step, runs an iteration through a [Runner], puts questions to the
// responders and writes events to the journal. [Executor] is the runner that runs a [Step] for
// the work and one for the check, analyzes their output as it arrives, and lets a [Judge]
// interpret their exits.
//
// It is for programs that put a run together themselves, as the command line does. Package
// looprun does so for all others, and exports what they need of this package.
package engine
