package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/termsafe"
)

// Runner runs one iteration: the work, and the check that judges it.
//
// Run returns when every process it started is gone. When the context ends, it ends the
// iteration at once, with the cause from [context.Cause]. An error means that looprun cannot
// continue; a failing command is not an error but is reported in the [core.IterationFinished].
type Runner interface {
	Run(context.Context, core.Iteration) (core.IterationResult, error)
}

// Confirmer is a [Runner] that can run the check of the last iteration once more.
type Confirmer interface {
	// Confirm runs the check once more. After a pass it repeats the check until it has passed
	// as often as done requires, at least twice. It returns how often the check passed in a
	// row.
	Confirm(context.Context, core.Iteration) (end core.IterationResult, passes int, err error)
}

// Suspender is a [Runner] that can suspend an iteration while a question is asked.
type Suspender interface {
	Suspend()
	Resume()
}

// Holder is a [Runner] that can stop its time limits and hold its output back while the
// command waits for the answer to a question of its own.
type Holder interface {
	Hold()
	Release()
}

// Observer receives every event once it is in the journal, with the state after it. It must
// not keep or modify the state, and must not wait for an answer to the run, because the run
// waits for it.
type Observer func(core.Event, *core.State)

// Guardian reports whether this process was started to guard a command. If so, it has guarded
// it by the time it returns, and returns the code to exit with. A program whose steps are
// commands ([Argv], [Shell]) calls it before anything else:
//
//	if code, ok := engine.Guardian(); ok {
//		os.Exit(code)
//	}
//
// From then on the loop starts the program a second time, between itself and the command, and
// nothing that an iteration starts outlives it, not even if the program is killed. Without
// this call process groups are used, and a process that leaves its group survives. A guardian
// without a command waits for the next one, and ends with the program. Only Linux has
// guardians; elsewhere Guardian returns false. A program whose steps are functions does not
// need it.
func Guardian() (code int, ok bool) {
	if !proc.IsGuardian() {
		return 0, false
	}
	return proc.GuardianMain(), true
}

// Step is one half of an iteration: the work, or the check that judges it.
type Step interface {
	// Run runs the step to its end and delivers its output as it arrives. When ctx ends, it
	// ends the step, with the cause from [context.Cause].
	Run(context.Context, Invocation) Exit
	// Argv returns the step's name for journals and messages.
	Argv() []string
}

// Invocation is the input with which a [Step] runs.
type Invocation struct {
	Iteration core.Iteration
	Dir       string
	Env       []string // the whole environment; nil is the caller's
	Stdin     *os.File // nil: nothing to read
	// Stdout and Stderr receive output until the step returns, from one goroutine at a time;
	// those of a [Func] may be called from any. The slice is valid only during the call.
	Stdout, Stderr func([]byte)
	PTY            bool // output through a pseudo terminal, merged to Stdout
	Interactive    bool // the step talks to the person at the terminal
	Timeout        time.Duration
	IdleTimeout    time.Duration
	KillAfter      time.Duration
	KeepBackground bool
	// Ending is called when the step is asked to end and Stdout or Stderr may still delay it;
	// may be nil.
	Ending func()
	// Started receives the running step, which can be suspended or ended; may be nil.
	Started func(Stopper)
}

// Stopper is a running step that can be suspended, or ended at once. If its Suspend returns
// [errors.ErrUnsupported], it continues, and its time with it.
type Stopper interface {
	Suspend() error
	Resume() error
	Stop(syscall.Signal)
}

// Argv returns a step that runs a command with its arguments; no shell is involved.
func Argv(argv ...string) Step { return argvStep(argv) }

// Shell returns a step that runs a line under sh -c.
func Shell(line string) Step { return shellStep(line) }

// Func returns a step that calls a function. A nil error is exit 0; any other is exit 1 with
// the error as output. The function must return soon after ctx ends; [Fatal] ends the run. It
// cannot be suspended, and continues while a question is asked. Output from its goroutines
// after it has returned is dropped.
func Func(f func(context.Context, Invocation) error) Step { return funcStep{f} }

// Fatal wraps an error so that a [Func] that returns it ends the run as failed, without a
// retry. Result.Err wraps err.
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

// CheckStep returns an error for a step that would run nothing and succeed: a [Shell] whose
// line is blank or only a comment, for example because a variable in it is unset, or an [Argv]
// without a command. A check like that would always pass.
func CheckStep(s Step) error {
	switch s := s.(type) {
	case argvStep:
		if len(s) == 0 || s[0] == "" {
			return errors.New("there is no command; a variable in it may be unset; name one, or leave it out")
		}
	case shellStep:
		said := func(line string) bool { line = strings.TrimSpace(line); return line != "" && line[0] != '#' }
		switch line := string(s); {
		case strings.TrimSpace(line) == "":
			return fmt.Errorf("%q is not a shell line; a variable in it may be unset; write a line, or leave it out", line)
		case !slices.ContainsFunc(strings.Split(line, "\n"), said):
			return fmt.Errorf("%q is only a comment, and would always pass; a variable in it may be unset; write a line, or leave it out", line)
		}
	}
	return nil
}

// FuncOf returns the function of a step made by [Func]; false for any other step.
func FuncOf(s Step) (f func(context.Context, Invocation) error, ok bool) {
	step, ok := s.(funcStep)
	return step.f, ok
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

// funcClock controls a running function: it continues while a question is asked, but its time
// limit is stopped.
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
	if c.holds++; c.timer != nil && c.timer.Stop() { // once
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

// outputs lets every goroutine of a function print, such as those of an exec.Cmd, but not into
// the output of another step.
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

// stopCause returns why a step was ended from outside.
func stopCause(err error) core.Cause {
	if _, ok := errors.AsType[*repeatedTurn](err); ok {
		return core.CauseTurnLoop
	}
	switch {
	case errors.Is(err, core.ErrRuntime):
		return core.CauseMaxRuntime
	case errors.Is(err, errTimeout):
		return core.CauseIterationTimeout
	}
	return core.CauseInterrupt
}

// stopSignal returns the first signal to send to the step's processes.
func stopSignal(err error) syscall.Signal {
	if i, ok := errors.AsType[*Interrupt](err); ok && i.Code > 128 {
		return syscall.Signal(i.Code - 128)
	}
	return syscall.SIGTERM
}

func runProcess(ctx context.Context, argv []string, in Invocation) Exit {
	var release func() bool
	end := proc.Run(proc.Spec{
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
	return exitOf(ctx, end, in)
}

func exitOf(ctx context.Context, end proc.Exit, in Invocation) Exit {
	e := Exit{Code: end.Code, Signal: end.Signal}
	if text := left(end.Survivors); text != "" {
		e.Warnings = []string{text}
	}
	switch end.Cause {
	case proc.Timeout:
		e.Cause, e.Detail = core.CauseIterationTimeout, fmt.Sprintf("ended after the iteration timeout of %s", in.Timeout)
	case proc.IdleTimeout:
		e.Cause, e.Detail = core.CauseIdleTimeout, fmt.Sprintf("ended after %s without output", in.IdleTimeout)
	case proc.Interrupted:
		e.Cause, e.Detail = core.CauseInterrupt, "interrupted at the terminal"
	case proc.StartFailed:
		e.Cause, e.Detail = core.CauseStartFailed, end.StartErr.Error()
	case proc.Lost:
		e.Cause, e.Detail = core.CauseLost, end.Lost.Error()
	case proc.Stopped:
		if cause := context.Cause(ctx); cause != nil {
			e.Cause, e.Detail = stopCause(cause), cause.Error()
		}
	}
	return e
}

// survivorsNamed is the maximum number of processes that a warning names.
const survivorsNamed = 5

// left returns a warning that names the processes of a command that could not be ended; empty
// if there are none.
func left(survivors []proc.Survivor) string {
	if len(survivors) == 0 {
		return ""
	}
	names := convert.Each(survivors[:min(len(survivors), survivorsNamed)], nameOf)
	if more := len(survivors) - survivorsNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return "what the command left could not be ended: " + strings.Join(names, ", ")
}

// nameOf returns a description with which a person can find the process.
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
