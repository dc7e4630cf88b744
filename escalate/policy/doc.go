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
// A file is read once, as a whole: [Parse] compiles the conditions, checks them
// against the facts ([FactList]) and the answers against the options of the
// questions, and reports everything that is wrong. A rule that could never
// match is an error, as its author believes that it does something.
//
// "*" covers looprun's guards and nothing else. What the command says (rejection,
// blocked, clarification) and the end of the ladder (ladder_exhausted) are
// answered by a rule that names them, and with what their question lists. A
// question that has to be put to a person is answered by no rule that does not
// name ladder_exhausted, beside the guard that asks; one that is a person's
// alone, and what the command asks, by none.
//
// Everything fails closed. A policy without rules answers nothing. Comparing a
// fact that is not known decides nothing, unless the comparison itself says
// what holds then (failing >= 0): "failing < 3" and "not (failing > 2)" are both
// undecided where nobody counted, "failing < 3 || improved" holds if improved does.
// An undecided condition does not hold, unless its rule forbids: a rule that
// cancels, pauses or rejects matches then, and says why in its reason; unknown: skip
// turns that off. For such a rule "there is no tag" is known, in a build of a branch.
// tag == "" is true there, and of no tag that is not known. A condition that fails, a verify command that exits with
// anything but 0 or not in time, an option that the question does not have or
// that cannot be carried out, a spent budget: the rule does not match, and
// [Evaluation] says why.
//
// [Policy.Responder] answers the questions of a run. [Policy.Evaluate] shows
// what it would answer, rule by rule, and [Policy.RunTests] runs the cases that
// the file itself lists under tests.
package policy
