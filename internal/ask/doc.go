// Package ask is the protocol between a command that needs a decision and whoever
// gives it: the documents, the rules they have to keep, and their JSON Schemas. It
// asks nobody itself.
//
// A [Request] holds one to four questions, its [Response] one answer for each.
// [Parse] is strict and reports everything that is wrong at once, with the place and a
// remedy. [CheckAnswer] is the one place that decides
// whether an answer answers its question; every carrier goes through it:
//
//   - looprun ask, over the run's socket: [Request] and [Response]
//   - a command that cannot wait prints [Choices] and exits: [ParseChoices], and
//     [ChoicesScanner], which finds them in its output
//   - another program's interface: [AskUserQuestion] and [ParseAnswers]
//
// Questions with the same [Key] are asked once; [Transfer] makes of the answer one
// to the other question and checks it against that.
package ask
