//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/tty"
)

// scenario is what the child process of a test does. The child is the test
// binary itself, with a terminal of its own.
type scenario struct {
	Question core.Question
	State    *core.State
	// Those of the options.
	CI, Tty        string
	NonInteractive bool
	Why            string
	// Report is how long the terminal has to report; zero is next to nothing.
	Report time.Duration
	// Heeds are signals that cancel the context.
	Heeds []syscall.Signal
	// Held makes the child wait before it asks.
	Held bool
	// Taken says that another question is on the screen all the while.
	Taken bool
	// PanicOn is the number of the key, from 1, in whose handling it panics.
	PanicOn int
	// RestoreAllOn is the key at which it ends without returning.
	RestoreAllOn int
	// Apart runs the scenario in a process group of its own: in the background,
	// or as a shell would run it, in the foreground and continued when stopped.
	Apart string
	Env   []string
}

// outcome is what the child says.
type outcome struct {
	Answer      core.Answer
	Err         string
	NoAnswer    bool
	Interrupted bool
	Asked       bool
	Deferred    bool
	Elsewhere   bool // the cause of the end of the context
}

const scenarioVariable = "USER_TEST_SCENARIO"

// errElsewhere is why the context of a scenario ends.
var errElsewhere = fmt.Errorf("%w by somebody else", core.ErrAnswered)

// What the child has open besides its terminal.
const (
	reportFd = 3
	goFd     = 4
)

func TestMain(m *testing.M) {
	if text := os.Getenv(scenarioVariable); text != "" {
		var sc scenario
		if err := json.Unmarshal([]byte(text), &sc); err != nil {
			panic(err)
		}
		play(sc)
		os.Exit(0)
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup all that is started would ignore it
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Exit(m.Run())
}

// grace is enough for a signal that ends the context as well.
func (sc scenario) grace() time.Duration {
	if len(sc.Heeds) > 0 {
		return patience
	}
	return time.Millisecond
}

func play(sc scenario) {
	if sc.Apart != "" {
		playApart(sc)
		return
	}
	ctx := context.Background()
	if len(sc.Heeds) > 0 {
		var all []os.Signal
		for _, s := range sc.Heeds {
			all = append(all, s)
		}
		var end context.CancelCauseFunc
		ctx, end = context.WithCancelCause(ctx)
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, all...)
		go func() {
			<-heard
			end(errElsewhere)
		}()
	}
	if sc.Held {
		os.Stdout.WriteString("held\n")
		os.NewFile(goFd, "go").Read(make([]byte, 1))
	}
	if sc.Taken {
		turn <- struct{}{}
		os.Stdout.WriteString("taken\n")
	}
	o := Options{CI: sc.CI, Tty: sc.Tty, NonInteractive: sc.NonInteractive, Why: sc.Why}
	o.timing = timing{quiet: 1, report: max(sc.Report, 20*time.Millisecond), settle: 1, grace: sc.grace(), paste: 1}
	keys := 0
	o.onKey = func(stroke) {
		switch keys++; keys {
		case sc.PanicOn:
			panic("the prompt broke")
		case sc.RestoreAllOn:
			tty.RestoreAll()
			os.Exit(0)
		}
	}
	a, err := New(o).Respond(ctx, sc.Question, sc.State)
	out := outcome{Answer: a}
	if err != nil {
		out.Err = err.Error()
		out.NoAnswer = errors.Is(err, core.ErrNoAnswer)
		out.Interrupted = errors.Is(err, core.ErrInterrupted)
		out.Asked = errors.Is(err, ErrAsked)
		out.Deferred = errors.Is(err, core.ErrDeferred)
		out.Elsewhere = errors.Is(err, errElsewhere)
	}
	json.NewEncoder(os.NewFile(reportFd, "report")).Encode(out)
}

// playApart is the shell of the scenario.
func playApart(sc scenario) {
	foreground := sc.Apart == "job"
	sc.Apart = ""
	text, _ := json.Marshal(sc)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), scenarioVariable+"="+string(text))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(reportFd, "report"), os.NewFile(goFd, "go")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: foreground, Ctty: 0}
	signal.Ignore(syscall.SIGTTOU)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || !status.Stopped() {
			return
		}
		unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, unix.Getpgrp())
		os.Stdout.WriteString("the job is stopped\n")
		os.NewFile(goFd, "go").Read(make([]byte, 1))
		unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, cmd.Process.Pid)
		cmd.Process.Signal(syscall.SIGCONT)
	}
}
