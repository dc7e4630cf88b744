package user

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/tty"
)

// review shows the history, through the pager where it is longer than the
// screen, and gets the keyboard ready for asking again.
func (p *prompt) review(ctx context.Context) error {
	var lines []string
	for _, l := range History(p.state) {
		lines = append(lines, wrap(l, p.width(), indentOf(l))...)
	}
	text := strings.Join(lines, "\n") + "\n"
	if len(lines) < p.rows-1 || !p.page(ctx, text) {
		if _, err := p.t.Write([]byte(text)); err != nil {
			return err
		}
	}
	p.news.stopped.Store(true) // the terminal may be in any state
	return p.retake()
}

// page lends the terminal to the pager; false when there is none.
func (p *prompt) page(ctx context.Context, text string) bool {
	command := p.pager()
	if command == "" || p.t.Lend() != nil {
		return false
	}
	screen, err := os.OpenFile(cmp.Or(p.Tty, tty.Path), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer screen.Close()
	// The terminal is cancelled by signals and by the context.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-p.news.end:
			cancel()
		case <-ctx.Done():
		}
	}()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdin = strings.NewReader(text)
	cmd.Stdout, cmd.Stderr = screen, screen
	cmd.WaitDelay = time.Second
	cmd.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	err = cmd.Run()
	return err == nil || cmd.ProcessState != nil && cmd.ProcessState.ExitCode() != notFound
}

// notFound is the shell's exit code for a command that does not exist.
const notFound = 127

// pager is the command to page with: $PAGER, else less or more; empty: none.
func (p *prompt) pager() string {
	getenv := p.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	if c := strings.TrimSpace(getenv("PAGER")); c != "" {
		return c
	}
	for _, c := range []string{"less", "more"} {
		if _, err := exec.LookPath(c); err == nil {
			return c
		}
	}
	return ""
}
