// Package ask is the protocol between a command that needs a decision and whoever makes it:
// the documents, the rules that they must follow, and their JSON Schemas. It does not ask
// anybody itself.
//
// A [Request] holds one to four questions, its [Response] one answer for each. [Parse] is
// strict and reports all errors at once, with their place and a remedy. [CheckAnswer] alone
// decides whether an answer answers its question; every carrier uses it:
//
//   - looprun ask, over the run's socket: [Request] and [Response]
//   - a command that cannot wait prints [Choices] and exits: [ParseChoices], and
//     [ChoicesScanner], which finds them in its output
//   - another program's interface: [AskUserQuestion] and [ParseAnswers]
//
// Questions with the same [Key] are asked once; [Transfer] converts the answer for the other
// question and checks it.
package ask
