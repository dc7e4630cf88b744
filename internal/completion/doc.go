// Package completion answers a shell's request when somebody presses Tab. The shells' scripts
// know nothing about the program: they pass every word to it, and [Complete] finds the
// possible completions in the model of the command line. So there is a single source of truth:
// that of the parser.
//
// Completions can come from outside: the name of a run, the options of a question. They never
// reach a shell as code: a candidate with control characters is dropped, every other is quoted
// for its shell, and the scripts evaluate nothing.
package completion
