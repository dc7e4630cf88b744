// Package man writes manual pages, in the language of man(7), from the model of a command
// line: one for the program and one for each of its commands. A [Manual] supplies what the
// model does not know, such as exit codes and files.
//
// The same model and the same manual give the same bytes: a page has no date unless one is
// given.
package man
