package templates

import (
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// Sample returns a made-up run in which that guard has just tripped, for previews without a
// real run.
func Sample(guard core.GuardID) (*core.State, core.Trip) {
	if guard == AnyGuard {
		guard = "some_guard"
	}
	s := &core.State{
		RunID: "sample", Name: "Make the tests pass", Task: "Make the tests pass", Dir: "/src/shop",
		Command: []string{"./fix.sh"}, Check: []string{"go", "test", "./..."},
		Limits: core.DefaultLimits(), Elapsed: 4*time.Minute + 10*time.Second, Trips: 1,
		Baseline: &core.Progress{Failing: 3, Passed: 2, Total: 5},
	}
	s.Initial, s.Caps = s.Limits, core.DefaultCaps(s.Limits)
	s.Limits.Cost, s.Limits.Tokens, s.Limits.IdleIterations, s.Limits.WorkspaceCycles, s.Limits.TurnLoop = 2.5, 200_000, 3, 2, 8
	last := s.Limits.Iterations
	if guard != core.MaxIterations && guard != core.LoopDetected {
		last = 6
	}
	for i := 1; i <= last; i++ {
		s.Iterations = i
		d := sampleIteration(i, guard == core.ConsecutiveErrors && i > last-s.Limits.Errors)
		s.History = append(s.History, d)
		s.Errors = append(s.Errors, d)
		s.Labels = append(s.Labels, core.KnownIssue{Hash: d.Signature.Hash, Label: d.Signature.Label})
		s.Cycles.Add(d.Signature.Hash)
		s.Last = &d
	}
	s.Errors, s.Labels = s.Errors[len(s.Errors)-5:], s.Labels[len(s.Labels)-5:]
	trip := core.Trip{Guard: guard, Iteration: s.Iterations, Reason: "this is a made-up run"}
	switch guard {
	case core.MaxRuntime:
		s.Elapsed, s.Running, s.Open, trip.During = s.Limits.Runtime, true, s.Iterations+1, true
	case core.LoopDetected:
		trip.Window, trip.Period, trip.Repeats = s.Limits.Loop, 1, s.Limits.Loop
		trip.Also = []core.GuardID{core.MaxIterations}
	case core.ConsecutiveErrors:
		s.ErrorRun, trip.Window = s.Limits.Errors, s.Limits.Errors
	case core.NoProgress:
		trip.Window = s.Limits.IdleIterations
	case core.WorkspaceCycle:
		trip.Repeats = s.Limits.WorkspaceCycles
	case core.Weakened:
		s.Passed, s.Last.Outcome, s.Last.Signature = true, core.OutcomeDone, signature.Pass
		s.Last.Weakened = "Passes, with 2 tests where 7 ran: TestA, TestB are gone"
		trip.Reason = s.Last.Weakened
	case core.TurnLoop:
		s.Running, s.Open, s.Repetitions = true, s.Iterations+1, 2
		s.Repeated = &core.TurnRepeated{Iteration: s.Open, Calls: []string{`Bash {"command":"go test ./..."}`}, Times: s.Limits.TurnLoop}
		trip.During, trip.Repeats, trip.Reason = true, s.Limits.TurnLoop, s.Repeated.String()
	case core.Rejection:
		s.Rejected = &core.RejectionSubmitted{RejectionID: "sample", Rejection: sampleRejection()}
		trip.Reason = "the work rejects the task"
	case core.Blocked, core.Clarification:
		s.Signal = new(sampleSignal(guard))
		trip.Reason = "the work asks"
	case core.LadderExhausted:
		sampleLadder(s)
		trip.Reason = s.MandatoryReason()
	}
	return s, trip
}

// sampleFacts returns the variables of a guard's question in its made-up run.
func sampleFacts(guard core.GuardID, texts *messages) facts {
	state, trip := Sample(guard)
	return newSource(state, trip, core.CI{Branch: "main"}, texts).facts()
}

func sampleRejection() rejection.Rejection {
	return rejection.Rejection{
		Task: "auth-12", Agent: "coder", ReasonType: rejection.ScopeCreep,
		Summary: "The fix needs a new session store", Detail: "The tests fail because sessions are kept in memory.",
		Attempted:      []string{"Patched the cookie lifetime: 2 of 5 tests still fail.", "Added a lock to the store: the same 2 fail."},
		BlockingFactor: "Sessions do not survive a restart of the service.",
		Evidence:       []rejection.Evidence{{Type: "error_log", Data: "got 401, want 200", Source: "auth_test.go:31"}},
		Suggested:      "Keep sessions in the database, as a task of its own.",
		Alternatives: []rejection.Task{
			{Title: "Session store", Scope: "keep sessions in the database", Estimate: "2 days"},
			{Title: "Login", Scope: "use the session store", Dependencies: []string{"Session store"}},
		},
		OriginalScope: "Make the login tests pass.", Growth: 3,
	}
}

func sampleSignal(guard core.GuardID) signal.Signal {
	if guard == core.Blocked {
		return signal.Signal{
			Name: signal.Blocked, Task: "auth-12", Agent: "coder", Text: "The test database does not answer.",
			WouldHelp: "Somebody who can start the database.",
		}
	}
	return signal.Signal{
		Name: signal.Clarify, Task: "auth-12", Agent: "coder", Cause: signal.AmbiguousCriteria,
		Question: "Does a login end with the browser session?", Context: "The two tests contradict each other.",
		Considered: []signal.Considered{{Option: "End it", Why: "TestRemember fails"}, {Option: "Keep it", Why: "TestLogout fails"}},
		Attempts:   []string{"Read the design notes: they do not say."},
		WouldHelp:  "The rule that the product owner has in mind.",
	}
}

// sampleLadder records three failed approaches of the work itself and two failed experts.
func sampleLadder(s *core.State) {
	s.Task = s.Name
	s.Rungs = ladder.Config{
		{Rung: ladder.SelfSolve, Attempts: 3},
		{Rung: ladder.Experts, Attempts: 3, Experts: []ladder.Expert{{Name: "crypto", Command: "./ask-crypto.sh"}, {Name: "protocol", Command: "./ask-protocol.sh"}}},
		{Rung: ladder.Human},
	}
	const outcome = "2 of 5 tests fail"
	for i, approach := range []string{"patch the cookie lifetime", "lock the session store", "retry the login"} {
		if a, ok := s.Ladder.Failed(s.Rungs, s.Task, ladder.Key(approach, "", ""), approach, outcome, "", i+1); ok {
			s.Ladder.Record(a)
		}
	}
	for i, e := range s.Rungs[1].Experts {
		s.Ladder.ExpertFinished(s.Task, e.Name, false, "exit code 1", i+4)
	}
}

// sampleIteration returns an iteration with three failing checks, two from the fourth
// iteration on, or one that ended as an error.
func sampleIteration(i int, isError bool) core.IterationFinished {
	d := core.IterationFinished{
		Iteration: i, Outcome: core.OutcomeNotDone, ExitCode: 1, DurationMS: 25_000,
		Excerpt: "--- FAIL: TestAuth (0.01s)\n    auth_test.go:12: no session\n--- FAIL: TestLogin (0.02s)\n    auth_test.go:31: got 401, want 200\nFAIL\n",
		Words:   "Edited session.go. The tests should pass now.",
		Signature: signature.Signature{
			Kind: signature.KindTestFail, Label: "test-fail:2-auth,login", Hash: 2,
			Failing: 2, Passed: 3, Total: 5, Checks: []string{"TestAuth", "TestLogin"},
			Errors: []string{"auth_test.go:31: got 401, want 200"},
		},
	}
	if i <= 3 {
		d.Signature.Label, d.Signature.Hash = "test-fail:3-auth,login,logout", signature.Hash(3)
		d.Signature.Failing, d.Signature.Passed = 3, 2
	}
	if isError {
		d.Outcome, d.ExitCode = core.OutcomeError, 137
		d.Signature = signature.Signature{Kind: signature.KindError, Label: "error:OutOfMemory", Hash: 4, Failing: -1, Passed: -1, Total: -1}
		d.Excerpt = "compiling\nsignal: killed\n"
	}
	return d
}
