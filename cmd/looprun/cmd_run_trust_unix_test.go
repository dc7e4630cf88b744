//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
)

// onTrustQuestion starts looprun on a terminal in a folder whose looprun.yaml
// could run something, until it asks.
func onTrustQuestion(t *testing.T) *screen {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "own"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "own"))
	if err := os.WriteFile(filepath.Join(dir, config.Name), []byte("debug: make mischief\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := onTerminal(t, dir, "--", "touch", "ran")
	until(t, "it asks", s.shows("[y/N]"))
	if !strings.Contains(s.term.String(), "debug: make mischief") {
		t.Error("what the file could run is not shown")
	}
	return s
}

// A yes is recorded: the next run does not ask.
func TestConsentAtTheTerminal(t *testing.T) {
	s := onTrustQuestion(t)
	s.keys(t, "y\r")
	if got := s.ended(t); got != 0 || !inputfile.IsFile(s.file("ran")) {
		t.Fatalf("ended with %d", got)
	}
	again := onTerminal(t, s.dir, "--", "true")
	if got := again.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
	if strings.Contains(again.term.String(), "[y/N]") {
		t.Error("it asked again")
	}
}

// Everything that is not a yes is a no: Enter, the end of input, other words.
func TestNoConsentAtTheTerminal(t *testing.T) {
	for name, keys := range map[string]string{"enter": "\r", "end of input": "\x04", "no": "n\r", "another word": "yard\r"} {
		t.Run(name, func(t *testing.T) {
			s := onTrustQuestion(t)
			s.keys(t, keys)
			if got := s.ended(t); got != 125 || inputfile.IsFile(s.file("ran")) {
				t.Errorf("ended with %d", got)
			}
			if files, _ := filepath.Glob(filepath.Join(s.dir, "own", "looprun", "trust", "*")); len(files) > 0 {
				t.Errorf("recorded: %v", files)
			}
		})
	}
}

// With --non-interactive nobody is asked.
func TestNoConsentIsAskedForWithoutAPerson(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "own"))
	if err := os.WriteFile(filepath.Join(dir, config.Name), []byte("debug: make mischief\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := onTerminal(t, dir, "--non-interactive", "--", "touch", "ran")
	if got := s.ended(t); got != 125 || inputfile.IsFile(s.file("ran")) {
		t.Errorf("ended with %d", got)
	}
}

// In CI nobody is asked, also where a terminal is there.
func TestNoConsentIsAskedForInCI(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "own"))
	if err := os.WriteFile(filepath.Join(dir, config.Name), []byte("debug: make mischief\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := display(t, dir, exec.Command("env", "CI=true", file, "--", "touch", "ran"))
	if got := s.ended(t); got != 125 || inputfile.IsFile(s.file("ran")) || strings.Contains(s.term.String(), "[y/N]") {
		t.Errorf("ended with %d", got)
	}
}
