// Package statusline shows a person at the terminal where a run stands: one line
// under the command's output.
//
//	looprun: iteration 3 of 10 · 1m2s of 15m · 2 failing · 2 of 3 alike
//
// The line is a guest on the screen. What a command prints arrives byte for byte
// and in order, and looks as it would without the line:
//
//   - It is drawn where the output stands at the start of an empty line and has
//     been quiet for a moment, and erased before anything else is written. It
//     never scrolls and never wraps.
//   - A command that does more than print lines in colours, such as moving the cursor,
//     draws a display of its own, and the line keeps away until the iteration is over.
//   - It is drawn only while looprun is in the foreground of the terminal and
//     nobody else has set that up for single keys: no pager, editor, prompt or
//     shell is drawn over.
//   - Looprun's own messages go through the same [Display], so that they begin
//     on a line of their own.
//
// What it costs the output is a look for escape sequences; there is no system
// call for it but the one that erases a line that was drawn.
package statusline
