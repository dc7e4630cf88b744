package looprun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/signature"
)

// Iteration is what a [Runner] is told about the iteration it is to run.
type Iteration struct {
	// Number counts from 1; 0 is the precheck, which runs the check alone.
	Number int
	// Limit is the number of iterations allowed so far, or [Off].
	Limit int
	// First says that it is the first one since the run started or was resumed:
	// a command that cannot be started is then not tried again.
	First bool
	// Guidance is what the last answer gives this iteration to go by.
	Guidance string
	// Last is the one that ran last, also where it runs again; nil in the first.
	Last *IterationFinished
	// Answers are those of the command's questions that wait to be fetched.
	Answers []Asked
	// Task is what is worked on: the run's name, until a rejection put another task
	// or a part of it in its place. Subtasks is how far a task is that was taken
	// apart; nil: none was.
	Task     string
	Subtasks *Subtasks
	// TurnLoop is how often a coding agent may do the same within one turn; 0 or less:
	// as often as it likes.
	TurnLoop int
	// Judging says that it is the check that runs.
	Judging bool
}

// Runner runs one iteration: the work, and the check that judges it.
//
// Run returns when everything it started is gone. When the context ends it ends
// the iteration at once, with the cause it finds in [context.Cause]. An error
// means that looprun cannot go on; a command that fails is no error but an
// [IterationFinished] that says so.
type Runner interface {
	Run(context.Context, Iteration) (IterationResult, error)
}

// IterationResult is what a [Runner] hands over: how the iteration ended, and beside it
// what has a record of its own or none. In JSON it is the fields of iteration.finished
// with said and printed, for a runner on another machine.
type IterationResult struct {
	IterationFinished
	// Said is what the command said with its output, in its order: it is on record
	// before the end of the iteration.
	Said []Data
	// Printed is the signature of what the judge printed though it passed: for when
	// something else says that it is not done, and for what contradicts the exit code.
	Printed signature.Signature
	// Err is why the judge, or else the work, failed, where it is a [Func]; nil: nobody
	// said. It goes over no wire.
	Err error
}

// MarshalJSON writes what UnmarshalJSON reads.
func (r IterationResult) MarshalJSON() ([]byte, error) {
	wire := iterationWire{IterationFinished: r.IterationFinished, Printed: r.Printed}
	for _, d := range r.Said {
		wire.Said = append(wire.Said, said{d})
	}
	return json.Marshal(wire)
}

// UnmarshalJSON reads the result of a runner elsewhere. What no command can say is an
// error.
func (r *IterationResult) UnmarshalJSON(b []byte) error {
	var wire iterationWire
	if err := json.Unmarshal(b, &wire); err != nil {
		return err
	}
	*r = IterationResult{IterationFinished: wire.IterationFinished, Printed: wire.Printed}
	for _, d := range wire.Said {
		if !sayable(d.Data) {
			return fmt.Errorf("%w: a command cannot say %s", ErrEvent, d.Type())
		}
		r.Said = append(r.Said, d.Data)
	}
	return nil
}

type iterationWire struct {
	IterationFinished
	Said    []said              `json:"said,omitempty"`
	Printed signature.Signature `json:"printed,omitzero"`
}

// sayable reports whether the command can say that: nothing that it says decides
// anything by itself.
func sayable(d Data) bool {
	switch d := d.(type) {
	case SignalReceived, RejectionSubmitted, RejectionInvalid, CostReported, TurnRepeated:
		return true
	case QuestionAsked: // it gets its name from the loop
		return d.Guard == ""
	case AdviceGiven: // in a run inside this one
		return d.Question != nil && d.Question.From == FromCommand
	}
	return false
}

// Suspender is a [Runner] that can stand still in the middle of an iteration,
// while a question is asked.
type Suspender interface {
	Suspend()
	Resume()
}

// Witness is a [Runner] that knows the end of what the running iteration has printed,
// and how long ago that was.
type Witness interface {
	Printed() (end string, quiet time.Duration)
}

// Holder is a [Runner] whose time limits can stand still, and whose output can be
// held back, while the command waits for the answer to a question of its own.
type Holder interface {
	Hold()
	Release()
}

// Observer is told of every event once it is in the journal, with the state
// after it. It must not keep the state, nor change it.
type Observer func(Event, *State)

// environLimit is how much of a text goes into an environment variable, in bytes.
const environLimit = 16 << 10

func environText(text string) string {
	return cutText(strings.ReplaceAll(text, "\x00", ""), environLimit)
}

// Environ are the variables that tell a command about the iteration it runs in.
func (it Iteration) Environ() []string {
	limit := offWord
	if it.Limit > 0 {
		limit = strconv.Itoa(it.Limit)
	}
	env := []string{
		"LOOPRUN=1",
		"LOOPRUN_ITERATION=" + strconv.Itoa(it.Number),
		"LOOPRUN_ITERATION_LIMIT=" + limit,
		"LOOPRUN_GUIDANCE=" + environText(it.Guidance),
		"LOOPRUN_TASK=" + environText(it.Task),
		"LOOPRUN_SUBTASK=" + it.Subtasks.place(),
	}
	if it.Last == nil {
		return append(env, "LOOPRUN_LAST_EXIT_CODE=", "LOOPRUN_LAST_SIGNATURE=")
	}
	return append(env,
		"LOOPRUN_LAST_EXIT_CODE="+strconv.Itoa(it.Last.ExitCode),
		"LOOPRUN_LAST_SIGNATURE="+it.Last.Signature.Label)
}

// cutText is text of at most n bytes, cut between two characters.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Guardian reports whether this process was started to guard a command, has
// guarded it then, and returns the code to exit with. A program whose steps are
// commands ([Argv], [Shell]) calls it before anything else:
//
//	if code, ok := looprun.Guardian(); ok {
//		os.Exit(code)
//	}
//
// From then on the loop starts the program a second time, between itself and the
// command, and nothing that an iteration starts outlives it, not even when the
// program is killed. Without the call process groups are used, and a process that
// leaves its group survives. A guardian without a command waits for the next one,
// and ends with the program. Only Linux has guardians; elsewhere it returns false.
// A program whose steps are functions has no use for it.
func Guardian() (code int, ok bool) {
	if !proc.IsGuardian() {
		return 0, false
	}
	return proc.GuardianMain(), true
}

// Step is one half of an iteration: the work, or the check that judges it.
type Step interface {
	// Run runs the step to its end and delivers its output as it comes. When
	// ctx ends it ends the step, with the cause from [context.Cause].
	Run(context.Context, Invocation) Exit
	// Argv names the step, for journals and messages.
	Argv() []string
}

// Invocation is what a [Step] runs with.
type Invocation struct {
	Iteration Iteration
	Dir       string
	Env       []string // the whole environment; nil is the caller's
	Stdin     *os.File // nil: nothing to read
	// Stdout and Stderr take output, from one goroutine at a time, until the step
	// returns; those of a [Func] from any. The slice is valid during the call only.
	Stdout, Stderr func([]byte)
	PTY            bool // output through a pseudo terminal, merged to Stdout
	Interactive    bool // the step talks to the person at the terminal
	Timeout        time.Duration
	IdleTimeout    time.Duration
	KillAfter      time.Duration
	KeepBackground bool
	// Ending is called when the step is asked to end, while Stdout or Stderr may
	// still hold it up; nil: nobody is told.
	Ending func()
	// Started is told of what can be suspended or ended; nil: nobody is.
	Started func(Stopper)
}

// Stopper is a running step that can stand still, or be ended at once. One whose Suspend
// says [errors.ErrUnsupported] goes on, and its time with it.
type Stopper interface {
	Suspend() error
	Resume() error
	Stop(syscall.Signal)
}

// Argv is a step that runs a command with its arguments; no shell is involved.
func Argv(argv ...string) Step { return argvStep(argv) }

// Shell is a step that runs a line under sh -c.
func Shell(line string) Step { return shellStep(line) }

// Func is a step that calls a function. A nil error is exit 0, any other is
// exit 1 with the error as output. The function has to return soon after ctx
// ends; [Fatal] ends the run. It cannot be suspended, and goes on while somebody is asked. What its
// goroutines print after that is dropped.
func Func(f func(context.Context, Invocation) error) Step { return funcStep{f} }

// Fatal is the error as one with which a [Func] ends the run: it ends as failed, and is
// not tried again. Result.Err finds err.
func Fatal(err error) error { return &fatal{err} }

type fatal struct{ error }

func (f *fatal) Unwrap() error { return f.error }

type argvStep []string

func (a argvStep) Argv() []string { return a }

func (a argvStep) Run(ctx context.Context, in Invocation) Exit { return runProcess(ctx, a, in) }

type shellStep string

func (s shellStep) Argv() []string { return proc.Shell(string(s)) }

func (s shellStep) Run(ctx context.Context, in Invocation) Exit {
	return runProcess(ctx, s.Argv(), in)
}

type funcStep struct {
	f func(context.Context, Invocation) error
}

func (funcStep) Argv() []string { return []string{"(function)"} }

func (s funcStep) Run(ctx context.Context, in Invocation) Exit {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	clock := startFuncClock(in.Timeout, cancel)
	defer clock.HoldClocks()
	if in.Started != nil {
		in.Started(clock)
	}
	if in.Ending != nil {
		defer context.AfterFunc(ctx, in.Ending)()
	}
	var out outputs
	defer out.end()
	in.Stdout, in.Stderr = out.to(in.Stdout), out.to(in.Stderr)
	err := s.f(ctx, in)
	if ctx.Err() != nil {
		return Exit{Code: 1, Cause: stopCause(context.Cause(ctx)), Detail: context.Cause(ctx).Error()}
	}
	if err != nil {
		in.Stderr([]byte(err.Error() + "\n"))
		var f *fatal
		return Exit{Code: 1, Err: err, Fatal: errors.As(err, &f)}
	}
	return Exit{}
}

// funcClock is what can be done to a running function: it goes on while somebody is
// asked, and its time limit stands still.
type funcClock struct {
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	timer  *time.Timer // nil: there is no limit
	left   time.Duration
	since  time.Time
	holds  int
}

func startFuncClock(limit time.Duration, cancel context.CancelCauseFunc) *funcClock {
	c := &funcClock{cancel: cancel, left: limit, since: time.Now()}
	if limit > 0 {
		c.timer = time.AfterFunc(limit, func() { cancel(errTimeout) })
	}
	return c
}

func (c *funcClock) HoldClocks() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds++; c.holds == 1 && c.timer != nil && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
}

func (c *funcClock) ReleaseClocks() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds--; c.holds == 0 && c.timer != nil {
		c.since = time.Now()
		c.timer.Reset(max(0, c.left))
	}
}

func (c *funcClock) Suspend() error {
	c.HoldClocks()
	return nil
}

func (c *funcClock) Resume() error {
	c.ReleaseClocks()
	return nil
}

func (c *funcClock) Stop(sig syscall.Signal) {
	c.cancel(&Interrupt{Signal: sig.String(), Code: 128 + int(sig)})
}

// outputs let every goroutine of a function print, such as those of an exec.Cmd, and
// none of them into the output of another step.
type outputs struct {
	mu   sync.Mutex
	over bool
}

func (o *outputs) to(w func([]byte)) func([]byte) {
	return func(b []byte) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if w != nil && !o.over {
			w(b)
		}
	}
}

func (o *outputs) end() {
	o.mu.Lock()
	o.over = true
	o.mu.Unlock()
}

var errTimeout = errors.New("the iteration timeout passed")

// stopCause is why a step was ended from outside.
func stopCause(err error) Cause {
	if _, ok := errors.AsType[*Interrupt](err); ok {
		return CauseInterrupt
	}
	if _, ok := errors.AsType[*repeatedTurn](err); ok {
		return CauseTurnLoop
	}
	switch {
	case errors.Is(err, errTurnLoop):
		return CauseTurnLoop
	case errors.Is(err, ErrRuntime):
		return CauseMaxRuntime
	case errors.Is(err, errTimeout):
		return CauseIterationTimeout
	}
	return CauseInterrupt
}

// stopSignal is what the step's processes are sent first.
func stopSignal(err error) syscall.Signal {
	if i, ok := errors.AsType[*Interrupt](err); ok && i.Code > 128 {
		return syscall.Signal(i.Code - 128)
	}
	return syscall.SIGTERM
}

func runProcess(ctx context.Context, argv []string, in Invocation) Exit {
	if ctx.Err() != nil {
		return Exit{Code: -1, Cause: stopCause(context.Cause(ctx)), Detail: context.Cause(ctx).Error()}
	}
	release := func() bool { return false }
	end, err := proc.Run(proc.Spec{
		Argv: argv, Dir: in.Dir, Env: in.Env, Stdin: in.Stdin,
		Stdout: in.Stdout, Stderr: in.Stderr, PTY: in.PTY, Interactive: in.Interactive,
		Timeout: in.Timeout, IdleTimeout: in.IdleTimeout, KillAfter: in.KillAfter,
		KeepBackground: in.KeepBackground, Ending: in.Ending,
	}, func(p *proc.Process) {
		if in.Started != nil {
			in.Started(p)
		}
		release = context.AfterFunc(ctx, func() { p.Stop(stopSignal(context.Cause(ctx))) })
	})
	release()
	if err != nil {
		return Exit{Code: ExitFailed, Cause: CauseStartFailed, Detail: err.Error()} // nothing that the command could help
	}
	return exitOf(ctx, end, in)
}

func exitOf(ctx context.Context, end proc.Exit, in Invocation) Exit {
	e := Exit{Code: end.Code, Signal: end.Signal}
	if text := left(end.Survivors); text != "" {
		e.Warnings = []string{text}
	}
	switch end.Cause {
	case proc.Timeout:
		e.Cause, e.Detail = CauseIterationTimeout, fmt.Sprintf("ended after the iteration timeout of %s", in.Timeout)
	case proc.IdleTimeout:
		e.Cause, e.Detail = CauseIdleTimeout, fmt.Sprintf("ended after %s without output", in.IdleTimeout)
	case proc.Interrupted:
		e.Cause, e.Detail = CauseInterrupt, "interrupted at the terminal"
	case proc.StartFailed:
		e.Cause, e.Detail = CauseStartFailed, "it could not be started"
		if end.StartErr != nil {
			e.Detail = end.StartErr.Error()
		}
	case proc.Lost:
		e.Cause, e.Detail = CauseLost, end.Lost.Error()
	case proc.Stopped:
		if cause := context.Cause(ctx); cause != nil {
			e.Cause, e.Detail = stopCause(cause), cause.Error()
		}
	}
	return e
}

// survivorsNamed is how many processes a warning names.
const survivorsNamed = 5

// left says which processes a command has left that could not be ended; empty: none.
func left(survivors []proc.Survivor) string {
	if len(survivors) == 0 {
		return ""
	}
	var names []string
	for _, s := range survivors[:min(len(survivors), survivorsNamed)] {
		names = append(names, nameOf(s))
	}
	if more := len(survivors) - survivorsNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return "what the command left could not be ended: " + strings.Join(names, ", ")
}

// nameOf is how a person finds the process.
func nameOf(s proc.Survivor) string {
	if s.Pid == 0 {
		return "a process that /proc does not show"
	}
	text := fmt.Sprintf("process %d", s.Pid)
	if s.Name != "" {
		text += " (" + termsafe.Line(s.Name) + ")"
	}
	if s.User >= 0 && s.User != os.Getuid() {
		of := fmt.Sprintf("user %d", s.User)
		if u, err := user.LookupId(strconv.Itoa(s.User)); err == nil {
			of = u.Username
		}
		text += " of " + of
	}
	return text
}
