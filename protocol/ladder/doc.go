// Package ladder decides when an attempt counts, when an expert is asked, and when a person
// must decide.
//
// A ladder has rungs: the command tries by itself (self_solve), then experts are asked
// (experts), then a person decides (human). An attempt is a distinct approach that failed.
// Repeating an approach is an iteration but not an attempt, and an iteration that improved is
// not a failed one. After [MaxAttempts] failed attempts in all, a person must decide before
// the next one. The same applies after [MaxExpertFailures] failures of experts, at the end of
// the last automatic rung, and immediately if the command names a cause, such as a security
// concern.
//
// [State] is the fold of the events, a part of the state of a run. It is data, its zero value
// is a run in which nothing happened, and it can be saved as JSON at any point. Events are
// folded in with its methods, one for each event:
//
//	an iteration failed and did not improve  Failed, then attempt.recorded: Record
//	an iteration improved                    Improved
//	an expert's command ended                expert.finished: ExpertFinished
//	the command asked for an expert          signal.received: Request
//	the command needs a person               signal.received: Mandatory
//	a person answered                        counters.reset: Reset
//
// [State.Next] returns what the ladder requires before the next iteration. The caller decides
// whether an iteration improved.
//
// Everything is pure: no I/O, no clock. Tasks are independent of each other.
package ladder
