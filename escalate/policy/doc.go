// Package policy answers questions from a file, for runs that nobody watches.
//
//	version: 1
//	rules:                            # the first that matches answers
//	  - guard: max_iterations         # an id, a list of ids, or "*" for every guard
//	    when: improved && continues < 2
//	    answer: continue              # an option of that guard's question
//	    reason: Fewer tests fail than at the last trip.
//	  - guard: "*"
//	    answer: accept
//	    verify: make smoke            # has to exit with 0 for the rule to match
//	    reason: The smoke test passes, so the partial result is usable.
//	budget: {continues: 3, iterations: 30, runtime: 45m}
//	detached: deny                    # when no rule matched
//	exit_codes: {accepted: 0}
//
// A file is read once, as a whole: [Parse] compiles the conditions, checks them against the
// facts ([core.FactList]) and the answers against the options of the questions, and reports
// everything that is wrong. A rule that could never match is an error, because its author
// expects it to do something.
//
// "*" covers only looprun's own guards. What the command itself reports (rejection, blocked,
// clarification) and the end of the ladder (ladder_exhausted) are answered only by a rule that
// names them, and only with an option of their question. If a question must be put to a
// person, only a rule that names ladder_exhausted besides the guard that asks can answer it.
// No rule answers a question that only a person may answer, or one that the command asks.
//
// Everything fails closed. A policy without rules answers nothing. Comparing a fact that is
// not known decides nothing, unless the comparison itself covers that case (failing >= 0):
// "failing < 3" and "not (failing > 2)" are both undecided if nobody counted, but "failing < 3
// || improved" holds if improved does. An undecided condition does not hold, unless its rule
// forbids: a rule that cancels, pauses or rejects then matches, and its reason says why;
// unknown: skip turns that off. For such a rule "there is no tag" is a known fact in a build
// of a branch: tag == "" is true there, but not if nothing is known about the tag. A rule does
// not match, and [Evaluation] says why, if its condition fails, if its verify command exits
// with anything but 0 or not in time, if its option does not exist in the question or cannot
// be carried out, or if the budget is spent.
//
// [Policy.Responder] answers the questions of a run. [Policy.Evaluate] shows what it would
// answer, rule by rule, and [Policy.RunTests] runs the cases that the file itself lists under
// tests.
package policy
