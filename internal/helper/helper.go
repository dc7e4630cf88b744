// Package helper runs the commands around the loop: hooks, assistants, notifiers, verify
// commands of policies, debug commands, experts, and commands of options. A helper receives a
// document on its standard input and has no way to ask.
package helper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/termsafe"
)

// Environ returns an environment without looprun's own variables, with which a looprun that the
// command starts is a run of its own.
func Environ(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, "LOOPRUN_") || strings.HasPrefix(v, "LOOPRUN=")
	})
}

// Command is a helper command.
type Command struct {
	Line string   // for the shell
	Argv []string // in its place
	Dir  string   // empty: this process's
	Env  []string // nil: this process's
	// Input is the command's standard input; nil means none.
	Input []byte
	// Stdout and Stderr receive the command's output, each from its own goroutine; nil drops
	// it.
	Stdout, Stderr func([]byte)
	// Enough ends the command when it is closed; nil means never.
	Enough <-chan struct{}
	// Timeout is how long it may run before its process tree is killed; zero means no limit.
	// KillAfter is how long it may then take to clean up.
	Timeout, KillAfter time.Duration
}

// End is how a helper ended.
type End struct {
	proc.Exit
	cut string // why it did not end by itself; empty: it did
}

// Run runs the command with everything it starts, until it ends, its time is up or ctx ends.
func (c Command) Run(ctx context.Context) End {
	exit := c.run(ctx)
	return End{Exit: exit, cut: c.cut(ctx, exit)}
}

// notRun is the exit code of a command that this program lacks the means to start.
const notRun = 125

func (c Command) run(ctx context.Context) proc.Exit {
	if c.Argv == nil {
		c.Argv = proc.Shell(c.Line)
	}
	stdin, feed, err := os.Pipe()
	if err != nil {
		return proc.Exit{Code: notRun, Cause: proc.StartFailed, StartErr: fmt.Errorf("there is no pipe for it: %w", err)}
	}
	defer feed.Close()
	p := proc.Start(proc.Spec{
		Argv: c.Argv, Dir: c.Dir, Env: c.Env, Stdin: stdin, Stdout: c.Stdout, Stderr: c.Stderr, Timeout: c.Timeout, KillAfter: c.KillAfter,
	})
	stdin.Close()
	var both sync.WaitGroup
	both.Go(func() { _, _ = feed.Write(c.Input); feed.Close() })
	both.Go(func() {
		select {
		case <-ctx.Done():
			p.Stop(0)
		case <-c.Enough:
			p.Stop(0)
		case <-p.Done():
		}
	})
	end := p.Wait()
	feed.Close() // whoever has inherited the other end may never read
	both.Wait()
	return end
}

// cut returns why the command did not end by itself.
func (c Command) cut(ctx context.Context, exit proc.Exit) string {
	switch exit.Cause {
	case proc.Exited:
		return ""
	case proc.StartFailed:
		return fmt.Sprintf("could not be started: %v", exit.StartErr)
	case proc.Timeout:
		return fmt.Sprintf("took longer than %s and was ended", c.Timeout)
	case proc.Lost:
		return fmt.Sprintf("ended nobody knows how: %v", exit.Lost)
	}
	if why := context.Cause(ctx); why != nil {
		return "did not end by itself: " + why.Error()
	}
	return "did not end by itself"
}

// Cut returns why the command did not end by itself, to be put after its name; empty if it
// did.
func (e End) Cut() string { return e.cut }

// Failed returns why the command failed, to be put after its name: it did not end by itself,
// or not with 0. It is empty if the command passed.
func (e End) Failed() string {
	switch {
	case e.cut != "":
		return e.cut
	case e.Signal != 0:
		return fmt.Sprintf("exited with %d (signal: %s)", e.Code, e.Signal)
	case e.Code != 0:
		return fmt.Sprintf("exited with %d", e.Code)
	}
	return ""
}

// Err returns Failed as an error about “it”, with the line that the command printed; nil if it
// passed.
func (e End) Err(line string) error {
	text := e.Failed()
	if text == "" {
		return nil
	}
	if line != "" {
		text += ": " + line
	}
	return errors.New("it " + text)
}

// Document returns the value in the form that a helper receives: JSON on one line.
func Document(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// headKept is how many bytes a [Head] keeps.
const headKept = 4 << 10

// Head keeps the beginning of a command's output.
type Head []byte

// Take keeps as much of b as there is room for.
func (h *Head) Take(b []byte) {
	*h = append(*h, b[:min(len(b), headKept-len(*h))]...)
}

// FirstLine returns the first line that is not blank, safe to show.
func (h Head) FirstLine() string {
	for line := range strings.Lines(termsafe.Text(string(h))) {
		if line = termsafe.Line(line); line != "" {
			return line
		}
	}
	return ""
}
