// Package program uses looprun's command line to act on a run from elsewhere, as everybody else
// does: the page in the browser and the courier answer and resume runs with it.
package program

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// Looprun is the program that acts.
type Looprun struct {
	Path string
	// Via is where the person is, and Reason the reason of an answer that has none.
	Via, Reason string
	// Env is the environment of its commands; nil means this process's.
	Env []string
}

// Command returns a looprun command about one run.
func (l Looprun) Command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.Path, append([]string{name, filepath.Base(dir)}, append(args, "--state-dir", filepath.Dir(dir))...)...)
	cmd.Env = l.Env
	cmd.WaitDelay = time.Second // then the pipes are closed: a child of looprun may hold them
	return cmd
}

// Run runs a looprun command about one run, and returns what it says.
func (l Looprun) Run(ctx context.Context, dir string, stdin io.Reader, name string, args ...string) (string, error) {
	cmd := l.Command(ctx, dir, name, args...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr, cmd.SysProcAttr = stdin, &stderr, Detached()
	if err := cmd.Run(); err != nil {
		return "", errors.New(cmp.Or(Message(stderr.Bytes()), err.Error()))
	}
	return Message(stderr.Bytes()), nil
}

// Answer gives an answer as looprun answer does, and resumes the run. It passes the answer on
// standard input, since everybody on this machine can read command lines.
func (l Looprun) Answer(ctx context.Context, dir string, a ask.ShortAnswer) (string, error) {
	a.Reason = cmp.Or(a.Reason, l.Reason)
	document, _ := json.Marshal(a) // texts always encode
	said, err := l.Run(ctx, dir, bytes.NewReader(document), "answer", "-", "--via", l.Via)
	if err != nil || strings.HasPrefix(said, "answered") { // a live run has the answer
		return said, err
	}
	state, _, err := scratchpad.Load(dir)
	crashed := err == nil && !state.Ended && len(state.Answerable()) == 0 && !scratchpad.Locked(dir)
	if err != nil || state.Unused() == "" && !crashed { // it was carried out, or another question waits
		return said, nil
	}
	said, err = l.Resume(ctx, dir)
	if err != nil {
		return "", fmt.Errorf("the answer is recorded, but the run does not continue: %w", err)
	}
	return said, nil
}

// Message returns looprun's message on standard error, in the form that the page shows.
func Message(stderr []byte) string {
	text := termsafe.Text(string(bytes.TrimSpace(stderr)))
	return strings.ReplaceAll(strings.TrimPrefix(text, "looprun: "), "\nlooprun: ", "\n")
}

// startsWithin is how long a resumed run may take to start.
const startsWithin = 10 * time.Second

// Resume resumes a run as looprun resume does, detached from this process so that it outlives
// the page. Nobody is asked at a terminal: its next question waits on the page.
func (l Looprun) Resume(ctx context.Context, dir string) (string, error) {
	if scratchpad.Locked(dir) {
		return "", errors.New("the run continues already")
	}
	stderr, err := os.CreateTemp("", "looprun-resume-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(stderr.Name())
	defer stderr.Close()
	cmd := l.Command(context.WithoutCancel(ctx), dir, "resume", "--non-interactive", "--detached", "defer")
	cmd.Stderr, cmd.SysProcAttr = stderr, Detached()
	if err := cmd.Start(); err != nil {
		return "", err
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for late := time.After(startsWithin); ; {
		select {
		case err := <-over:
			return ended(stderr, err)
		case <-ctx.Done():
			return "", ctx.Err()
		case <-late:
			return "", errors.New("the run has not continued; see looprun show")
		case <-look.C:
			if scratchpad.Locked(dir) {
				return "The run continues.", nil
			}
		}
	}
}

// ended describes how a run went that ended at once, or why it was not resumed.
func ended(stderr *os.File, err error) (string, error) {
	const most = 4 << 10
	text, _ := io.ReadAll(io.NewSectionReader(stderr, 0, most)) // what can be read of it
	if code, ok := errors.AsType[*exec.ExitError](err); ok && code.ExitCode() == 125 {
		return "", errors.New(cmp.Or(Message(text), "looprun resume failed"))
	}
	return cmp.Or(Message(text), "The run continued, and has ended."), nil
}
