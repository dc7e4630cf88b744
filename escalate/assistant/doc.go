// Package assistant lets a command answer questions: a program, a script, an agent's command
// line.
//
//	r := assistant.New(assistant.Options{Command: "./ask-the-model.sh"})
//
// The command receives one [Request] as JSON on its standard input: the question, information
// about the run, and the JSON Schema of the reply. It prints one [Reply] as JSON on its
// standard output, {"reason": …, "answer": …}, and exits with 0. docs/assistants.md describes
// how to write such a command.
//
// Everything fails closed: only a valid reply is an answer. The following are not answers,
// whatever was printed:
//
//   - an exit code other than 0, an end by a signal, no output: the command runs
//     again after 1, 2 and 4 seconds, then it is an error. Exit codes 126 and
//     127 mean that there is no such command, and it does not run again;
//   - a command that exceeds the time limit: it is ended with everything it
//     started, and does not run again, as it would only hang again;
//   - anything but one JSON object with exactly the two keys, each once, a
//     reason that is not blank, and an answer of the right type that was
//     offered; more than 1 MiB of output: the command runs once more and is told
//     what was wrong ([Request.Problem]), then it is an error.
//
// After an error the next responder gets the question. Some questions are not put to the
// command: those that only a person may answer, those addressed to a person, and those that
// allow choosing several options. Nor is it offered review, an answer that it has already
// given in the same trip, or an answer that could not be carried out.
//
// With [Options.Escalation], or if the question is for assistant_with_escalation, a rejection
// is not an answer but an [Escalated]: a person decides, and reads the command's advice. It is
// a [core.ErrNoAnswer], so the next responder is asked.
package assistant
