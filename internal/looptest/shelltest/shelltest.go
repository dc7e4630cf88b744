//go:build unix

// Package shelltest presses Tab in real shells, each with a terminal of its own.
package shelltest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/looprun/looprun/internal/completion"
)

// Session is a shell that waits for input.
type Session struct {
	// Dir is the shell's current folder.
	Dir string

	t     *testing.T
	tty   *os.File
	shown screen
}

// screen is everything that the shell has printed.
type screen struct {
	mu sync.Mutex
	b  []byte
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b = append(s.b, b...)
	return len(b), nil
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.b)
}

// prompt ends each prompt. The files written in [Session.Dir] record that the program was
// asked for completions, and the last arguments it was called with.
const (
	prompt = "ready> "
	got    = ".got"
	called = ".called"
)

// Start starts the shell in dir, with the completion script of the program. The script calls
// bin/PROGRAM in dir; at the prompt, the program's name is a function that records its
// arguments. The test is skipped if the shell is not installed. The shell's own files are in
// dir too.
func Start(t *testing.T, shell completion.Shell, dir, program string, env ...string) *Session {
	t.Helper()
	file, err := exec.LookPath(string(shell))
	if err != nil {
		t.Skipf("%s is not installed", shell)
	}
	var script strings.Builder
	if err := completion.WriteScript(&script, shell, program); err != nil {
		t.Fatal(err)
	}
	s := &Session{Dir: dir, t: t}
	s.Write(".script", script.String())
	record := program + "() { printf '%s\\0' \"$@\" > " + got + ".new; mv " + got + ".new " + got + "; }\n"
	var args []string
	switch shell {
	case completion.Bash:
		s.Write(".bashrc", "source ./.script\nHISTFILE=\nPS1='"+prompt+"'\n"+record)
		args = []string{"--noprofile", "--rcfile", ".bashrc", "-i"}
	case completion.Zsh:
		s.Write(".zshrc", "autoload -Uz compinit\ncompinit -u -d .zdump\nsource ./.script\nunset HISTFILE\nPS1='"+prompt+"'\n"+record)
		args = []string{"-i"}
	case completion.Fish:
		if err := os.MkdirAll(filepath.Join(dir, ".config", "fish"), 0o755); err != nil {
			t.Fatal(err)
		}
		s.Write(".config/fish/config.fish", "source ./.script\nset fish_greeting\nset -g fish_autosuggestion_enabled 0\nfunction fish_prompt\necho -n '"+prompt+"'\nend\n"+
			"function "+program+"\nprintf '%s\\0' $argv > "+got+".new\nmv "+got+".new "+got+"\nend\n")
	}
	cmd := exec.Command(file, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"HOME=" + dir, "ZDOTDIR=" + dir, "XDG_CONFIG_HOME=" + filepath.Join(dir, ".config"), "XDG_DATA_HOME=" + filepath.Join(dir, ".data"),
		"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "TERM=xterm", "LC_ALL=C.UTF-8", "CALLED=" + filepath.Join(dir, called),
	}, env...)
	if s.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 50}); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := s.tty.Read(b)
			_, _ = s.shown.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		_ = s.tty.Close()
		<-read
		if t.Failed() {
			t.Logf("%s shows:\n%q", shell, s.shown.String())
		}
	})
	s.until("the prompt", func() bool { return strings.Contains(s.shown.String(), prompt) })
	return s
}

// Write writes a file in the session's folder.
func (s *Session) Write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// Program makes bin/NAME a shell script that records the call and then runs the given code.
func Program(t *testing.T, dir, name, then string) {
	t.Helper()
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho >> \"$CALLED\"\n"+then+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// Tab types the text, presses Tab and, once the program has been asked, types the rest and
// presses Enter. It returns the arguments that the program was then called with.
func (s *Session) Tab(text, rest string) []string {
	s.t.Helper()
	for _, name := range []string{got, called} {
		if err := os.Remove(filepath.Join(s.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.t.Fatal(err)
		}
	}
	prompts := strings.Count(s.shown.String(), prompt)
	s.press(text + "\t")
	s.until("the program is asked after "+text, func() bool { return s.has(called) })
	s.press(rest + "\r")
	s.until("the program is called after "+text, func() bool { return s.has(got) })
	s.until("the next prompt", func() bool { return strings.Count(s.shown.String(), prompt) > prompts })
	b, err := os.ReadFile(filepath.Join(s.Dir, got))
	if err != nil {
		s.t.Fatal(err)
	}
	args := strings.Split(string(b), "\x00")
	return args[:len(args)-1]
}

func (s *Session) press(keys string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Session) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.Dir, name))
	return err == nil
}

func (s *Session) until(what string, holds func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if holds() {
			return
		}
	}
	s.t.Fatalf("it did not happen: %s; shown:\n%q", what, s.shown.String())
}
