// Package pager shows a long text on a terminal, a page at a time.
package pager

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"
)

// notFound is the shell's exit code for a command that does not exist.
const notFound = 127

// Command returns the pager's shell line: $PAGER, else less or more; empty if there is none.
func Command(getenv func(string) string) string {
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

// Show pages the text on the screen until the person leaves the pager or the context ends. It
// returns false if the command does not exist; then nothing was shown. The command gets
// LESS=FRX if LESS is not set: less then exits by itself after a short text, keeps colours,
// and leaves the text on the screen. The text is UTF-8, whatever the locale.
func Show(ctx context.Context, command, text string, screen *os.File) bool {
	if command == "" {
		return false
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdin = strings.NewReader(text)
	cmd.Stdout, cmd.Stderr = screen, screen
	cmd.WaitDelay = time.Second
	cmd.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	if os.Getenv("LESSCHARSET") == "" {
		cmd.Env = append(cmd.Env, "LESSCHARSET=utf-8")
	}
	err := cmd.Run()
	return err == nil || cmd.ProcessState != nil && cmd.ProcessState.ExitCode() != notFound
}
