// Package statusline shows a person at the terminal the state of a run: one line under the
// command's output.
//
//	looprun: iteration 3 of 10 · 1m2s of 15m · 2 failing · 2 of 3 alike
//
// The line is a guest on the screen. The command's output arrives byte for byte and in order,
// and looks as it would without the line:
//
//   - It is drawn when the output is at the start of an empty line and has
//     been quiet for a moment, and erased before anything else is written. It
//     never scrolls and never wraps.
//   - If a command does more than print coloured lines, such as move the cursor, it has
//     a display of its own, and the line is not drawn until the iteration ends.
//   - It is drawn only while looprun is in the foreground of the terminal and
//     no other program has set the terminal up to read single keys: no pager,
//     editor, prompt or shell is drawn over.
//   - Looprun's own messages go through the same [Display], so that they begin
//     on a new line.
//
// Its cost for the output is a scan for escape sequences; the only system call is the one that
// erases a drawn line.
package statusline
