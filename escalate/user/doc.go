// Package user puts a question to the person at the terminal.
//
// It is a gate: nothing but a deliberate choice made after the question was on
// the screen counts as an answer. What that takes:
//
//   - It opens the controlling terminal itself and never looks at standard
//     input, so that nothing piped into the program answers.
//   - The cursor starts on the option that cancels. Only the arrow keys move it,
//     only Enter chooses; text, tabs, mouse reports and any other escape
//     sequence, whole or in pieces, late or not, do nothing. Enter right after
//     text is a pasted line and does nothing either.
//   - Keys count once the terminal has said that it showed the question, and
//     the keyboard has been quiet for a moment. What came before is dropped.
//   - Ctrl-D, a terminal that goes away, an error, a panic: no answer. Ctrl-C or
//     a signal: [looprun.ErrInterrupted].
//   - The terminal is put back as it was in every one of these cases.
//
// The prompt itself is drawn by a library that is used in survey.go and nowhere
// else. It never reads the terminal: a [keyboard] hands it the three keys it
// is to know.
package user
