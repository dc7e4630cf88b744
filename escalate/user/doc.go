// Package user puts a question to the person at the terminal: a trip, or what
// the command in the loop asks.
//
// It is a gate: nothing but a deliberate choice made after the question was on
// the screen counts as an answer. What that takes:
//
//   - It opens the controlling terminal itself and never looks at standard
//     input, so that nothing piped into the program answers.
//   - The cursor starts on what decides the least: on the option that cancels a
//     trip; on no, where yes is not the default; else on the default of what the
//     command asks, or on the first entry that decides nothing yet (a field for
//     text, the review; where several can be ticked, an item without its tick).
//   - Only the arrow keys move it, only Enter chooses, and only a blank that
//     stands alone ticks; text, tabs, mouse reports and any other escape
//     sequence, whole or in pieces, late or not, do nothing. Enter right after
//     text is a pasted line and does nothing either.
//   - In a field text is text and Enter gives it, but for an Enter that comes
//     with pasted text, which is a blank. An empty field answers nothing.
//   - Keys count once the terminal has said that it showed the question, or the
//     field, and the keyboard has been quiet for a moment. What came before is
//     dropped.
//   - Ctrl-D, a terminal that goes away, an error, a panic: no answer. Ctrl-C, Ctrl-\
//     or a signal: [core.ErrInterrupted], also where a question may be declined,
//     for which there is an entry. The end of the context: its cause, even when
//     something was chosen at that moment.
//   - The terminal is put back as it was in every one of these cases.
//
// The list is drawn by a library that is used in survey.go and nowhere else. It
// never reads the terminal: a [keyboard] hands it the few keys it is to know.
package user
