// Package completion answers what a shell asks when somebody presses Tab. The
// scripts for the shells know nothing of the program: they hand every word to
// it, and [Complete] finds in the model of the command line what may come next.
// So there is one truth, and it is that of the parser.
//
// What is completed can come from outside: the name of a run, the options of a
// question. It never reaches a shell as code: a candidate that holds control
// characters is dropped, every other is quoted for the shell it goes to, and the
// scripts evaluate nothing.
package completion
