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

// Executor is the [Runner] that runs steps: the work, and the check that judges it. Output is
// streamed to the user, the output file, the signature and the promise scanner; it is never
// held in memory as a whole.
type Executor struct {
	Work  Step
	Check Step // nil: the work's own exit judges
	// Agent is the coding agent that the work is known to start; empty if none is known.
	Agent string
	// Passes is how many times in a row the check must pass; zero means once.
	Passes int
	Judge  *Judge // nil: [DefaultJudge]
	// Promise is the text that the work prints to declare itself done; empty for none.
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

	// Tree returns the state of the work tree; zero means that it is not known. It is called
	// before and after the turn of an Agent, and a check that may have to run once more. With
	// nil, no check runs once more.
	Tree func() signature.Hash

	// ShowRepeats shows the check's output even if the check fails in the same way as in the
	// previous iteration. Otherwise the output is held back until the check ends, and then
	// shown or dropped.
	ShowRepeats bool
	// Ending is called when a step is asked to end: from then on, a Stdout or Stderr that
	// waits for its reader delays the end. May be nil.
	Ending func()

	// Reports adds the content of files that the command wrote since the iteration began to
	// the judge's signature; nil if there are no such files.
	Reports func(s *signature.Signer, since time.Time)

	// Mask removes secrets from the kept and analyzed output of a stream; shown output still
	// has them. Nil means that there are none.
	Mask func(to func([]byte)) Masker
	// Listeners analyze the work's output; they are reset before each iteration. Heard is
	// called when the iteration has ended, to add their results. Both may be nil.
	Listeners Streams
	Heard     func(core.Iteration, *core.IterationResult)
	// Changed lists the protected files that have changed, with a text that shows how; it is
	// called if the judge passed. Nil means that no files are protected.
	Changed func() (names []string, diff string)
	// AlsoPromised reports whether the promise was made in another way than in its own words;
	// nil means that it was not.
	AlsoPromised func() bool
	// WaitOn recognises rate limits in the output of the work and the check; may be nil.
	WaitOn Matcher
	// StopOn recognises in their output that no later iteration can pass; the run then ends as
	// failed. May be nil.
	StopOn Matcher
	// RetryOn recognises the only failures that are worth another iteration; after any other
	// the run ends as failed. With nil, every failure is.
	RetryOn Matcher
	// Outages recognises, in a coding agent's report of its own failure, that the service that
	// it needs is unavailable. With nil, such a failure is like any other.
	Outages Matcher

	wanted   atomic.Bool // a promise means something in this iteration
	promised atomic.Bool // it was made by a signal
	// held is closed when held-back output may continue; nil if none is held.
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
	unmoved     bool // the agent's turn changed nothing
}

// Output stores what an iteration prints: everything, and the check's output a second time by
// itself. Close closes both.
type Output interface {
	io.Writer
	Check() io.Writer
	Close() error
}

// Run runs one iteration: the work, then the check. The check also runs after a time limit
// ended the work, with an IterationTimeout of its own. It does not run if the run's time is
// over or the work cannot be run at its first try.
func (x *Executor) Run(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
	x.prepare(it)
	out, err := x.open(it.Number)
	if err != nil {
		return core.IterationResult{}, err
	}
	// End a step whose output can no longer be stored: nothing may be lost.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lost := &outputFile{cancel: cancel, out: out}

	turns := it.Number > 0 && x.Agent != "" && x.Tree != nil
	var first, tree signature.Hash // before and after the turn
	if turns {
		first = x.Tree()
	}
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
	if turns {
		tree = x.Tree()
	}
	x.unmoved = first != 0 && tree == first
	if x.Check != nil && x.checks(exits, it) {
		began := began
		if timedOut(exits.Work) {
			began = x.restart()
		}
		if !x.ShowRepeats {
			x.withheld.begin()
		}
		looks := it.MayTrip && x.Tree != nil
		if looks && !turns {
			tree = x.Tree()
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
		exits.again = looks && tree != 0 && x.Tree() == tree && !cut(exits.Check) && !x.check.agents
	}
	exits.Unchecked = x.Check != nil && exits.Check == nil
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

// Confirm implements [Confirmer]. It does not show the check's output again.
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

// checks reports whether there is anything for the check to judge.
func (x *Executor) checks(e Exits, it core.Iteration) bool {
	return e.Work == nil || !x.Judge.interrupted(e.Work) && (!cut(e.Work) || timedOut(e.Work)) && (!it.First || !x.Judge.unrunnable(e.Work))
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

// prepare creates the analyzers once; they are reused for every iteration.
func (x *Executor) prepare(it core.Iteration) {
	if x.Judge == nil {
		x.Judge = new(DefaultJudge())
	}
	if x.work == nil {
		waits := x.WaitOn != nil || x.StopOn != nil || x.RetryOn != nil || x.Outages != nil
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
	if ctx.Err() != nil {
		return Exit{Code: -1, Cause: stopCause(context.Cause(ctx)), Detail: context.Cause(ctx).Error()}
	}
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

// recent is the end of the running step's output, which may be read at any time.
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

// Printed returns the end of the running iteration's output, without secrets and safe to show,
// and how long ago it was printed.
func (x *Executor) Printed() (end string, quiet time.Duration) {
	x.recent.mu.Lock()
	defer x.recent.mu.Unlock()
	return excerptOf(&x.recent.end), time.Since(x.recent.at)
}

// LastMessage returns the last message of the coding agent that did the work, safe to show, with
// its lines uncut; of a long message the end. It is empty if the work printed no transcript.
func (x *Executor) LastMessage() string {
	text := termsafe.Text(string(x.work.message.Bytes()))
	if x.work.message.Cut() {
		return "…" + strings.TrimLeft(text, "\ufffd") // a cut character
	}
	return text
}

// Unmoved reports whether the last turn of the Agent left the work tree as it was. It is false if
// that is not known.
func (x *Executor) Unmoved() bool { return x.unmoved }

// show passes output on. It ignores write errors, so that a reader that went away does not end
// the loop.
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
	blamed := d.Outcome != core.OutcomeDone && x.Judge.blamed(e)
	if blamed {
		d.Cause, d.Detail = e.Work.Cause, e.Work.Detail
	}
	d.Signature, d.Err = x.sign(e, d.Outcome), e.err()
	d.Detail = x.remark(e, d.IterationFinished)
	if d.Outcome == core.OutcomeDone {
		d.Printed = seen.sign(judge.Code, false)
	}
	if !cut(judge) && !seen.agents { // what the tools of an agent count is no count of the judge
		d.Tally = seen.signer.Tally()
	}
	if e.again {
		again := x.check.sign(e.Check.Code, false)
		again = named(again, e.Check.troubled())
		d.Check = &core.CheckRun{DurationMS: e.took.Milliseconds(), Hash: again.Hash, Loose: again.Loose}
	}
	d.Tasks, d.OpenTasks = judge.Tasks, judge.OpenTasks
	d.Transcript = x.work.agents
	d.Worded = e.Check == nil && x.work.worded()
	if x.Agent != "" && !it.Escalated && !cut(e.Work) && !d.Transcript && x.work.bytes > 0 && x.outage(e.Work) == "" {
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
	case blamed:
		seen = x.work
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

// remark returns the cause in words, plus anything the iteration's line should add: that a
// turn was cut off, or why a promise does not count.
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
	if x.Judge.Promise && !e.Promised {
		said = append(said, e.Unpromised)
	}
	return strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), "; ")
}

// sign makes the iteration's signature. The check is the judge, so the signature is that of
// its output; the work's is added if the work itself failed.
func (x *Executor) sign(e Exits, outcome core.Outcome) signature.Signature {
	switch {
	case cut(e.Check):
		return core.CauseSignature(e.Check.Cause)
	case e.Check == nil && cut(e.Work) && outcome != core.OutcomeDone:
		return core.CauseSignature(e.Work.Cause)
	case outcome == core.OutcomeDone:
		return signature.Pass
	case e.Check == nil:
		return x.signWork(e)
	}
	checked := named(x.check.sign(e.Check.Code, x.Judge.passes(e.Check)), e.Check.troubled())
	if x.Judge.workFailed(e) {
		return both(checked, x.signWork(e), x.Judge.blamed(e))
	}
	return checked
}

// signWork signs the output of failed work. If a time limit cut it off, only that fact is
// signed.
func (x *Executor) signWork(e Exits) signature.Signature {
	if timedOut(e.Work) && e.Check != nil {
		return core.CauseSignature(e.Work.Cause)
	}
	s := x.work.sign(e.Work.Code, false)
	said := e.Work.Failure
	if e.Check == nil {
		if said = e.Work.troubled(); said == "" {
			return s
		}
	}
	return named(s, cmp.Or(said, x.work.excerpt()))
}

// named gives an unrecognised failure the last line of its description as its name.
func named(s signature.Signature, said string) signature.Signature {
	lines := strings.Split(strings.TrimSpace(termsafe.Text(said)), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if s.Kind == signature.KindOutput && line != "" {
		s.Kind, s.Label, s.Errors = signature.KindError, "error:"+termsafe.Cut(line, labelWidth), []string{line}
	}
	return s
}

// labelWidth is how much of a line is used to name a failure.
const labelWidth = 60

// matchLimit is the maximum length of a recorded match line, in bytes.
const matchLimit = 500

// matched makes the iteration the run's last one, or a waiting one, if its output asks for
// that. An iteration that passes is done, whatever was printed.
func (x *Executor) matched(d *core.IterationFinished, work *Exit) {
	if d.Outcome == core.OutcomeDone || d.RunsAgain() || d.Fatal != 0 {
		return
	}
	if line, _, ok := x.match(x.StopOn); ok && d.Iteration > 0 {
		d.Fatal, d.Match = core.ExitFailed, termsafe.CutBytes(line, matchLimit)
		d.Detail = "the output says: " + d.Match
		return
	}
	if d.Cause == core.CauseExited {
		if line, until, ok := x.match(x.WaitOn); ok {
			d.Outcome, d.Match = core.OutcomeWaiting, termsafe.CutBytes(line, matchLimit)
			if !until.IsZero() {
				d.Until = &until
			}
			return
		}
		d.Outage = x.outage(work)
	}
	if x.RetryOn == nil || d.Iteration == 0 || d.Outage != "" {
		return
	}
	if _, _, ok := x.match(x.RetryOn); !ok {
		d.Fatal, d.Detail = core.ExitFailed, "no line of the output matches retry_on"
	}
}

// outage returns the agent's own error if it reports that the service that it needs is
// unavailable. The error is taken from the agent's transcript, or else from standard error.
// Empty means that the agent did not fail, or failed for another reason.
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

// match returns the matching line of the output: if there are several, the one with the latest
// time. If no line names a time, the check comes before the work, and standard error before
// standard output.
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

// MakePromise makes the promise for the running iteration in place of its output. It reports
// whether a promise is wanted.
func (x *Executor) MakePromise() bool {
	x.promised.Store(x.PromiseWanted())
	return x.PromiseWanted()
}

// PromiseWanted reports whether a promise matters in the running iteration: it is required for
// done, or it ends a part of a task that a check judges as a whole.
func (x *Executor) PromiseWanted() bool { return x.wanted.Load() }

// mask applies the mask to the kept output of a stream.
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

// Hold stops the time limits of the running step and holds its output back while somebody is
// asked the command's question. With Interactive the command is suspended too: the terminal is
// needed for the answer.
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

// Release undoes Hold.
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

// Suspend stops the running step and everything it started until Resume has been called as
// often as Suspend.
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

// goesOn reports whether a step cannot be suspended at all. A step for which suspending failed
// is already ending and stops soon.
func goesOn(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// Resume lets it continue.
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

// Kill ends the running step, or the one about to start, at once, without the grace period of
// KillAfter.
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

// pause stops the iteration's time until goOn has been called as often.
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

// restart restarts the iteration's time.
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

// clocked is a running step whose time limits can be stopped.
type clocked interface {
	HoldClocks()
	ReleaseClocks()
}
