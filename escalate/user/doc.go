// Package user puts a question to the person at the terminal: a trip, or what
// the command in the loop asks.
//
// It is a gate: nothing but a deliberate choice made after the question was on
// the screen counts as an answer. What that takes:
//
//   - It opens the controlling terminal itself and never looks at standard
//     input, so that nothing piped into the program answers.
//   - Nothing is marked at first, except the default of a question that the command
//     asks and, where several items can be ticked, the first of them.
//   - A key marks and Enter takes what is marked. That holds for every item, words, pause
//     and review included: no key acts by itself, and no timer decides. Digits, arrows,
//     Home and End move the mark; a letter marks its item; a blank ticks it where items
//     can be ticked. After a letter, w marks the words for the item that was marked.
//   - A sentence takes nothing. Where something is marked, a second letter or a blank
//     takes the mark away and says so. Until Enter, Esc, Backspace or an arrow, further
//     characters do nothing, and that Enter takes nothing.
//   - A key that no item has says so and changes nothing.
//   - Characters that come in one read were pasted and mark nothing. An Enter that comes
//     in one read with another key takes nothing.
//   - In a field text is text and Enter gives it, but for an Enter that comes with pasted
//     text, which becomes a blank. An empty field goes back to the menu.
//   - Line by line ([Options].Plain), a line takes an item only if the whole line is its
//     number, its letter or its id, was read after the prompt was shown, and nothing
//     follows it in the same read.
//   - Keys count once the terminal has said that it showed the question, or the
//     field, and the keyboard has been quiet for a moment. What came before is
//     dropped.
//   - Ctrl-D ends nothing. A terminal that is closed, an error or a panic: no answer.
//     Ctrl-C, Ctrl-\ or a signal: [core.ErrInterrupted], also where a question may be
//     declined, for which there is an entry. The end of the context: its cause, even
//     when something was chosen at that moment.
//   - The terminal is put back as it was in every one of these cases.
//
// The list is drawn by a library that is used in survey.go and nowhere else. It
// never reads the terminal: a [keyboard] hands it the few keys it is to know.
package user
