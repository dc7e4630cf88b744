package core

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// Apply folds one event into the state. For an event that cannot happen in this state it
// returns [ErrEvent] and changes nothing: a journal that does not replay was damaged or
// written by something else.
func (s *State) Apply(e Event) error {
	if e.Data == nil {
		return refusal("event %d has no data", e.Seq)
	}
	if e.Seq != s.Seq+1 {
		return refusal("event %d follows %d", e.Seq, s.Seq)
	}
	if why := s.refuse(e.Data); why != "" {
		return refusal("event %d, %s: %s", e.Seq, e.Data.Type(), why)
	}
	s.take(e)
	return nil
}

// take folds an event that was not refused.
func (s *State) take(e Event) {
	s.Seq = e.Seq
	s.Elapsed = max(s.Elapsed, e.Elapsed) // time never runs backwards
	s.fold(e)
	if s.Pause != nil && s.Ending == nil && !s.Running && s.Trip == nil && !s.Advance && !s.Weigh && s.Unanswered() == nil {
		s.Ending, s.Pause = s.Pause, nil
	}
}

func (s *State) fold(e Event) {
	switch d := e.Data.(type) {
	case RunStarted:
		s.RunID, s.Name, s.Command, s.Check = d.RunID, d.Name, d.Command, d.Check
		s.Promise, s.Dir, s.Parent = d.Promise, d.Dir, d.Parent
		s.Repository = d.Repository
		s.Started, s.Precheck, s.Loose = e.Time, d.Precheck, d.Loose
		s.AnyValue, s.Often, s.Confirm = d.AnyValue, d.Often, d.Confirm
		if d.Tree != 0 {
			s.Previous = &Seen{Tree: d.Tree}
		}
		s.Task, s.Rungs = d.Name, d.Ladder
		s.SessionTurns = d.SessionTurns
		s.CallsPerHour, s.Protected, s.Tasks = d.CallsPerHour, d.Protected, d.Tasks
		s.Initial, s.Limits, s.Caps = d.Limits, d.Limits, d.Caps
	case IterationStarted:
		s.Open, s.Running = d.Iteration, true
		s.Holds = cmp.Or(d.Holds, s.Holds)
		if s.CallsPerHour > 0 && d.Iteration > 0 {
			s.Calls = last(append(s.Calls, e.Time), s.CallsPerHour)
		}
	case IterationFinished:
		s.foldOutage(d, e.Time)
		s.foldIteration(d)
	case IterationWithdrawn:
		if !d.HandedBack {
			s.Crashes++
		}
		s.foldLost()
		if s.Interrupt != nil {
			s.endInterrupted()
		}
	case GuardTripped:
		if d.During || s.LastTrip == nil || s.LastTrip.During || s.LastTrip.Guard != d.Guard || s.LastTrip.Iteration != d.Iteration {
			s.Given = nil
		}
		s.Trip, s.LastTrip = new(d.Trip), new(d.Trip)
		s.Trips++
	case QuestionAsked:
		if d.From == FromCommand {
			s.foldAsked(s.recalled(d.Question))
			return
		}
		s.Question = new(s.recalled(d.Question))
	case QuestionAnswered:
		given := Answered{QuestionID: d.QuestionID, Time: e.Time, Iteration: s.Iterations, Answer: d.Answer, Masked: d.Masked}
		a := s.asked(d.QuestionID)
		if a != nil {
			given.Asked = new(a.Question)
		}
		s.Answered = last(append(s.Answered, given), answeredKept)
		if a != nil {
			a.Answer = new(d.Answer)
			s.foldVerdict(&a.Question, d.Answer)
			return
		}
		q := *s.Question
		s.foldVerdict(&q, d.Answer)
		s.Question = &q
		s.Answer = new(d.Answer)
		s.Given = append(s.Given, Given{d.Option, d.Responder, d.Rule})
	case QuestionClosed:
		s.foldClosed(d)
	case ActionApplied:
		s.foldAction(d, e.Time)
	case DebugFinished:
		s.Findings = d.Findings
		s.spend(d.CostUSD, d.Tokens)
		if d.Action != ActionDebug || d.ExitCode != 0 {
			s.Question, s.Answer = nil, nil // asked again, with the findings
		}
	case InterruptReceived:
		s.Interrupt = &d
		s.takeBack()
		if !s.Running {
			s.endInterrupted()
		}
	case OrderReceived:
		s.foldOrder(d, e.Time)
	case RunPaused:
		if s.Ending == nil {
			s.Ending = &Ending{Status: StatusPaused, ExitCode: StatusPaused.ExitCode(), Reason: d.Reason}
		}
		s.Ended = true
	case RunResumed:
		s.foldResumed(d)
	case RunFinished:
		if s.Running {
			s.again()
		}
		s.Ending, s.Ended, s.Running = new(d.Ending), true, false
	case RunSuperseded:
		s.Ending = &Ending{Status: StatusSuperseded, ExitCode: StatusSuperseded.ExitCode(), Guard: s.Trip.Guard, Reason: d.Reason(), At: e.Time}
		s.settled()
	default:
		s.foldProtocol(d)
	}
}

// foldOutage records whether an agent has worked, and since when the service that it needs has
// been unavailable. An iteration that was cut off affects neither.
func (s *State) foldOutage(d IterationFinished, at time.Time) {
	switch {
	case d.Outage != "" && s.Outage == nil:
		s.Outage = &at
	case d.Outage == "" && !d.RunsAgain() && d.Iteration > 0:
		s.Outage = nil
		s.Worked = s.Worked || d.Outcome != OutcomeError
	}
}

// foldIteration counts the iteration, unless it runs again; it is then not used as evidence.
func (s *State) foldIteration(d IterationFinished) {
	s.Running, s.Open, s.Crashes = false, 0, 0
	s.warn(d.Warnings)
	s.Ran = &d
	if d.RunsAgain() {
		s.again()
		switch {
		case d.Outcome == OutcomeWaiting && d.Until == nil && s.Unanswered() != nil:
			s.foldWaiting(s.Unanswered())
		case d.Outcome == OutcomeWaiting:
			s.Until = d.Until
			s.Waits++
		}
		s.endWith(d)
		return
	}
	before := s.Last
	s.Last, s.Waits = &d, 0
	if s.Unanswered() == nil {
		s.SameQuestion, s.SameQuestions = 0, 0
	}
	s.Transcript = s.Transcript || d.Transcript
	if d.Iteration == 0 {
		s.Checked.take(d.Tally)
		s.Tasks = d.Tasks.after(s.Tasks)
		s.Precheck = false
		s.Passed = d.Outcome == OutcomeDone
		s.again() // nothing has had the guidance
		s.endWith(d)
		return
	}
	s.Iterations = d.Iteration
	s.SinceAnswer++
	s.judged(d)
	moved := s.foldTree(d)
	s.foldActing()
	if s.Malformed >= malformedOver { // it has made an error of this one
		s.Malformed = 0
	}
	s.guide(d)
	s.History = last(append(s.History, d), historyKept)
	if s.Baseline == nil {
		s.Baseline = d.Progress()
	}
	if p := d.Progress(); p.atLeast(s.Best) && (d.Checkpoint != "" || s.Best == nil || s.Best.Checkpoint == "") {
		s.Best = &Best{Iteration: d.Iteration, Checkpoint: d.Checkpoint, Progress: *p}
	}
	s.foldSession(d, before)
	s.endWith(d)
	if d.Outcome == OutcomeDone {
		return
	}
	s.Errors = last(append(s.Errors, d), errorsKept)
	if s.escalates(d.Iteration) && d.unstarted() != "" { // nothing was tried, so what was stuck before still is
		s.Streaks = s.Escalated.Before
		s.Escalated = &Escalation{Until: d.Iteration, Failed: d.Iteration}
		return
	}
	s.Weigh = len(s.Rungs) > 0 && !s.Advance
	s.weigh(d, moved)
}

// escalates reports whether another command works in the iteration.
func (s *State) escalates(iteration int) bool {
	return s.Escalated != nil && iteration > 0 && iteration <= s.Escalated.Until
}

// unstarted says how the work of an iteration that is not done ended, if it was not started or
// its exit code means that; otherwise it is empty.
func (d *IterationFinished) unstarted() string {
	code := d.ExitCode
	if d.WorkExitCode != nil {
		code = *d.WorkExitCode
	}
	switch {
	case code != ExitNotExecutable && code != ExitNotFound:
		return ""
	case d.Cause == CauseStartFailed:
		return "could not be started"
	}
	return fmt.Sprintf("ended with exit code %d", code)
}

// warn adds the warnings of an iteration, each only once.
func (s *State) warn(warnings []string) {
	for _, w := range warnings {
		if len(s.Warnings) < warningsKept && !slices.Contains(s.Warnings, w) {
			s.Warnings = append(s.Warnings, w)
		}
	}
}

// judged applies the judge's result.
func (s *State) judged(d IterationFinished) {
	s.Checked.take(d.Tally)
	s.Tasks = d.Tasks.after(s.Tasks)
	s.Advance = s.endsSubtask(d)
	s.Passed = d.Outcome == OutcomeDone && !s.Advance
}

// again prepares for repeating an iteration that was cut short: its messages are dropped,
// because it will send them again, and its guidance is kept.
func (s *State) again() {
	s.Malformed = max(0, s.Malformed-s.Unread)
	s.unsay()
	s.Guidance, s.Later = joinLines(s.Guidance, s.Later), ""
}

// tell adds guidance for the next iteration that begins.
func (s *State) tell(guidance string) {
	if s.Running {
		s.Later = joinLines(s.Later, guidance)
	} else {
		s.Guidance = joinLines(s.Guidance, guidance)
	}
}

// hold sets the guidance that applies until another answer replaces it.
func (s *State) hold(d ActionApplied) {
	switch {
	case d.Unsaid:
		s.Words = ""
	case d.Words != "":
		s.Words = s.delivered(d.Words)
	}
	if d.Holds != "" || d.OwnWords || d.Action.Retasks() || d.Action == ActionSkip {
		s.Holds, s.HeldFor, s.HeldOption = d.Holds, s.Trip, d.Option
	}
}

// Told returns the guidance for the next iteration: the lasting one and the one for it alone.
func (s *State) Told() string { return s.told(s.Holds) }

// told returns the guidance with that text of an option.
func (s *State) told(holds string) string {
	text := s.Guidance
	for _, held := range []string{s.Words, holds} {
		if !strings.Contains(text, held) {
			text = joinLines(held, text)
		}
	}
	return text
}

// guide sets the guidance of the next iteration after one that counts has ended.
func (s *State) guide(d IterationFinished) {
	had := s.Guidance
	if d.Cause != CauseCrash { // then it never came to use it
		had = ""
	}
	s.Guidance = joinLines(had, s.Later, joinLines(s.Notices...))
	s.Later, s.Notices = "", nil
}

// weigh adds the iteration to the evidence of the guards that count.
func (s *State) weigh(d IterationFinished, moved bool) {
	if s.Moving = s.moving(d, moved); s.Moving > 0 {
		s.streaksEnd()
		s.ErrorRun, s.ErrorHashes = 0, nil
		return
	}
	h := s.Match(d.Signature)
	if h != 0 && s.IsKnown(h) {
		s.KnownRun++
		return
	}
	if h != 0 { // of which nothing is known breaks no row
		s.KnownRun = 0
	}
	issue := KnownIssue{h, d.Signature.Label}
	if d.Outcome == OutcomeError {
		s.ErrorRun++
		if h != 0 && !slices.Contains(s.ErrorHashes, issue) {
			s.ErrorHashes = last(append(s.ErrorHashes, issue), errorHashesKept)
		}
	} else {
		s.ErrorRun, s.ErrorHashes = 0, nil
	}
	if h != 0 {
		s.Cycles.Add(h)
		s.Failures = last(append(s.Failures, failureOf(h, d)), mostOften)
		core := d.Signature.Core
		if d.Worded && d.Git && !moved {
			core = wordsCore
		}
		if core != s.Core {
			s.Core, s.CoreRun = core, 0
		}
		s.CoreRun++
		s.Labels = last(append(s.Labels, issue), signature.MaxPeriod)
	}
}

// wordsCore is the Core of turns in which an agent did nothing but say something.
const wordsCore signature.Hash = 1

// OnlyWords reports whether the last CoreRun iterations changed nothing and differ only in
// what the agent said, if at all.
func (s *State) OnlyWords() bool { return s.Core == wordsCore }

// moving counts the consecutive iterations that changed the work tree and are progress only
// because of that: a time limit ended the work, or an agent's turn ended and no check judges
// it.
func (s *State) moving(d IterationFinished, moved bool) int {
	judged := d.WorkExitCode != nil
	timedOut := d.WorkCause != CauseExited || !judged && d.Transcript && (d.Cause == CauseIterationTimeout || d.Cause == CauseIdleTimeout)
	turned := d.Transcript && d.Git && !judged && d.Outcome == OutcomeNotDone
	if !moved || !timedOut && !turned {
		return 0
	}
	return s.Moving + 1
}

// Failure is the failure of an iteration that counts.
type Failure struct {
	Hash    signature.Hash `json:"hash,omitempty"` // zero: it did not fail, it was only not done
	Failing int            `json:"failing"`        // checks; -1 is unknown
}

func failureOf(h signature.Hash, d IterationFinished) Failure {
	if d.ExitCode == 0 && d.Outcome != OutcomeError {
		h = 0
	}
	return Failure{Hash: h, Failing: d.Signature.Failing}
}

// endWith sets the ending if the iteration is the run's last.
func (s *State) endWith(d IterationFinished) {
	switch {
	case s.decided():
	case s.Interrupt != nil:
		s.endInterrupted()
	case d.Outcome == OutcomeInterrupted:
		s.Ending = &Ending{Status: StatusInterrupted, ExitCode: exitInterrupted, Reason: "the command was interrupted"}
	case s.Passed:
		if s.Weakened() == "" {
			s.endDone()
		}
	case d.Fatal != 0:
		s.Ending = &Ending{Status: StatusFailed, ExitCode: d.Fatal, Reason: d.Detail}
	}
}

// takeBack drops an answer that was not carried out, so that the question is asked again.
func (s *State) takeBack() {
	if s.Answer != nil {
		s.Answer, s.Given = nil, s.Given[:max(0, len(s.Given)-1)]
	}
}

// decided reports whether somebody has ended the run for good: no later event changes that
// before it is recorded.
func (s *State) decided() bool { return s.Ending != nil && !s.Ending.Status.Resumable() }

func (s *State) endDone() { s.Ending = &Ending{Status: StatusDone} }

func (s *State) endInterrupted() {
	if s.decided() {
		return
	}
	s.Ending = &Ending{Status: StatusInterrupted, ExitCode: s.Interrupt.Code, Reason: cmp.Or(s.Interrupt.Signal, s.Interrupt.Reason)}
}

func (s *State) foldOrder(d OrderReceived, at time.Time) {
	end := Ending{Responder: d.Responder, Reason: fmt.Sprintf("%s ordered it to %s", d.Who(), d.Order), At: at}
	switch d.Order {
	case OrderSay:
		s.tell(d.Words)
	case OrderPause:
		end.Status, end.ExitCode = StatusPaused, StatusPaused.ExitCode()
		s.Pause = &end
	case OrderStop:
		end.Status, end.ExitCode = StatusCancelled, StatusCancelled.ExitCode()
		if !s.decided() {
			s.Ending = &end
		}
		s.Interrupt = &InterruptReceived{Reason: end.Reason, Code: end.ExitCode}
		s.takeBack()
	}
}

func (s *State) foldClosed(d QuestionClosed) {
	if s.asked(d.QuestionID) != nil {
		if d.Unanswered { // it is asked again when the run is resumed
			s.Ending = &Ending{Status: StatusTripped, ExitCode: StatusTripped.ExitCode(), Reason: d.Reason}
			return
		}
		s.unask(d.QuestionID)
		return
	}
	if d.Unanswered {
		s.Ending = &Ending{Status: StatusTripped, ExitCode: s.Trip.Guard.ExitCode(), Guard: s.Trip.Guard, Reason: strings.TrimPrefix(s.Trip.Reason+"; "+d.Reason, "; ")}
	}
	s.settled()
}

// settled forgets the trip that was being settled, but keeps its answers: a guard that trips
// again without a new iteration is the same trip.
func (s *State) settled() {
	s.Trip, s.Question, s.Answer, s.Findings = nil, nil, nil, ""
	s.Restarted = false
}

func (s *State) foldAction(d ActionApplied, at time.Time) {
	if d.Pending {
		s.Ending = d.ending(StatusPaused, at)
		return
	}
	question := ""
	if s.Question != nil {
		question = s.Question.Text
	}
	s.Decisions = last(append(s.Decisions, Decision{at, s.Iterations, question, termsafe.Cut(s.Findings, findingsKept), d}), historyKept)
	s.hold(d)
	before := s.Limits
	s.Limits = d.Limits
	if before.raised(d.Guard, s.Limits) { // to trip again it has to get there first
		s.Given = nil
	}
	if d.Escalate > 0 {
		s.Escalated = &Escalation{Until: s.Iterations + d.Escalate, Before: s.Clone().Streaks}
	}
	for _, id := range d.Resets {
		s.reset(id)
	}
	for _, k := range d.Known {
		if !s.IsKnown(k.Hash) {
			s.Known = last(append(s.Known, k), knownKept)
		}
		s.SkippedBy = d.Guard
	}
	s.Baseline = s.Last.Progress()
	s.foldTask(d)
	if s.Answer != nil && s.Answer.Person && !d.Action.Stops() {
		s.unadvise(*s.Question)
	}
	switch d.Action {
	case ActionReject:
		s.Ending = d.ending(StatusRejected, at)
	case ActionAccept:
		s.Tasks = nil // the list is correct as it is
		s.Ending = d.ending(StatusAccepted, at)
	case ActionDone:
		s.Ending = d.ending(StatusDone, at)
	case ActionCancel:
		s.Ending = d.ending(StatusCancelled, at)
	case ActionPause:
		s.Ending = d.ending(StatusPaused, at)
		s.tell(d.Guidance)
	default:
		s.Continues++
		s.SinceAnswer, s.Outage = 0, nil
		s.tell(d.Guidance)
		if d.Responder == RespondedByPolicy {
			s.PolicyContinues++
			s.PolicyIterations += max(0, d.Limits.Iterations-before.Iterations)
			s.PolicyRuntime += max(0, d.Limits.Runtime-before.Runtime)
			s.PolicyCost += max(0, d.Limits.Cost-before.Cost)
			s.PolicyTokens += max(0, d.Limits.Tokens-before.Tokens)
		}
	}
	s.settled()
}

func (d ActionApplied) ending(status Status, at time.Time) *Ending {
	return &Ending{
		Status: status, ExitCode: status.ExitCode(), Guard: d.Guard,
		Decision: d.Option, Responder: d.Responder, Reason: d.Reason, Rule: d.Rule, Assistant: d.Assistant, At: at,
	}
}

// reset clears a guard's counter. Only an answered question may do so, and for consecutive
// failures the end of a sub-task.
func (s *State) reset(id GuardID) {
	if s.ResetAt == nil {
		s.ResetAt = map[GuardID]int{}
	}
	s.ResetAt[id] = s.Iterations
	if clear := id.Spec().reset; clear != nil {
		clear(s)
	}
}

// streaksEnd forgets repeated failures.
func (s *State) streaksEnd() {
	s.Cycles.Reset()
	s.Core, s.CoreRun, s.Failures = 0, 0, nil
	s.Labels, s.KnownRun = nil, 0
}

// foldResumed opens the run again. An iteration cut off by a crash is no longer running; it
// keeps its number and counts once it has finished.
func (s *State) foldResumed(d RunResumed) {
	s.Resumes++
	if e := s.Ending; d.Protected != nil && e != nil && e.Status == StatusPaused && e.Responder == RespondedByUser {
		s.Protected = d.Protected
	}
	if s.Running {
		s.Crashes++
		s.foldLost()
	}
	// An ending decided before a crash remains, unless the resume reverses it.
	if s.Ended || d.Reopen || s.Ending != nil && s.Ending.Status.Resumable() {
		s.Ending = nil
	}
	s.Ended, s.Interrupt, s.Pause = false, nil, nil
	s.Guidance, s.Deferred = joinLines(s.Guidance, s.Deferred), ""
	if d.Limits != nil {
		if t := s.LastTrip; t != nil && s.Limits.raised(t.Guard, *d.Limits) {
			s.Given = nil
		}
		s.Initial, s.Limits = *d.Limits, *d.Limits
	}
	if s.Passed && !s.decided() && s.Weakened() == "" { // only its record failed
		s.endDone()
	}
	if d.Caps != nil {
		s.Caps = *d.Caps
	}
	if d.Dir != "" {
		s.Dir = d.Dir
	}
	if d.Tree != 0 && (s.Previous == nil || s.Previous.Tree != d.Tree) {
		s.Session = AgentSession{} // it knows other files
	}
}

// foldLost withdraws an iteration whose end will never be observed.
func (s *State) foldLost() {
	s.Running = false
	s.again()
}

// last returns the last n elements of a list. The elements before them are released when the
// list next grows.
func last[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// How much of the command's messages is kept.
const (
	signalsKept   = 64 // of each name, in an iteration
	unreadKept    = 20
	malformedOver = 3 // malformed signals in a row that make an iteration an error
	treesKept     = 256
	blockersKept  = 50
)

func (s *State) foldProtocol(d Data) {
	switch d := d.(type) {
	case AnswerInvalid:
		if s.Answer != nil && s.Question != nil && s.Question.ID == d.QuestionID {
			s.takeBack()
			s.Question = nil // what can be chosen now is another question
		}
	case AdviceGiven:
		s.foldAdvice(d)
	case MessageRefused:
		s.notice(d.Reason)
	case SignalReceived:
		s.foldSignal(d)
	case QuestionDelivered:
		s.unask(d.QuestionID)
		if d.QuestionID == s.Undelivered {
			s.Undelivered = ""
		}
	case RejectionSubmitted:
		s.Rejected, s.Decided = &d, false
	case RejectionInvalid:
		s.Objects = "the command rejected the task, in a way that breaks the rules"
		for _, i := range d.Issues {
			s.notice(fmt.Sprintf("Your rejection was not valid: %s: %s", i.Problem, i.Remedy))
		}
	case RejectionDecided:
		s.Decided = true
	case CountersReset:
		s.Ladder.Reset(d.Task)
		s.Restarted = true
	case AttemptRecorded:
		s.foldAttempt(d)
	case ExpertFinished:
		s.foldExpert(d)
	case CostReported:
		s.spend(d.USD, d.Tokens)
	case WaitStarted:
		s.Until = &d.Until
	case SubtaskFinished:
		s.foldSubtask()
	case WaitFinished:
		s.Until = nil
	case TurnRepeated:
		s.foldRepeated(d)
	case CheckRerun:
		s.foldRerun(d)
	}
}

// notice adds a message for the next iteration.
func (s *State) notice(text string) {
	if !slices.Contains(s.Notices, text) {
		s.Notices = append(slices.Clone(s.Notices), text)
	}
}

func (s *State) foldSignal(d SignalReceived) {
	if d.Problem != "" {
		s.Malformed++
		s.Unread++
		s.notice(unread(d))
		switch d.Name {
		case signal.Blocked, signal.Clarify, NameChoices, NameRejection:
			s.Objects = "a message of the command could not be read"
		}
		return
	}
	s.Malformed = 0
	if d.Name == signal.Cost { // as often as there is something to report
		s.spend(d.USD, d.Tokens)
		return
	}
	s.Signals = append(s.Signals, d.Signal)
}

// spend adds to the totals. Costs are rounded to billionths of a dollar, so that three times
// 0.1 is 0.3.
func (s *State) spend(usd float64, tokens int64) {
	const billion, exact = 1e9, 1 << 53
	s.Cost, s.Tokens = plus(s.Cost, usd), plus(s.Tokens, tokens)
	if s.Cost < exact/billion {
		s.Cost = math.Round(s.Cost*billion) / billion
	}
}

// unsay drops the command's messages from the iteration that has ended.
func (s *State) unsay() { s.Signals, s.Unread, s.Objects = nil, 0, "" }

// said counts the signals of that name in the running iteration. Counting by name keeps room
// for the first of each, however many others came.
func (s *State) said(name signal.Name) int {
	n := 0
	for _, sig := range s.Signals {
		if sig.Name == name {
			n++
		}
	}
	return n
}

// unread tells the command which of its messages could not be read.
func unread(d SignalReceived) string {
	what := "Your signal " + string(d.Name)
	switch d.Name {
	case NameChoices:
		what = "The questions that you left"
	case NameRejection:
		what = "The rejection that you left"
	}
	return what + " could not be read: " + d.Problem
}

// The names under which unreadable documents in the output are recorded.
const (
	NameChoices   signal.Name = "choices"
	NameRejection signal.Name = "rejection"
)

// foldTree compares the work tree with its previous state and reports whether it changed. An
// unknown state counts neither as a change nor as idle.
func (s *State) foldTree(d IterationFinished) (moved bool) {
	before := s.Previous
	s.Previous = &Seen{s.Match(d.Signature), d.Tree}
	if d.Content != 0 {
		s.foldContent(d.Content)
	}
	moved = before != nil && before.Tree != 0 && d.Tree != 0 && before.Tree != d.Tree
	switch {
	case before == nil:
	case before.Signature != 0 && s.Previous.Signature != 0 && before.Signature != s.Previous.Signature, moved:
		s.Idle = 0
	case before.Tree != 0 && d.Tree != 0 && before.Signature != 0 && s.Previous.Signature != 0:
		s.Idle++
	}
	return moved
}

func (s *State) foldContent(content signature.Hash) {
	n := len(s.Trees)
	if n > 0 && s.Trees[n-1].Content == content {
		return
	}
	now := Tree{Content: content}
	trees := slices.Clone(s.Trees)
	if i := slices.IndexFunc(trees, func(t Tree) bool { return t.Content == content }); i >= 0 {
		now.Returns = trees[i].Returns + 1
		trees = slices.Delete(trees, i, i+1)
	}
	s.Trees = last(append(trees, now), treesKept)
}

// foldRepeated records a repetition and informs the next iteration.
func (s *State) foldRepeated(d TurnRepeated) {
	if s.Repeated == nil || s.Repeated.Iteration != d.Iteration { // else the turn has only not ended yet
		s.Repetitions++
	}
	s.Repeated = &d
	s.notice("Your last turn repeated itself: " + d.String() + ". Do not do that again: find out why it changes nothing, or try something else.")
}
