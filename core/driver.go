package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// Driver takes the steps of a run for whoever runs its iterations, asks its questions and
// keeps its events: an engine.Loop, or a workflow engine. It starts no goroutine, does no I/O
// and knows no time but Now, so the same calls give the same events. One goroutine at a
// time may use it.
//
// A run is [Driver.Start] or [Driver.Resume], and then [Driver.Next] until that returns
// [NextEnd]: what Next returns is for the caller to do.
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
	// Record puts an event on record and folds it into State, or does neither.
	Record func(Data) error
	// Now is the time by which it is decided how long a rate limit is waited out.
	Now    func() time.Time
	Guards []Guard
	// Questions turns a trip into a question; nil: trips are not asked about.
	Questions Questions
	// Debug says that there is a debug command; without it the answer is refused.
	Debug bool
	// WaitDelay is how long a limit that names no moment is waited out at first;
	// zero is 30 seconds. It doubles up to 15 minutes.
	WaitDelay time.Duration
	// OutageLimit is how long an agent's outage is waited out; zero is an hour, and
	// negative not at all. A later one is an error, and so is one before the first
	// iteration that was none.
	OutageLimit time.Duration
	// Witness knows what the running iteration has printed, for a question that stops it;
	// nil: nobody does.
	Witness Witness
	// Mask is what Record takes out of texts, to compare what is said with what is on
	// record; nil: nothing.
	Mask func(string) string

	announced time.Time // the wait that is on record
}

// ErrRuntime is the cause with which an iteration is ended when nobody let it go on past
// max_runtime.
var ErrRuntime = errors.New("max_runtime passed")

// Start begins a new run.
func (d *Driver) Start(e RunStarted) error {
	if err := errors.Join(e.Limits.Validate(), e.Limits.watched(d.Guards)); err != nil {
		return err
	}
	return d.Record(e)
}

// Resume goes on with the run of State. A question that no longer stands under the limits
// that it is resumed with is withdrawn; one that was answered meanwhile is settled by its
// answer.
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

// Next takes every step that needs nobody, and returns the first that does.
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

// Begin puts the start of iteration n on record, 0 being the precheck, and returns what
// its runner is told. First says that none has run since the start or the resume.
func (d *Driver) Begin(n int, first bool) (Iteration, error) {
	s := d.State
	it := Iteration{
		Number: n, Limit: s.Limits.Iterations, First: first, Guidance: s.Told(), Last: s.Ran,
		Answers: slices.Clone(s.Asked), Task: s.Task, Subtasks: s.Decomposed(),
		Tasks: slices.Clone(s.Tasks), TurnLoop: s.Limits.TurnLoop, MayTrip: s.mayTrip(),
	}
	return it, d.Record(IterationStarted{n})
}

// Finish records the end of the iteration, behind what the command said with its output,
// and that it has had the answers that Begin gave it. The third malformed signal in a row
// makes the iteration that it came in an error: the command is lost.
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
		until := d.waitUntil(end.Until)
		end.Until = &until
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

// Withdraw records that whoever ran the iteration is lost: it has not begun, and runs
// again under its own number, unless it was lost for the third time.
func (d *Driver) Withdraw(reason string) error {
	return d.Record(IterationWithdrawn{Iteration: d.State.Open, Reason: reason})
}

// Tell records something that the command said. [ErrEvent] says that no command can say
// it, or not now.
func (d *Driver) Tell(data Data) error {
	if why := d.unsayable(data); why != "" {
		return &Refusal{why}
	}
	return d.Record(identified(data, d.State.Seq+1))
}

// Acceptable checks an answer to the question with that id, and that it can be carried
// out.
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

// Answer records the answer to the question with that id. One that is not acceptable is
// an error, and on no record.
func (d *Driver) Answer(questionID string, a Answer) error {
	if err := d.Acceptable(questionID, a); err != nil {
		return err
	}
	return d.Record(QuestionAnswered{QuestionID: questionID, Answer: a})
}

// Unanswered records that nobody answers the question with that id, which ends the run
// with the guard's exit code.
func (d *Driver) Unanswered(questionID, reason string) error {
	return d.Record(QuestionClosed{QuestionID: questionID, Reason: reason, Unanswered: true})
}

// Defer pauses the run with its question pending. An iteration that runs is to be ended;
// it runs again when the run is resumed.
func (d *Driver) Defer() error {
	e := ActionApplied{
		Action: ActionPause, Limits: d.State.Limits,
		Responder: RespondedByDetached, Reason: "the question waits for its answer", Pending: true,
	}
	if d.State.Trip != nil {
		e.Guard = d.State.Trip.Guard
	}
	return d.Record(e)
}

// Debugged records the end of the command that the answer runs. The run goes on where it
// was debug and has succeeded; else the question is asked again, with what it found.
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

// GoOn records that somebody ends the wait for a limit of others early. Where the run
// itself may start no iteration now, that is an [ErrEvent].
func (d *Driver) GoOn() error {
	if _, late := d.State.paced(d.Now()); late {
		return &Refusal{fmt.Sprintf("%d iterations started within the last hour, and no more may", d.State.CallsPerHour)}
	}
	if d.State.Until == nil {
		return &Refusal{"nothing is being waited for"}
	}
	return d.Record(WaitFinished{Early: true})
}

// Remaining is the active time until the first guard with a deadline may trip, when so
// much has elapsed; false: there is none.
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
	// A trip needs the limit to be passed on record, in milliseconds.
	return plus(left, time.Millisecond), found
}

// Overdue puts the trip of the first guard on record whose deadline has passed in the
// iteration that runs; false: none has, as far as the last event knows.
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

// Due reports whether a deadline of the guards has passed, as far as the last event knows.
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

// crashLimit is how often looprun, or who runs an iteration for it, may die in one before
// that counts as an error of the iteration.
const crashLimit = 3

// crashed counts the iteration, in place of running it once more.
func (d *Driver) crashed() error {
	n := d.State.NextIteration()
	if d.State.Precheck {
		n = 0
	}
	return errors.Join(d.Record(IterationStarted{n}), d.Record(IterationFinished{
		Iteration: n, Outcome: OutcomeError, Cause: CauseCrash, ExitCode: -1,
		Detail:    fmt.Sprintf("it was begun %d times, and looprun, or the worker that ran it, was lost each time", crashLimit),
		Signature: CauseSignature(CauseCrash),
	}))
}

// deliver puts on record that the iteration has had the answers to what the one
// before asked. It is not written before the iteration has ended: one that is cut
// off gets them again.
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

// say records what the command said with its output, or that it was not taken.
func (d *Driver) say(data Data) error {
	data = identified(data, d.State.Seq+1)
	if q, ok := data.(QuestionAsked); ok {
		if k := d.State.Kept(q.Question); k != nil && k.Answer == nil {
			return nil // it waits already
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

// unsayable says why the command cannot say that, or not now.
func (d *Driver) unsayable(data Data) string {
	if !sayable(data) {
		return "no command can say that"
	}
	return d.refuses(data)
}

// FromCommand is a question that the command asks while it runs, and waits for, as it goes
// on record next: with its name, where it comes from, and what was said against it before.
func (d *Driver) FromCommand(q Question) Question {
	q = q.fromCommand(d.State.Seq + 1)
	if q.Evidence == nil { // that of a run inside this one says where it comes from
		q.Evidence = d.State.asking()
		q.Details = append([]string{q.Evidence.Place() + " · run " + q.Evidence.RunID}, q.Details...)
	}
	return d.WithAdvice(q)
}

// Refuse says why the event cannot happen now, as it would be on record: an [ErrEvent], or
// nil when it can.
func (d *Driver) Refuse(data Data) error {
	if why := d.refuses(data); why != "" {
		return &Refusal{why}
	}
	return nil
}

// refuses says why the event cannot happen now, as it would be on record.
func (d *Driver) refuses(data Data) string {
	if d.Mask != nil {
		data = d.State.masked(data, d.Mask)
	}
	return d.State.refuse(data)
}

// notTaken is what is put on record in the place of something that the command said
// and that cannot happen; nil: it is on record already. A question that is not taken
// keeps the iteration from being done.
func (d *Driver) notTaken(data Data, why string) Data {
	if _, asks := data.(QuestionAsked); asks {
		unread := SignalReceived{Signal: signal.Signal{Name: NameChoices}, Problem: why}
		if d.refuses(unread) == "" {
			return unread
		}
	}
	why = fmt.Sprintf("What you said (%s) was not taken: %s", data.Type(), why)
	if slices.Contains(d.State.Notices, why) {
		return nil
	}
	return MessageRefused{why}
}

// identified gives a rejection and a question of the command their names.
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

// advance puts the end of a sub-task on record.
func (d *Driver) advance() error {
	s := d.State
	n := len(s.Finished) + 1
	e := SubtaskFinished{Iteration: s.Iterations, Title: title(*s.Subtask), Number: n, Of: n + len(s.Subtasks)}
	if len(s.Subtasks) > 0 {
		e.Next = title(s.Subtasks[0])
	}
	return d.Record(e)
}

// pose puts the question on record before anybody is asked, or that nobody is.
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
	if q.Kind == "" {
		q.Kind = KindSelect
	}
	return d.Record(QuestionAsked{d.WithAdvice(q)})
}

// WithAdvice is the question with what an assistant said against it before. The state
// knows it as it is on record.
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

// feasible checks an answer to the question of the trip, and that its action can be
// carried out.
func (d *Driver) feasible(a Answer) error {
	o, err := d.State.Resolve(a)
	if err == nil && (o.Action == ActionDebug || o.Action == ActionRun) && !d.Debug {
		return fmt.Errorf("%s answered %q, and no debug command is configured", a.Responder, a.Option)
	}
	return err
}

// runs reports whether the answer that is to be carried out needs a command to be run.
func (d *Driver) runs() bool {
	if d.feasible(*d.State.Answer) != nil {
		return false
	}
	o, err := d.State.Question.Resolve(*d.State.Answer)
	return err == nil && (o.Action == ActionDebug || o.Action == ActionRun)
}

// act carries out the answer. It was on record before, and what it needs can be gone
// since, under other caps or without a debug command: then it is taken back, and asked
// again.
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

// How long a limit that names no moment is waited out: the first time and at
// most, where the backoff says nothing else.
const (
	waitFirst = 30 * time.Second
	waitMost  = 15 * time.Minute
)

// waitUntil is the moment up to which an iteration that just ended as waiting has to be
// waited out: the one that its output names, else 30 seconds from now, doubled with each
// one in a row up to 15 minutes.
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

// outageLimit is how long an outage is waited out where nobody says otherwise.
const outageLimit = time.Hour

// outage makes an iteration wait in which the service that the agent needs was away, or
// says why it does not.
func (d *Driver) outage(end *IterationResult) {
	limit := cmp.Or(d.OutageLimit, outageLimit)
	why := ""
	switch began := d.State.Outage; {
	case limit < 0:
		why = "outages are not waited out"
	case !d.State.Worked:
		why = "no turn worked before it, so it is not waited out"
	case began != nil && d.Now().Sub(*began) >= limit:
		why = fmt.Sprintf("it goes on for %s, the limit of an outage", plural.Duration(d.Now().Sub(*began).Round(time.Second)))
	default:
		end.Outcome, end.Match = OutcomeWaiting, end.Outage
		return
	}
	if end.Detail != "" {
		end.Detail += "; "
	}
	end.Detail += "outage: " + end.Outage + "; " + why
}

// announce puts on record, once, that a rate limit is waited out.
func (d *Driver) announce() error {
	until := *d.State.Until
	if d.announced.Equal(until) {
		return nil
	}
	return d.waits(until)
}

// waits puts a wait on record, and what it is for.
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

// contradiction says that the judge's own output shows failing tests though its exit
// code is that of a success; empty: it does not, or says nothing of tests.
func (s *State) contradiction(d IterationResult) string {
	if d.Outcome != OutcomeDone || d.ExitCode != 0 || !showsFailing(d.Printed) {
		return ""
	}
	judge := "the command"
	if len(s.Check) > 0 {
		judge = "the check"
	}
	printed := IterationFinished{Signature: d.Printed}
	return fmt.Sprintf("%s ended with exit code 0, and its output says %s. "+
		"Something after the tests hides their exit code: leave out “|| true” and the like, and with a pipe write bash -c 'set -o pipefail; …'", judge, cmp.Or(termsafe.Line(printed.Progress().String()), "that tests fail"))
}

// showsFailing reports whether an output shows tests that fail: by their names, or
// in a summary that counts others as well. “2 failed” alone may be of anything.
func showsFailing(s signature.Signature) bool {
	return s.Kind == signature.KindTestFail && s.Failing != 0 && (len(s.Checks) > 0 || s.Passed >= 0 || s.Total >= 0)
}

// CauseSignature is the signature of an iteration that looprun itself ended:
// what it had printed by then depends on the moment, that it was ended does not.
func CauseSignature(c Cause) signature.Signature {
	kind, label := "error", "error:"+string(c)
	if c == CauseUnfinished {
		kind, label = string(c), string(c)
	}
	h := signature.Hash(xxhash.Sum64String(label))
	return signature.Signature{Kind: kind, Label: label, Hash: h, Loose: h, Failing: -1, Passed: -1, Total: -1}
}
