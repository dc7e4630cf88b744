package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/tail"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/signature"
)

// Executor is the [Runner] that runs steps: the work, and the check that judges
// it. Output goes to the user, to the output file, through the signature and
// the promise scanner as it comes; nothing holds it whole.
type Executor struct {
	Work  Step
	Check Step // nil: the work's own exit judges
	// Agent is the coding agent that the work starts; empty: nobody says that it starts one.
	Agent string
	// Passes is how often in a row the check must pass; zero is once.
	Passes int
	Judge  *Judge // nil: [DefaultJudge]
	// Promise is the text that the work prints when it is done; empty: none.
	Promise         string
	PromiseAnywhere bool

	IterationTimeout time.Duration // work and check together; 0: none
	IdleTimeout      time.Duration // without output; 0: none
	KillAfter        time.Duration // between SIGTERM and SIGKILL; 0: 10s
	KeepBackground   bool

	Dir         string
	Env         func(core.Iteration) []string // whole environment; nil: the caller's with [core.Iteration.Environ]
	Stdin       func() (*os.File, error)      // for each step; nil: nothing to read
	Stdout      io.Writer                     // nil: output is not shown; one that has a method Flush gets a call when a step has ended
	Stderr      io.Writer                     // as Stdout
	Output      func(n int) (Output, error)   // where an iteration's output is kept; nil: nowhere
	Signature   signature.Options             // how signatures are made
	PTY         bool                          // stdout and stderr through a pseudo terminal
	Interactive bool                          // the work talks to the person at the terminal

	// Tree is the state of the work tree, asked before and after a check that may have to run
	// once more; zero is not known. Nil: no check is run once more.
	Tree func() signature.Hash

	// ShowRepeats shows what the check prints also where it is the failure of the iteration
	// before. Otherwise it waits for the end of the check, and is then shown or left out.
	ShowRepeats bool
	// Ending is called when a step is asked to end: a Stdout or Stderr that waits
	// for its reader holds the end up from then on. Nil: nobody is told.
	Ending func()

	// Reports adds what the command wrote to files since the iteration began to
	// the judge's signature; nil: there are no such files.
	Reports func(s *signature.Signer, since time.Time)

	// Mask takes secrets out of what is kept of a stream of output, and learned
	// from it; what is shown has them. Nil: there are none.
	Mask func(to func([]byte)) Masker
	// Listeners learn from what the work prints; they are reset before each
	// iteration. Heard is called when it has ended, to add what they found. Nil:
	// nobody listens, there is nothing to add.
	Listeners Streams
	Heard     func(core.Iteration, *core.IterationResult)
	// Changed lists the protected files that are not as they were; it is asked where the
	// judge has passed. The text shows what changed in them. Nil: none are protected.
	Changed func() (names []string, diff string)
	// AlsoPromised reports whether the promise was made otherwise than in its own
	// words; nil: it was not.
	AlsoPromised func() bool
	// WaitOn recognises rate limits in what the work and the check print; nil: there are none.
	WaitOn Matcher
	// StopOn recognises in what they print that no later iteration can pass; the run
	// then ends as failed. Nil: there is nothing of the kind.
	StopOn Matcher
	// Outages recognises in what a coding agent says of its own failure that the service
	// that it needs is away; nil: that is a failure like others.
	Outages Matcher

	wanted   atomic.Bool // a promise means something in this iteration
	promised atomic.Bool // it was made by a signal
	// held is closed when output that is held back may go on; nil: none is.
	held atomic.Pointer[chan struct{}]

	mu      sync.Mutex
	running Stopper
	holds   int           // why it stands still: a question, a job-control stop
	stands  bool          // it does, and its time with it: it is no step that goes on all the same
	asked   bool          // the command has asked something, and its time stands still
	still   int           // why its time does: those, and a question of its own
	stood   time.Duration // how long the iteration's time stood still
	since   time.Time     // since when it stands still
	killed  bool          // what is about to be started is to end at once

	turn        turn
	work, check *analyzer
	warnings    []string // of the iteration's steps
	recent      recent
	withheld    withheld
}

// Output keeps what an iteration prints: everything, and what the check prints
// once more by itself. Close ends both.
type Output interface {
	io.Writer
	Check() io.Writer
	Close() error
}

// Run runs one iteration: the work, then the check. The check runs also when a time
// limit ended the work, with an IterationTimeout of its own. It does not run when the
// run's time is over, or when the work cannot be run at its first try.
func (x *Executor) Run(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
	x.prepare(it)
	out, err := x.open(it.Number)
	if err != nil {
		return core.IterationResult{}, err
	}
	// A step whose output can no longer be kept is ended: nothing may be lost.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lost := &outputFile{cancel: cancel, out: out}

	began := time.Now()
	var exits Exits
	if it.Number > 0 {
		e := x.step(ctx, x.Work, x.work, it, lost.all, began)
		exits.Work = &e
		exits.Promised, exits.Unpromised = x.work.promised()
		if signal := x.promised.Load() || x.AlsoPromised != nil && x.AlsoPromised(); x.wanted.Load() && signal && x.Judge.keepsSignal(&e) {
			exits.Promised = true
		}
	}
	if x.Check != nil && x.checks(ctx, exits, it) {
		began := began
		if timedOut(exits.Work) {
			began = x.restart()
		}
		if !x.ShowRepeats {
			x.withheld.begin()
		}
		var before signature.Hash
		looks := it.MayTrip && x.Tree != nil
		if looks {
			before = x.Tree()
		}
		for n := 0; n < max(1, x.Passes); n++ {
			if n > 0 {
				x.check.reset()
			}
			from := time.Now()
			e := x.step(ctx, x.Check, x.check, it, lost.judge, began)
			exits.Check = &e
			if !x.Judge.passes(&e) {
				exits.took = time.Since(from)
				break
			}
		}
		exits.again = looks && before != 0 && x.Tree() == before && !cut(exits.Check) && !x.check.agents
	}
	if err := lost.close(); err != nil {
		x.reveal(x.withheld.rest())
		return core.IterationResult{}, fmt.Errorf("the output of iteration %d cannot be kept: %w", it.Number, err)
	}
	if x.Reports != nil {
		judge := x.work
		if exits.Check != nil {
			judge = x.check
		}
		x.Reports(judge.signer, began)
	}
	d := x.finished(exits, it, time.Since(began))
	if exits.Check != nil {
		x.reveal(x.withheld.end(&d, !cut(exits.Check)))
	}
	d.Said = append(d.Said, x.turn.said...)
	x.matched(&d.IterationFinished, exits.Work)
	if x.Heard != nil && it.Number > 0 {
		x.Heard(it, &d)
	}
	return d, nil
}

// Confirm implements [Confirmer]. What the check prints is not shown again.
func (x *Executor) Confirm(ctx context.Context, it core.Iteration) (core.IterationResult, int, error) {
	x.prepare(it)
	stdout, stderr := x.Stdout, x.Stderr
	x.Stdout, x.Stderr = nil, nil
	defer func() { x.Stdout, x.Stderr = stdout, stderr }()
	began, passes := time.Now(), 0
	exits := Exits{Promised: it.Last.Promised}
	for passes < max(2, x.Passes) {
		x.check.reset()
		e := x.step(ctx, x.Check, x.check, it, func([]byte) {}, began)
		if exits.Check = &e; !x.Judge.passes(&e) {
			break
		}
		passes++
	}
	if x.Reports != nil {
		x.Reports(x.check.signer, began)
	}
	return x.finished(exits, it, time.Since(began)), passes, nil
}

// checks reports whether there is something for the check to judge.
func (x *Executor) checks(ctx context.Context, e Exits, it core.Iteration) bool {
	return e.Work == nil || ctx.Err() == nil && !x.Judge.interrupted(e.Work) && (!cut(e.Work) || timedOut(e.Work)) && (!it.First || !unstartable(e.Work))
}

func (x *Executor) open(n int) (Output, error) {
	if x.Output == nil {
		return nil, nil //nolint:nilnil // no output is kept
	}
	out, err := x.Output(n)
	if err != nil {
		return nil, fmt.Errorf("the output of iteration %d cannot be kept: %w", n, err)
	}
	return out, nil
}

// prepare makes the analyzers once; they are reused for every iteration.
func (x *Executor) prepare(it core.Iteration) {
	if x.Judge == nil {
		x.Judge = new(DefaultJudge())
	}
	if x.work == nil {
		waits := x.WaitOn != nil || x.StopOn != nil || x.Outages != nil
		x.work = newAnalyzer(x.Signature, waits)
		x.work.listen(x.Promise, x.PromiseAnywhere, x.Listeners)
		x.check = newAnalyzer(x.Signature, waits)
	}
	x.work.reset()
	x.check.reset()
	x.recent.reset()
	x.beginTurn(it)
	x.warnings = nil // the last iteration has them
	x.promised.Store(false)
	x.wanted.Store(x.Judge.Promise || x.Check != nil && it.Subtasks.Left() > 1)
	x.mu.Lock()
	x.running, x.holds, x.still, x.stood, x.killed = nil, 0, 0, 0, false
	x.mu.Unlock()
}

func (x *Executor) step(ctx context.Context, s Step, t *analyzer, it core.Iteration, keep func([]byte), began time.Time) Exit {
	if it.Judging = t == x.check; !it.Judging {
		inTurn, over := x.inTurn(ctx)
		defer over()
		ctx = inTurn
	}
	in := Invocation{
		Iteration: it, Dir: x.Dir, Env: x.environ(it), PTY: x.PTY,
		Interactive: x.Interactive && t == x.work,
		Timeout:     x.IterationTimeout, IdleTimeout: x.IdleTimeout, KillAfter: x.KillAfter,
		KeepBackground: x.KeepBackground && t == x.work, Started: x.started, Ending: x.Ending,
	}
	if in.Timeout > 0 {
		in.Timeout -= time.Since(began) - x.stoodStill()
		if in.Timeout <= 0 {
			return Exit{Code: -1, Cause: core.CauseIterationTimeout, Detail: fmt.Sprintf("the iteration timeout of %s passed before the check", x.IterationTimeout)}
		}
	}
	if x.Stdin != nil && t == x.work {
		f, err := x.Stdin()
		if err != nil {
			return Exit{Code: core.ExitNotExecutable, Cause: core.CauseStartFailed, Detail: "its standard input cannot be opened: " + err.Error()}
		}
		defer f.Close()
		in.Stdin = f
	}
	stdout, flushOut := x.mask(func(b []byte) { keep(b); t.take(stdoutStream, b); x.recent.take(b) })
	stderr, flushErr := x.mask(func(b []byte) { keep(b); t.take(stderrStream, b); x.recent.take(b) })
	show := x.show
	if t == x.check {
		show = func(w io.Writer, b []byte) { x.withheld.take(w, b, x.show) }
	}
	in.Stdout = func(b []byte) { show(x.Stdout, b); stdout(b) }
	in.Stderr = func(b []byte) { show(x.Stderr, b); stderr(b) }
	e := s.Run(ctx, in)
	x.flush()
	flushOut()
	flushErr()
	t.settle(e.Code != 0)
	e.Failure, e.Turn = t.failure, t.turn()
	x.warnings = append(x.warnings, e.Warnings...)
	if e.Cause == core.CauseIterationTimeout {
		e.Detail = fmt.Sprintf("ended after the iteration timeout of %s", x.IterationTimeout)
	}
	x.mu.Lock()
	x.running = nil
	x.mu.Unlock()
	return e
}

// recent is the end of what the running step printed, for whoever asks meanwhile.
type recent struct {
	mu  sync.Mutex
	end tail.Buffer
	at  time.Time
}

func (r *recent) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end.Limit, r.at = excerptBytes, time.Now()
	r.end.Reset()
}

func (r *recent) take(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end.Take(b)
	r.at = time.Now()
}

// Printed is the end of what the running iteration has printed, without secrets and
// safe to show, and how long ago that was.
func (x *Executor) Printed() (end string, quiet time.Duration) {
	x.recent.mu.Lock()
	defer x.recent.mu.Unlock()
	return excerptOf(&x.recent.end), time.Since(x.recent.at)
}

// show passes output on. A reader that went away does not end the loop.
func (x *Executor) show(w io.Writer, b []byte) {
	if held := x.held.Load(); held != nil {
		<-*held
	}
	if w != nil {
		_, _ = w.Write(b)
	}
}

func (x *Executor) flush() {
	for _, w := range []io.Writer{x.Stdout, x.Stderr} {
		if f, ok := w.(interface{ Flush() }); ok {
			f.Flush()
		}
	}
}

func (x *Executor) environ(it core.Iteration) []string {
	if x.Env != nil {
		return x.Env(it)
	}
	return append(os.Environ(), it.Environ()...)
}

func (x *Executor) finished(e Exits, it core.Iteration, took time.Duration) core.IterationResult {
	judge, seen := e.Check, x.check
	if judge == nil {
		judge, seen = e.Work, x.work
	}
	d := core.IterationResult{IterationFinished: core.IterationFinished{
		Iteration: it.Number, Outcome: x.Judge.Outcome(e), ExitCode: judge.Code,
		Cause: judge.Cause, Detail: judge.Detail, DurationMS: took.Milliseconds(),
		Fatal: x.Judge.Fatal(e, it.First), Promised: e.Promised,
		OutputBytes: x.work.bytes + x.check.bytes, Warnings: x.warnings,
	}}
	if e.Check != nil && e.Work != nil {
		d.WorkExitCode = new(e.Work.Code)
		d.Words = x.work.words()
	}
	if x.Judge.hears(e) {
		d.WorkCause, d.Detail = e.Work.Cause, cmp.Or(judge.Detail, e.Work.Detail)
	}
	d.Signature, d.Err = x.sign(e, d.Outcome), e.err()
	d.Detail = x.remark(e, d.IterationFinished)
	if d.Outcome == core.OutcomeDone {
		d.Printed = seen.sign(judge.Code, false)
	}
	if !cut(judge) && !seen.agents { // what the tools of an agent count is no count of the judge
		d.Tally = seen.signer.Tally()
	}
	if e.again && e.Check != nil {
		again := x.check.sign(e.Check.Code, false)
		again = named(again, e.Check.troubled())
		d.Check = &core.CheckRun{DurationMS: e.took.Milliseconds(), Hash: again.Hash, Loose: again.Loose}
	}
	d.Tasks, d.OpenTasks = judge.Tasks, judge.OpenTasks
	d.Transcript = e.Work != nil && x.work.agents
	d.Worded = d.Transcript && e.Check == nil && x.work.worded()
	if x.Agent != "" && e.Work != nil && !cut(e.Work) && !d.Transcript && x.work.bytes > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("nothing that %s printed was understood as its transcript, so its words, its cost and its limits are not known; name the output format that looprun agents shows", x.Agent))
	}
	switch {
	case d.Outcome == core.OutcomeDone:
		d.Cause = core.CauseExited // the time limit that ended the work decided nothing
		if x.Judge.Turn {
			d.Warnings = append(d.Warnings, "the end of the turn was the judge: nothing has checked the work")
		}
		if x.Changed != nil {
			d.Changed, d.Diff = x.Changed()
		}
	case x.Judge.blamed(e):
		seen = x.work
		d.Cause, d.Detail = e.Work.Cause, e.Work.Detail
	}
	d.Excerpt = seen.excerpt()
	if d.Outcome != core.OutcomeDone {
		d.Explain(string(seen.recent.Bytes()))
	}
	if d.Fatal != 0 && d.Detail == "" {
		d.Detail = fmt.Sprintf("exit code %d", d.Fatal)
		if x.Judge.Stop.Has(d.Fatal) {
			d.Detail += " is a stop code"
		} else if err := e.err(); err != nil {
			d.Detail = err.Error()
		} else {
			d.Detail += ": the command cannot be run"
			if e.Check != nil && (e.Work == nil || !unstartable(e.Work)) {
				d.Detail = fmt.Sprintf("exit code %d: the check cannot be run", d.Fatal)
			}
		}
	}
	return d
}

// remark is the cause in words, and what the iteration's line should say beside: that a turn
// was cut off, and why a promise is none.
func (x *Executor) remark(e Exits, d core.IterationFinished) string {
	said := []string{d.Detail}
	if e.Work != nil && !cut(e.Work) && e.Work.Failure == "" {
		switch {
		case e.Work.Turn.Wrong != "":
			said = append(said, e.Work.Turn.Wrong)
		case e.Check == nil && x.Judge.Turn && !e.Work.Turn.Ended:
			said = append(said, "no turn ended: the agent's output was not understood")
		}
	}
	if e.Check != nil && !cut(e.Check) && e.Check.Failure == "" {
		said = append(said, e.Check.Turn.Wrong)
	}
	if x.Judge.Promise && !e.Promised && d.Outcome != core.OutcomeDone {
		said = append(said, e.Unpromised)
	}
	return strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), "; ")
}

// sign makes the iteration's signature. The check is the judge, so it is that
// of the check's output; the work's counts where the work itself failed.
func (x *Executor) sign(e Exits, outcome core.Outcome) signature.Signature {
	switch {
	case cut(e.Check):
		return core.CauseSignature(e.Check.Cause)
	case e.Check == nil && cut(e.Work) && outcome != core.OutcomeDone:
		return core.CauseSignature(e.Work.Cause)
	case e.Check == nil && outcome == core.OutcomeDone && x.Promise == "":
		return signature.Pass
	case e.Check == nil:
		return x.signWork(e)
	}
	checked := named(x.check.sign(e.Check.Code, x.Judge.passes(e.Check)), e.Check.troubled())
	if outcome != core.OutcomeDone && x.Judge.workFailed(e) {
		return both(checked, x.signWork(e), x.Judge.blamed(e))
	}
	return checked
}

// signWork signs what failed work printed. Of what a time limit has cut off only that
// counts.
func (x *Executor) signWork(e Exits) signature.Signature {
	if timedOut(e.Work) && e.Check != nil {
		return core.CauseSignature(e.Work.Cause)
	}
	s := x.work.sign(e.Work.Code, false)
	said := e.Work.Failure
	if e.Check == nil {
		said = e.Work.troubled()
	}
	if e.Check == nil && said == "" {
		return s
	}
	return named(s, cmp.Or(said, x.work.excerpt()))
}

// named names a failure that is not known by the last line of what was said of it.
func named(s signature.Signature, said string) signature.Signature {
	lines := strings.Split(strings.TrimSpace(termsafe.Text(said)), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if s.Kind == signature.KindOutput && line != "" {
		s.Kind, s.Label, s.Errors = signature.KindError, "error:"+termsafe.Cut(line, labelWidth), []string{line}
	}
	return s
}

// labelWidth is how much of a line names a failure.
const labelWidth = 60

// matchLimit bounds the line that is kept of a match, in bytes.
const matchLimit = 500

// matched makes the iteration the run's last, or one that waits, where its output says
// so. What passes is done, whatever was printed.
func (x *Executor) matched(d *core.IterationFinished, work *Exit) {
	if d.Outcome != core.OutcomeNotDone && d.Outcome != core.OutcomeError || d.RunsAgain() || d.Fatal != 0 {
		return
	}
	if line, _, ok := x.match(x.StopOn); ok && d.Iteration > 0 {
		d.Fatal, d.Match = core.ExitFailed, termsafe.CutBytes(line, matchLimit)
		d.Detail = "the output says: " + d.Match
		return
	}
	if d.Cause != core.CauseExited {
		return
	}
	line, until, ok := x.match(x.WaitOn)
	if !ok {
		d.Outage = x.outage(work)
		return
	}
	d.Outcome, d.Match = core.OutcomeWaiting, termsafe.CutBytes(line, matchLimit)
	if !until.IsZero() {
		d.Until = &until
	}
}

// outage is the agent's own error where it says that the service that it needs is away: that
// of its transcript, or else its standard error; empty: it did not fail, or of something else.
func (x *Executor) outage(work *Exit) string {
	if x.Outages == nil || work == nil || work.Code == 0 && work.troubled() == "" {
		return ""
	}
	errors := &x.work.streams[stderrStream].end
	said, cut := errors.Bytes(), errors.Cut()
	if x.work.trouble != "" {
		said, cut = []byte(x.work.trouble), false
	}
	line, _, _ := x.Outages.Match(said, cut)
	return termsafe.CutBytes(line, matchLimit)
}

// match is what the output has of it: of several lines the one with the latest
// moment. Where none names one it is the check's before the work's, and that on
// standard error before that on standard output.
func (x *Executor) match(m Matcher) (line string, until time.Time, found bool) {
	if m == nil {
		return "", time.Time{}, false
	}
	for _, t := range []*analyzer{x.work, x.check} {
		for i := range t.streams {
			end := &t.streams[i].end
			if l, u, ok := m.Match(end.Bytes(), end.Cut()); ok && !u.Before(until) {
				line, until, found = l, u, true
			}
		}
	}
	return line, until, found
}

// MakePromise makes the promise in place of the output, for the iteration that
// runs. It reports whether one is wanted.
func (x *Executor) MakePromise() bool {
	x.promised.Store(x.PromiseWanted())
	return x.PromiseWanted()
}

// PromiseWanted reports whether a promise means something in the iteration that
// runs: it is needed to be done, or it ends a part of a task that a check judges
// as a whole.
func (x *Executor) PromiseWanted() bool { return x.wanted.Load() }

// mask puts the mask before what is kept of a stream.
func (x *Executor) mask(to func([]byte)) (write func([]byte), flush func()) {
	if x.Mask == nil {
		return to, func() {}
	}
	m := x.Mask(to)
	return m.Write, m.Flush
}

func (x *Executor) started(s Stopper) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = s
	if x.killed {
		x.killed = false
		x.killLocked()
		return
	}
	if x.holds > 0 && goesOn(s.Suspend()) && x.stands {
		x.stands = false
		x.goOn()
	}
	if p, ok := s.(clocked); ok && x.asked {
		p.HoldClocks()
	}
}

// Hold lets the time limits of the running step stand still and holds its output
// back, since somebody is asked what the command wants to know. With Interactive
// the command stands still as well: the terminal is for the answer.
func (x *Executor) Hold() {
	if x.Interactive {
		x.Suspend()
		return
	}
	x.held.Store(new(make(chan struct{})))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = true
	x.pause()
	if p, ok := x.running.(clocked); ok {
		p.HoldClocks()
	}
}

// Release ends what Hold began.
func (x *Executor) Release() {
	if x.Interactive {
		x.Resume()
		return
	}
	x.mu.Lock()
	x.asked = false
	x.goOn()
	if p, ok := x.running.(clocked); ok {
		p.ReleaseClocks()
	}
	x.mu.Unlock()
	close(*x.held.Swap(nil))
}

// Suspend stops the running step with all that it started, until Resume was
// called as often as Suspend.
func (x *Executor) Suspend() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.holds++; x.holds > 1 {
		return
	}
	if x.stands = x.running == nil || !goesOn(x.running.Suspend()); x.stands {
		x.pause()
	}
}

// goesOn reports whether a step cannot be suspended at all. One for which it failed is
// ending already, and stands still soon.
func goesOn(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// Resume lets it go on.
func (x *Executor) Resume() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.holds == 0 {
		return
	}
	if x.holds--; x.holds > 0 {
		return
	}
	x.turn.known = false
	if x.stands {
		x.goOn()
	}
	if x.running != nil {
		_ = x.running.Resume()
	}
}

// Kill ends the running step at once, or the one that is about to start, without
// the time that KillAfter gives it.
func (x *Executor) Kill() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.running == nil {
		x.killed = true
		return
	}
	x.killLocked()
}

func (x *Executor) killLocked() {
	x.running.Stop(syscall.SIGKILL)
	x.running.Stop(syscall.SIGKILL)
}

// pause lets the iteration's time stand still until goOn was called as often.
func (x *Executor) pause() {
	if x.still++; x.still == 1 {
		x.since = time.Now()
	}
}

func (x *Executor) goOn() {
	if x.still--; x.still == 0 {
		x.stood += time.Since(x.since)
	}
}

// restart begins the iteration's time anew.
func (x *Executor) restart() time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	x.stood, x.since = 0, now
	return now
}

func (x *Executor) stoodStill() time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.still > 0 {
		return x.stood + time.Since(x.since)
	}
	return x.stood
}

// clocked is a running step whose time limits can stand still.
type clocked interface {
	HoldClocks()
	ReleaseClocks()
}
