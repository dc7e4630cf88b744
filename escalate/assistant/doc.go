// Package assistant lets a command answer questions: a program, a script, an
// agent's command line.
//
//	r := assistant.New(assistant.Options{Command: "./ask-the-model.sh"})
//
// The command gets one [Request] as JSON on its standard input: the question,
// what is known about the run, and the JSON Schema of the reply. It prints one
// [Reply] as JSON on its standard output, {"reason": …, "answer": …}, and exits
// with 0. docs/assistants.md is written for those who write such a command.
//
// Everything fails closed: nothing but a valid reply is an answer. These are
// not, whatever was printed:
//
//   - an exit code other than 0, an end by a signal, no output: the command runs
//     again after 1, 2 and 4 seconds, then it is an error. Exit codes 126 and
//     127 say that there is no such command, and it does not run again;
//   - a command that takes longer than the time limit: it is ended with
//     everything it started, and does not run again, as it would only hang again;
//   - anything but one JSON object with exactly the two keys, each once, a
//     reason that is not blank, and an answer of the right type that was
//     offered; more than 1 MiB of output: the command runs once more and is told
//     what was wrong ([Request.Problem]), then it is an error.
//
// An error leaves the question to the next responder. Questions that are a
// person's alone, that are for a person, or of which several options can be
// chosen are not put to the command; review is not offered to it, nor an answer
// that it has given before in the same trip, nor one that could not be carried
// out.
//
// With [Options.Escalation], and where the question is for
// assistant_with_escalation, a rejection is no answer but an [Escalated]: a
// person decides, and reads what the command advised. It is a [core.ErrNoAnswer]: the
// next responder is asked.
package assistant
