// Package ladder decides when an attempt counts, when an expert is asked, and
// when a person has to decide.
//
// A ladder has rungs: the command tries by itself (self_solve), then experts are
// asked (experts), then a person decides (human). An attempt is a distinct
// approach that failed; the same approach again is an iteration, not an attempt,
// and an iteration that improved is no failed one. After [MaxAttempts] failed
// attempts in all, before the next, a person has to decide; also after
// [MaxExpertFailures] failures of experts, at the end of the last automatic rung,
// and at once where the command names a cause, such as a security concern.
//
// [State] is the fold of what happened, a part of the state of a run: it is data,
// its zero value is a run in which nothing happened, and it survives JSON at any
// point. What happened is folded in with its methods, one for each event:
//
//	an iteration failed and did not improve  Failed, then attempt.recorded: Record
//	an iteration improved                    Improved
//	an expert's command ended                expert.finished: ExpertFinished
//	the command asked for an expert          signal.received: Request
//	the command needs a person               signal.received: Mandatory
//	a person answered                        counters.reset: Reset
//
// and [State.Next] says what the ladder wants before the next iteration. Whether
// an iteration improved is the caller's to say.
//
// Everything is pure: no I/O, no clock. Tasks are independent of each other.
package ladder
