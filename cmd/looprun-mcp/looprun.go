package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// looprun is the looprun program that does all the work, in a folder; empty is this process's.
type looprun struct{ program, dir string }

// The limits of one call of looprun: its time, and its output in bytes.
const (
	callTimeout = 30 * time.Second
	maxPrinted  = 8 << 20
)

// runID matches the id of a run. Nothing else is put on a command line.
var runID = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[0-9a-f]{4}$`)

// call runs looprun and returns its output; if it failed, the error is looprun's message.
func (l looprun) call(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.program, args...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = l.dir, strings.NewReader(stdin), time.Second
	var out, said bounded
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case missing(err):
		return nil, errMissing
	case ctx.Err() != nil:
		return nil, fmt.Errorf("looprun %s did not end: %w", args[0], ctx.Err())
	case len(out) == maxPrinted:
		return nil, fmt.Errorf("looprun %s prints %d bytes or more", args[0], maxPrinted)
	case err != nil && len(said) > 0:
		return nil, errors.New(clean(strings.TrimPrefix(strings.TrimSpace(string(said)), "looprun: ")))
	}
	return out, err
}

// bounded keeps the first maxPrinted bytes.
type bounded []byte

func (b *bounded) Write(p []byte) (n int, err error) {
	if n = min(len(p), maxPrinted-len(*b)); n < len(p) {
		err = io.ErrShortWrite
	}
	*b = append(*b, p[:n]...)
	return n, err
}

// errMissing explains what to do if there is no looprun.
var errMissing = errors.New("looprun is neither beside looprun-mcp nor on the PATH; see https://github.com/looprun/looprun")

func missing(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist)
}

// startsWithin is how long a run may take to start.
const startsWithin = 20 * time.Second

// start starts or resumes a run, detached from this process, and returns its id. The run
// outlives this process; its output is in its directory. When it has ended, or has not begun,
// over is called.
func (l looprun) start(ctx context.Context, over func(), args ...string) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		over()
		return "", err
	}
	defer r.Close() // looprun goes on when nobody reads its messages any more
	cmd := exec.Command(l.program, append(args, "--non-interactive", "--verbose", "--log-format", "json")...)
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = l.dir, w, detached()
	err = cmd.Start()
	w.Close()
	go func() {
		_ = cmd.Wait() // of what has not begun it returns at once
		over()
	}()
	if missing(err) {
		return "", errMissing
	} else if err != nil {
		return "", err
	}
	var run string
	said := make(chan error, 1)
	go func() {
		var err error
		run, err = began(r)
		said <- err
	}()
	select {
	case err := <-said:
		return run, err
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(startsWithin):
		return "", errors.New("the run has not begun within " + startsWithin.String() + "; look for it with looprun list")
	}
}

// began reads looprun's messages until one names its run, which comes before any output of the
// command; otherwise it returns why there is no run.
func began(r io.Reader) (id string, err error) {
	var wrong []string
	lines := bufio.NewScanner(io.LimitReader(r, 64<<10))
	for lines.Scan() {
		var line struct {
			Level, Message string
			Run            string `json:"run_id"`
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			continue
		}
		if runID.MatchString(line.Run) {
			return line.Run, nil
		}
		if line.Level == "error" || line.Level == "warning" {
			wrong = append(wrong, line.Message)
		}
	}
	return "", errors.New(clean(cmp.Or(strings.Join(wrong, "\n"), "looprun ended and named no run")))
}

// clean removes everything that would act on a screen from a text, which may come from a
// command.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// cut returns the text, cut to the given number of bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
