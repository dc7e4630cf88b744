// Package user puts a question to the person at the terminal: about a trip, or from the
// command in the loop.
//
// It is a gate: only a deliberate choice made after the question was on the screen counts as
// an answer. That requires the following:
//
//   - It opens the controlling terminal itself and never looks at standard
//     input, so that nothing piped into the program answers.
//   - Nothing is marked at first, except the default of a question that the command
//     asks and, if several items can be ticked, the first of them.
//   - A key marks and Enter takes the marked item. That holds for every item, words,
//     pause and review included: no key acts by itself, and no timer decides. Digits,
//     arrows, Home and End move the mark; a letter marks its item; a space ticks it if
//     items can be ticked. After a letter, w marks the words for the item that was marked.
//   - A sentence takes nothing. A space, or a second letter if an item is marked,
//     removes the mark and shows a message. Until Enter, Esc, Backspace or an arrow,
//     further characters do nothing, and that Enter takes nothing.
//   - A key that belongs to no item shows a message and changes nothing.
//   - Characters that arrive in one read were pasted and mark nothing. An Enter that
//     arrives in one read with another key takes nothing.
//   - In a field, text is text and Enter submits it, except for an Enter that arrives
//     with pasted text, which becomes a space. An empty field returns to the menu.
//   - Line by line ([Options].Plain), a line takes an item only if the whole line is its
//     number, its letter or its id, was read after the prompt was shown, and nothing
//     follows it in the same read.
//   - Keys count once the terminal has confirmed that it showed the question, or the
//     field, and the keyboard has been quiet for a moment. Earlier input is dropped.
//   - Ctrl-D ends nothing. A terminal that is closed, a hang-up, an error or a panic: no
//     answer. Ctrl-C, Ctrl-\ or another signal: [core.ErrInterrupted], even if a question may be
//     declined, for which there is an entry. The end of the context: its cause, even
//     if something was chosen at that moment.
//   - The terminal is restored in every one of these cases.
//
// The list is drawn by a library that is used only in survey.go. It never reads the terminal:
// a [keyboard] passes it the few keys that it needs.
package user
