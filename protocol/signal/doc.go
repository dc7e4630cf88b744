// Package signal defines the signals with which the command of a loop can inform looprun while
// it works: done, progress, blocked, an attempt, that an expert was unsuccessful, that it
// needs clarification, that it wants the next expert, and what it cost.
//
// A signal arrives as JSON over looprun's socket ([Parse]) or, for programs that can only
// print, as text in the output ([Scanner]):
//
//	SEEKING_CLARIFICATION: auth-12
//	Cause: ambiguous_criteria
//	Question: Must old tokens stay valid?
//	Options Considered:
//	1. Revoke all of them: users would be logged out
//	2. Keep them: the leak stays open
//
// # Grammar of the text
//
// A line is what a terminal shows of its first 4 KiB: escape sequences and carriage returns
// are applied first. A signal begins with a line that starts at column 0 and contains only its
// name, or the name, a colon and one word, the task's id:
//
//	LOOPRUN_DONE LOOPRUN_PROGRESS LOOPRUN_BLOCKED LOOPRUN_ATTEMPT LOOPRUN_COST
//	SEEKING_CLARIFICATION or SEEKING_DIVINE_CLARIFICATION (clarify)
//	EXPERT_UNSUCCESSFUL (unsuccessful)   EXPERT_REQUEST (expert)
//	ATTEMPT N: Self-Solve (attempt)
//
// Its body extends to the next signal or to the end of the output. The body's fields are Task,
// Agent, Question, Context, Options Considered, Attempts Made and What Would Help; Approach,
// Outcome and Why Different of an attempt; Cause of a clarification; Expert of a request; USD
// and Tokens of a cost. Text before the first field is the message. Only the last 200 lines
// count.
//
// Nothing in a fenced code block is a signal or a field. Blocks are those of CommonMark, and
// the beginning of a block counts however long ago it was printed. Two rules differ, because
// the text is mostly logs. A list item may begin with a fence. A row of more than eight
// tildes, or one that is followed by anything but a word, is an underline and opens no block.
//
// # Why the names are so long
//
// In many logs, plain words such as DONE, BLOCKED or PROGRESS are alone on a line, and an
// unintended signal ends a run or wakes a person. So all names that looprun chose begin with
// its own; the others are those that programs already print.
//
// A name in a sentence is not a signal. A name that is followed by a colon and more than one
// word, and a signal that lacks a required field, is [Malformed]: looprun tells the command
// and does nothing else.
package signal
