package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// Driver takes the steps of a run for a caller that runs its iterations, asks its questions
// and keeps its events: an engine.Loop, or a workflow engine. It starts no goroutine, does no
// I/O and reads the time only from Now, so the same calls produce the same events. Only one
// goroutine at a time may use it.
//
// A run is [Driver.Start] or [Driver.Resume], and then [Driver.Next] until it returns
// [NextEnd]. The caller does what Next returns:
//
//	NextPrecheck, NextIterate  Begin, run the iteration, Finish; or Withdraw it
//	NextAsk, NextAsked         ask State.Question or State.Unanswered: Answer, Unanswered or Defer
//	NextAct                    run the debug command of State.Question's option: Debugged
//	NextExpert                 run State.NextExpert: Advised
//	NextConfirm                run the check once more: Confirmed
//	NextWait                   wait until State.Until, and record WaitFinished
//	NextGoOn, NextFinish       an iteration runs: let it go on, or end it
type Driver struct {
	State *State
	// Record records an event and folds it into State, or does neither.
	Record func(Data) error
	// Now returns the current time, from which the end of a rate-limit wait is computed.
	Now    func() time.Time
	Guards []Guard
	// Questions turns a trip into a question; if nil, no questions are asked about trips.
	Questions Questions
	// Debug reports whether there is a debug command; without one, answers that need it are
	// refused.
	Debug bool
	// WaitDelay is the first wait for a limit that names no time; zero means 30 seconds. It
	// doubles up to 15 minutes.
	WaitDelay time.Duration
	// OutageLimit is how long to wait for an agent's outage to end. Zero means one hour,
	// negative means not to wait. An outage that lasts longer is an error, and so is an outage
	// before the first iteration that ended without an error.
	OutageLimit time.Duration
	// Witness returns what the running iteration has printed, for a question that stops it;
	// may be nil.
	Witness Witness
	// Mask is the mask that Record applies to texts. It is used here to compare new texts with
	// recorded ones; nil masks nothing.
	Mask func(string) string

	announced time.Time // the wait that is on record
}

// ErrRuntime is the cause of an iteration that was ended because nobody allowed it to continue
// past max_runtime.
var ErrRuntime = errors.New("max_runtime passed")

// Start begins a new run.
func (d *Driver) Start(e RunStarted) error {
	if err := errors.Join(e.Limits.Validate(), e.Limits.watched(d.Guards)); err != nil {
		return err
	}
	return d.Record(e)
}

// Resume resumes the run of State. A question that no longer applies under the new limits is
// withdrawn; one that was answered in the meantime is settled by its answer.
func (d *Driver) Resume(e RunResumed) error {
	limits := d.State.Limits
	if e.Limits != nil {
		limits = *e.Limits
	}
	if err := limits.watched(d.Guards); err != nil {
		return err
	}
	if err := d.Record(e); err != nil {
		return err
	}
	trip := d.State.Trip
	if trip == nil || d.State.Answer != nil {
		return nil
	}
	for _, g := range d.Guards {
		if g.ID() == trip.Guard && g.Check(d.State) == nil {
			return d.Record(QuestionClosed{QuestionID: d.State.questionID(), Reason: "the limit was raised on resume"})
		}
	}
	return nil
}

// Next carries out every step that it can by itself, and returns the first that is for the
// caller.
func (d *Driver) Next() (Next, error) {
	for {
		next, trip := d.State.Next(d.Guards)
		var err error
		switch next {
		case NextCrashed:
			err = d.crashed()
		case NextAdvance:
			err = d.advance()
		case NextWeigh:
			err = d.Record(d.State.Weighed())
		case NextTrip:
			err = d.Record(GuardTripped{*trip})
		case NextAsk:
			if d.State.Question != nil {
				return next, nil
			}
			err = d.pose()
		case NextAct:
			if d.runs() {
				return next, nil
			}
			err = d.act()
		case NextFinish:
			if d.State.Running {
				return next, nil
			}
			err = d.finish()
		case NextWait:
			return next, d.announce()
		case NextIterate:
			until, ok := d.State.paced(d.Now())
			if !ok {
				return next, nil
			}
			err = d.waits(until)
		default:
			return next, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// Begin records the start of iteration n (0 is the precheck) and returns the input for its
// runner. first reports whether this is the first iteration since the start or the resume.
func (d *Driver) Begin(n int, first bool) (Iteration, error) {
	s := d.State
	escalated, anew := s.escalates(n), d.holdsAnew()
	it := Iteration{
		Number: n, Limit: s.Limits.Iterations, First: first && !escalated, Escalated: escalated, Guidance: s.told(cmp.Or(anew, s.Holds)), Last: s.Ran,
		Answers: slices.Clone(s.Asked), Task: s.Task, Subtasks: s.Decomposed(),
		Tasks: slices.Clone(s.Tasks), TurnLoop: s.Limits.TurnLoop, MayTrip: s.mayTrip(), Session: s.Session.ID,
	}
	return it, d.Record(IterationStarted{Iteration: n, Holds: anew})
}

// holdsAnew returns the text of the option that is in effect as the option says it now; empty
// if that is the same, or is told for the first time.
func (d *Driver) holdsAnew() string {
	s := d.State
	if s.Holds == "" || s.HeldFor == nil || d.Questions == nil || strings.Contains(s.Guidance, s.Holds) {
		return ""
	}
	q, err := d.Questions.Question(s, *s.HeldFor)
	if o, ok := q.Option(s.HeldOption); err == nil && ok && o.Guidance != s.Holds {
		return o.Guidance
	}
	return ""
}

// Finish records the end of the iteration, after the messages in the command's output, and the
// delivery of the answers that Begin passed to it. The third malformed signal in a row turns
// its iteration into an error.
func (d *Driver) Finish(it Iteration, end IterationResult) error {
	asks := d.State.Unanswered() // from the running command itself, which was told to end
	for _, say := range end.Said {
		if err := d.say(say); err != nil {
			return err
		}
	}
	if end.Outage != "" {
		d.outage(&end)
	}
	if end.Outcome == OutcomeWaiting {
		end.Until = new(d.waitUntil(end.Until))
	}
	if why := d.State.objection(); why != "" && end.Outcome == OutcomeDone && len(d.State.Check) == 0 {
		end.Outcome, end.Detail = OutcomeNotDone, why
		if end.Signature = end.Printed; end.Printed.Hash == 0 {
			end.Signature = CauseSignature(CauseUnfinished)
		}
	}
	failed := end.Outcome == OutcomeNotDone || end.Outcome == OutcomeError
	if asks != nil && failed && end.Fatal == 0 && !d.State.asksInVain(asks) {
		end.Outcome, end.Detail = OutcomeWaiting, waitsForAnswer
	}
	if d.State.Malformed >= malformedOver && end.Outcome == OutcomeNotDone {
		end.Outcome = OutcomeError
		end.Detail = fmt.Sprintf("%d signals in a row could not be read", d.State.Malformed)
	}
	if why := d.State.contradiction(end); why != "" {
		end.Warnings = append(slices.Clone(end.Warnings), why)
	}
	end.Iteration = it.Number
	d.weigh(&end.IterationFinished)
	if err := d.Record(end.IterationFinished); err != nil || d.State.Iterations != it.Number {
		return err
	}
	return d.deliver(it.Answers)
}

// Withdraw records that the runner of the iteration is lost. The iteration counts as not begun
// and runs again under its own number, unless it was lost for the third time. One that was
// handed back was not lost.
func (d *Driver) Withdraw(reason string, handedBack bool) error {
	return d.Record(IterationWithdrawn{Iteration: d.State.Open, Reason: reason, HandedBack: handedBack})
}

// Tell records a message from the command. It returns [ErrEvent] if a command cannot send that
// message, or not now.
func (d *Driver) Tell(data Data) error {
	if why := d.unsayable(data); why != "" {
		return &Refusal{why}
	}
	return d.Record(identified(data, d.State.Seq+1))
}

// Acceptable checks that an answer fits the question with that id and can be carried out.
func (d *Driver) Acceptable(questionID string, a Answer) error {
	if k := d.State.asked(questionID); k != nil {
		if k.Answer != nil {
			return d.State.NotWaiting(questionID)
		}
		return k.Question.Accepts(a)
	}
	if d.State.Question == nil || d.State.Question.ID != questionID || d.State.Answer != nil {
		return d.State.NotWaiting(questionID)
	}
	return d.feasible(a)
}

// Answer records the answer to the question with that id. An answer that is not acceptable is
// an error and is not recorded.
func (d *Driver) Answer(questionID string, a Answer) error {
	if err := d.Acceptable(questionID, a); err != nil {
		return err
	}
	return d.Record(QuestionAnswered{QuestionID: questionID, Answer: a})
}

// Unanswered records that the question with that id stays unanswered, which ends the run with
// the guard's exit code.
func (d *Driver) Unanswered(questionID, reason string) error {
	return d.Record(QuestionClosed{QuestionID: questionID, Reason: reason, Unanswered: true})
}

// Defer pauses the run with its question pending. The caller must end a running iteration; it
// runs again when the run is resumed.
func (d *Driver) Defer() error {
	e := ActionApplied{
		Action: ActionPause, Limits: d.State.Limits,
		Responder: RespondedByDetached, Reason: "the question waits for an answer", Pending: true,
	}
	if d.State.Trip != nil {
		e.Guard = d.State.Trip.Guard
	}
	return d.Record(e)
}

// Debugged records the end of the command that the answer runs. After a successful debug
// command the run continues; otherwise the question is asked again, with the command's
// findings.
func (d *Driver) Debugged(end DebugFinished) error {
	o, err := d.State.Question.Resolve(*d.State.Answer)
	if err != nil {
		return err
	}
	end.Action = o.Action
	if err := d.Record(end); err != nil || o.Action != ActionDebug || end.ExitCode != 0 {
		return err
	}
	return d.act()
}

// Advised records the end of the next expert.
func (d *Driver) Advised(end ExpertFinished) error {
	e, _ := d.State.NextExpert()
	end.Task, end.Expert = d.State.LadderTask(), e.Name
	if !end.Helped() {
		end.Guidance = ""
	}
	return d.Record(end)
}

// GoOn records that somebody ended the wait for an external limit early. It returns [ErrEvent]
// if the run may not start an iteration now.
func (d *Driver) GoOn() error {
	if _, late := d.State.paced(d.Now()); late {
		return &Refusal{fmt.Sprintf("%d iterations started within the last hour, and no more may", d.State.CallsPerHour)}
	}
	if d.State.Until == nil {
		return &Refusal{"nothing is being waited for"}
	}
	return d.Record(WaitFinished{Early: true})
}

// Remaining returns the active time left until the first guard with a deadline may trip, given
// the time elapsed; found is false if there is none.
func (d *Driver) Remaining(elapsed time.Duration) (left time.Duration, found bool) {
	for _, g := range d.Guards {
		g, ok := g.(Deadline)
		if !ok {
			continue
		}
		if r, ok := g.Remaining(d.State); ok {
			r -= elapsed - d.State.Elapsed // since the last event
			if !found || r < left {
				left, found = r, true
			}
		}
	}
	// The recorded time, in milliseconds, must exceed the limit before the guard trips.
	return plus(left, time.Millisecond), found
}

// Overdue records the trip of the first guard whose deadline has passed in the running
// iteration. It reports false if none had passed at the last event.
func (d *Driver) Overdue() (bool, error) {
	trip := d.overdue()
	if trip == nil {
		return false, nil
	}
	trip.Iteration, trip.During = d.State.Open, true
	if d.Witness != nil {
		text, quiet := d.Witness.Printed()
		trip.Output, trip.QuietMS = text, quiet.Milliseconds()
	}
	return true, d.Record(GuardTripped{*trip})
}

// Due reports whether a guard's deadline had passed at the last event.
func (d *Driver) Due() bool { return d.overdue() != nil }

func (d *Driver) overdue() *Trip {
	for _, g := range d.Guards {
		if g, ok := g.(Deadline); ok {
			if trip := g.Check(d.State); trip != nil {
				return trip
			}
		}
	}
	return nil
}

// crashLimit is how many times looprun, or the runner of an iteration, may die in an iteration
// before it counts as an error.
const crashLimit = 3

// crashed counts the iteration as an error instead of running it once more.
func (d *Driver) crashed() error {
	n := d.State.NextIteration()
	if d.State.Precheck {
		n = 0
	}
	return errors.Join(d.Record(IterationStarted{Iteration: n}), d.Record(IterationFinished{
		Iteration: n, Outcome: OutcomeError, Cause: CauseCrash, ExitCode: -1,
		Detail:    "it did not end: looprun, or the worker that ran it, stopped or was lost each time",
		Signature: CauseSignature(CauseCrash),
	}))
}

// deliver records that the iteration has received the answers to the questions of the one
// before. It is written only after the iteration has ended, so that an iteration that was cut
// off receives them again.
func (d *Driver) deliver(answers []Asked) error {
	if id := d.State.Undelivered; id != "" {
		if err := d.Record(QuestionDelivered{QuestionID: id, To: "guidance"}); err != nil {
			return err
		}
	}
	for _, a := range answers {
		if kept := d.State.asked(a.Question.ID); a.Answer == nil || !a.Question.Returned || kept == nil {
			continue
		}
		if err := d.Record(QuestionDelivered{QuestionID: a.Question.ID, To: "file"}); err != nil {
			return err
		}
	}
	return nil
}

// say records a message from the command's output, or its refusal.
func (d *Driver) say(data Data) error {
	data = identified(data, d.State.Seq+1)
	if q, ok := data.(QuestionAsked); ok {
		if k := d.State.Kept(q.Question); k != nil && k.Answer == nil {
			return nil // it waits already
		}
		if q.AskID == AgentAsks && d.State.objection() != "" {
			return nil
		}
	}
	if why := d.unsayable(data); why != "" {
		data = d.notTaken(data, why)
	}
	if data == nil {
		return nil
	}
	return d.Record(data)
}

// unsayable returns why the command cannot send that message, or not now; empty if it can.
func (d *Driver) unsayable(data Data) string {
	if !sayable(data) {
		return "no command can say that"
	}
	return d.refuses(data)
}

// FromCommand prepares a question that the running command asks and waits for, as it will be
// recorded next: with its name, where it comes from, and earlier advice against it.
func (d *Driver) FromCommand(q Question) Question {
	q = q.fromCommand(d.State.Seq + 1)
	if q.Evidence == nil { // that of a run inside this one says where it comes from
		q.Evidence = d.State.asking()
		q.Details = append([]string{q.Evidence.Place() + " · run " + q.Evidence.RunID}, q.Details...)
	}
	return d.WithAdvice(q)
}

// Refuse returns an [ErrEvent] with the reason why the event cannot happen now, in its
// recorded form, or nil if it can.
func (d *Driver) Refuse(data Data) error {
	if why := d.refuses(data); why != "" {
		return &Refusal{why}
	}
	return nil
}

// refuses returns why the event cannot happen now, in its recorded form.
func (d *Driver) refuses(data Data) string {
	if d.Mask != nil {
		data = d.State.masked(data, d.Mask)
	}
	return d.State.refuse(data)
}

// notTaken returns the event to record in place of a refused message of the command; nil if it
// is already recorded. A refused question keeps the iteration from being done.
func (d *Driver) notTaken(data Data, why string) Data {
	if _, asks := data.(QuestionAsked); asks {
		unread := SignalReceived{Signal: signal.Signal{Name: NameChoices}, Problem: why}
		if d.refuses(unread) == "" {
			return unread
		}
	}
	why = fmt.Sprintf("Your answer (%s) was not accepted: %s", data.Type(), why)
	if slices.Contains(d.State.Notices, why) {
		return nil
	}
	return MessageRefused{why}
}

// identified gives the command's rejections and questions their ids.
func identified(d Data, seq int64) Data {
	id := fmt.Sprintf("rejection-%d", seq)
	switch d := d.(type) {
	case RejectionSubmitted:
		d.RejectionID = id
		return d
	case RejectionInvalid:
		d.RejectionID = id
		return d
	case QuestionAsked:
		d.Question = d.Question.fromCommand(seq)
		return d
	}
	return d
}

// advance records the end of a sub-task.
func (d *Driver) advance() error {
	s := d.State
	n := len(s.Finished) + 1
	e := SubtaskFinished{Iteration: s.Iterations, Title: title(*s.Subtask), Number: n, Of: n + len(s.Subtasks)}
	if len(s.Subtasks) > 0 {
		e.Next = title(s.Subtasks[0])
	}
	return d.Record(e)
}

// pose records the question before anybody is asked, or that nobody is asked.
func (d *Driver) pose() error {
	s := d.State
	if d.Questions == nil {
		return d.Unanswered("", "nobody is asked about it")
	}
	q, err := d.Questions.Question(s, *s.Trip)
	if err != nil {
		return fmt.Errorf("the question for %s cannot be made: %w", s.Trip.Guard, err)
	}
	texts, _ := d.Questions.(Texts)
	q = s.offer(q, texts)
	q.ID = fmt.Sprintf("%s-%d", s.Trip.Guard, s.Seq+1)
	q.Guard = s.Trip.Guard
	q.Kind = cmp.Or(q.Kind, KindSelect)
	return d.Record(QuestionAsked{d.WithAdvice(q)})
}

// WithAdvice returns the question with an assistant's earlier advice against it. It compares
// the recorded form of the question, which is the only form that the state knows.
func (d *Driver) WithAdvice(q Question) Question {
	recorded := q
	if d.Mask != nil {
		if masked, ok := d.State.masked(QuestionAsked{q}, d.Mask).(QuestionAsked); ok {
			recorded = masked.Question
		}
	}
	if a := d.State.adviceOn(recorded); a != nil && q.Advice == nil {
		return q.WithAdvice(*a)
	}
	return q
}

// feasible checks that an answer fits the question of the trip and that its action can be
// carried out.
func (d *Driver) feasible(a Answer) error {
	o, err := d.State.Resolve(a)
	if err == nil && (o.Action == ActionDebug || o.Action == ActionRun) && !d.Debug {
		return fmt.Errorf("%s answered %q, and no debug command is configured", a.Responder, a.Option)
	}
	return err
}

// runs reports whether carrying out the answer needs a command to run.
func (d *Driver) runs() bool {
	if d.feasible(*d.State.Answer) != nil {
		return false
	}
	o, err := d.State.Question.Resolve(*d.State.Answer)
	return err == nil && (o.Action == ActionDebug || o.Action == ActionRun)
}

// act carries out the answer. The answer was recorded earlier, so what it needs may be gone by
// now, because of other caps or a missing debug command; if so it is taken back, and the
// question is asked again.
func (d *Driver) act() error {
	s, a := d.State, *d.State.Answer
	err := d.feasible(a)
	var o Option
	var e ActionApplied
	if err == nil {
		o, err = s.Question.Resolve(a)
	}
	if err == nil {
		e, err = s.Effect(o, a)
	}
	if err != nil {
		return d.Record(AnswerInvalid{QuestionID: s.questionID(), Responder: a.Responder, Reason: err.Error()})
	}
	for _, before := range s.consequences(o, a, e) {
		if err := d.Record(before); err != nil {
			return err
		}
	}
	return d.Record(e)
}

func (d *Driver) finish() error {
	end := *d.State.Ending
	if end.Status == StatusPaused {
		return d.Record(RunPaused{Reason: end.Reason, Pending: len(d.State.Pending()) > 0})
	}
	return d.Record(RunFinished{end})
}

// The first and the longest wait for a limit that names no time, unless the backoff sets
// others.
const (
	waitFirst = 30 * time.Second
	waitMost  = 15 * time.Minute
)

// waitUntil returns when the wait after an iteration that just ended as waiting is over: the
// time that its output names, or else 30 seconds from now, doubled for each consecutive wait
// up to 15 minutes.
func (d *Driver) waitUntil(named *time.Time) time.Time {
	now := d.Now()
	if named != nil && named.After(now) {
		return *named
	}
	delay := d.WaitDelay
	if delay <= 0 {
		delay = waitFirst
	}
	for range min(d.State.Waits, 16) {
		delay = min(2*delay, max(waitMost, d.WaitDelay))
	}
	return now.Add(delay)
}

// outageLimit is the default of OutageLimit.
const outageLimit = time.Hour

// outage gives an iteration the outcome waiting if the service that the agent needs was
// unavailable, or adds to its detail why the run does not wait.
func (d *Driver) outage(end *IterationResult) {
	limit := cmp.Or(d.OutageLimit, outageLimit)
	why := ""
	switch began := d.State.Outage; {
	case limit < 0:
		why = "outages are not waited out"
	case !d.State.Worked:
		why = "no turn worked before it, so it is not waited out"
	case began != nil && d.Now().Sub(*began) >= limit:
		why = fmt.Sprintf("it has lasted %s, the limit of an outage", plural.Duration(d.Now().Sub(*began).Round(time.Second)))
	default:
		end.Outcome, end.Match = OutcomeWaiting, end.Outage
		return
	}
	if end.Detail != "" {
		end.Detail += "; "
	}
	end.Detail += "outage: " + end.Outage + "; " + why
}

// announce records, once, that the run waits for a rate limit.
func (d *Driver) announce() error {
	until := *d.State.Until
	if d.announced.Equal(until) {
		return nil
	}
	return d.waits(until)
}

// waits records a wait and its reason.
func (d *Driver) waits(until time.Time) error {
	d.announced = until
	match := ""
	if d.State.Ran != nil {
		match = d.State.Ran.Match
	}
	if from, _ := d.State.paced(d.Now()); match == "" && from.Equal(until) {
		match = fmt.Sprintf("%s in an hour are as many as may be", plural.Count(d.State.CallsPerHour, "iteration"))
	}
	return d.Record(WaitStarted{Match: match, Until: until})
}

// contradiction returns a warning if the judge's own output shows failing tests although its
// exit code means success; otherwise it returns an empty string.
func (s *State) contradiction(d IterationResult) string {
	if d.Outcome != OutcomeDone || d.ExitCode != 0 || !showsFailing(d.Printed) {
		return ""
	}
	judge := "the command"
	if len(s.Check) > 0 {
		judge = "the check"
	}
	printed := IterationFinished{Signature: d.Printed}
	return fmt.Sprintf("%s exited with 0, but its output shows %s. "+
		"Something after the tests hides their exit code: leave out “|| true” and the like, and with a pipe write bash -c 'set -o pipefail; …'", judge, cmp.Or(termsafe.Line(printed.Progress().String()), "that tests fail"))
}

// showsFailing reports whether an output shows failing tests: by name, or in a summary that
// has other counts too. “2 failed” alone may refer to anything.
func showsFailing(s signature.Signature) bool {
	return s.Kind == signature.KindTestFail && s.Failing != 0 && (len(s.Checks) > 0 || s.Passed >= 0 || s.Total >= 0)
}

// CauseSignature returns the signature of an iteration that looprun itself ended. It depends
// on the cause alone, because the output up to that moment is arbitrary.
func CauseSignature(c Cause) signature.Signature {
	kind, label := "error", "error:"+string(c)
	if c == CauseUnfinished {
		kind, label = string(c), string(c)
	}
	h := signature.Hash(xxhash.Sum64String(label))
	return signature.Signature{Kind: kind, Label: label, Hash: h, Loose: h, Failing: -1, Passed: -1, Total: -1}
}
