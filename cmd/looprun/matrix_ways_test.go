//go:build unix

package main

import "github.com/looprun/looprun/core"

// way makes one guard trip, and no other, in as few iterations as it can.
type way struct {
	flags []string
	files map[string]string
	// work is what the command does while it fails, in shell; LOOPRUN is the binary.
	work string
	exit int // what it exits with then; zero is 1
	// after is how many iterations are finished when the question comes; with
	// during it comes while the next one runs.
	after  int
	during bool
	// judged says that the one that was running then counts when nobody answers.
	judged bool
	// code is the exit code of a run that nobody answers for.
	code int
	// personal says that a person has to answer, or a policy rule that names
	// ladder_exhausted: the question is mandatory.
	personal bool
}

// ways are known for every guard. The limits are the smallest that let the run
// go on once after an answer.
var ways = map[core.GuardID]way{
	core.Weakened: {
		flags: []string{"--weakened", "trip", "--check", "if test -e guidance; then echo 7 passed in 1s; else cat counts; fi; test -e passes"},
		files: map[string]string{"counts": "7 passed in 1s\n"}, // the work brings all 7 back where it is told to go on
		work:  "touch passes; echo '2 passed in 1s' >counts", after: 1, code: 116,
	},
	core.MaxIterations: {
		flags: []string{"--max-iterations", "1"},
		work:  "echo Error: unfinished", after: 1, code: 110,
	},
	core.MaxRuntime: {
		flags: []string{"--max-runtime", "200ms"},
		work:  "echo began; sleep 0.8; exit 0", during: true, code: 124,
	},
	core.LoopDetected: {
		flags: []string{"--loop-threshold", "2"},
		work:  "echo Error: same", after: 2, code: 111,
	},
	core.ConsecutiveErrors: {
		flags: []string{"--max-errors", "1", "--error-codes", "9"},
		work:  "echo Error: crashed", exit: 9, after: 1, code: 112,
	},
	core.MaxCost: {
		flags: []string{"--max-cost", "1"},
		work:  "LOOPRUN signal cost --usd 1.25", after: 1, code: 113,
	},
	core.MaxTokens: {
		flags: []string{"--max-tokens", "1000"},
		work:  "LOOPRUN signal cost --tokens 1250", after: 1, code: 113,
	},
	core.NoProgress: {
		flags: []string{"--max-idle-iterations", "1"},
		work:  "echo Error: idle", after: 2, code: 114,
	},
	core.WorkspaceCycle: {
		flags: []string{"--detect-workspace-cycles", "1"},
		work:  `echo "Error: try$LOOPRUN_ITERATION"; if test -e flag; then rm flag; else touch flag; fi`, after: 3, code: 114,
	},
	core.TurnLoop: { // the first time the turn is ended, and the next one told
		flags: []string{"--turn-loop", "2", "--max-errors", "off", "--loop-threshold", "off"},
		work: `test $LOOPRUN_ITERATION -gt 2 || for n in 1 2; do # the third is that of a run whose answer came later
	echo '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"'$n'","name":"Read","input":{"file_path":"a.go"}}]},"parent_tool_use_id":null,"session_id":"s","uuid":"a'$n'"}'
	echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"'$n'","content":"package a"}]},"parent_tool_use_id":null,"session_id":"s","uuid":"b'$n'"}'
done
test $LOOPRUN_ITERATION -gt 1 || sleep 600
sleep 2
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s","uuid":"r1"}'
exit 0`, after: 1, during: true, judged: true, code: 114,
	},
	core.Rejection: {
		flags: []string{"--name", "T-1"},
		files: map[string]string{"rejection.json": validRejection},
		work:  "LOOPRUN reject - <rejection.json", after: 1, code: 115,
	},
	core.Blocked: {
		work: "LOOPRUN signal blocked 'the disk is full'", after: 1, code: 115,
	},
	core.Clarification: {
		work: "LOOPRUN signal clarify --question 'Which of the two formats?'", after: 1, code: 115, personal: true,
	},
	core.LadderExhausted: {
		flags: []string{"--config", "ladder.yaml"},
		files: map[string]string{"ladder.yaml": "ladder:\n  - {rung: self_solve, attempts: 1}\n  - {rung: human}\n"},
		work:  "echo Error: attempt", after: 1, code: 115, personal: true,
	},
}

// validRejection has sub-tasks and an alternative, so that every decision is
// offered.
const validRejection = `{
 "task": "T-1", "agent": "worker", "reason_type": "SCOPE_CREEP",
 "reason_summary": "It became two tasks",
 "reason_detail": "The parser and the printer both have to change.",
 "what_attempted": ["Rewrote the parser alone", "Moved the printer into a package"],
 "blocking_factor": "The printer has no tests of its own",
 "suggested_alternative": "Do the parser first, and the printer in a task of its own",
 "alternative_tasks": [{"title": "Parser", "scope": "parse.go"}, {"title": "Printer", "scope": "print.go"}],
 "task_original_scope": "Fix one line of the parser", "scope_growth_factor": 3}`

// known is where somebody who adds a guard or an action has to add to the matrix.
const (
	addWay    = "the matrix knows no way to make %s trip; add one to ways in matrix_ways_test.go"
	addEffect = "the matrix does not know what the action %s does; add it to effects in matrix_test.go"
)
