//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// One stream in a pipe or a file: the line keeps to the one on the terminal, and
// what is in the file is the command's alone.
func TestTheStatusLineBesideAPipe(t *testing.T) {
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	work := `'echo out; echo err >&2; sleep 0.5; while [ ! -e go ]; do sleep 0.02; done; echo end; printf tail >&2'`
	for name, redirect := range map[string]string{"stdout": "> out", "stderr": "2> out", "both": "> out 2>&1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := watchedBy(t, 80, nil, exec.Command("sh", "-c", file+" -- sh -c "+work+" "+redirect))
			until(t, "it runs", func() bool {
				b, _ := os.ReadFile(s.file("out"))
				return strings.Contains(string(b), "out") || strings.Contains(string(b), "err")
			})
			if name == "stdout" {
				until(t, "it is drawn", s.draws("iteration 1 of 10"))
			}
			if err := os.WriteFile(s.file("go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := s.ended(t); got != 0 {
				t.Errorf("ended with %d", got)
			}
			kept, err := os.ReadFile(s.file("out"))
			if err != nil || strings.Contains(string(kept), "\x1b") || name == "stdout" && string(kept) != "out\nend\n" {
				t.Errorf("the file has %q, %v", kept, err)
			}
			if name == "stdout" {
				until(t, "the terminal has the end", func() bool { // it may be read after the process has ended
					_, rest := s.drawn()
					return strings.Contains(rest, "err\r\ntail\r\nlooprun: iteration 1: done")
				})
			} else if strings.Contains(s.stdout.String(), "\x1b") {
				t.Errorf("the terminal was sent %q", s.stdout.String())
			}
		})
	}
}

// Whoever takes single keys from the terminal has it for itself meanwhile.
func TestTheStatusLineBesideAPager(t *testing.T) {
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	pager := `stty -icanon </dev/tty; sleep 0.3; touch paging; sleep 1.5; touch paged; while [ ! -e quit ]; do sleep 0.02; done; stty icanon </dev/tty`
	s := watchedBy(t, 80, nil, exec.Command("sh", "-c", "{ "+pager+"; } & exec "+file+" -- sh -c '"+waitForGo+"'"))
	until(t, "the pager is there", s.has("paging"))
	before, _ := s.drawn()
	until(t, "it was there for a while", s.has("paged"))
	if now, _ := s.drawn(); len(now) != len(before) {
		t.Errorf("drawn beside it: %q", now[len(before):])
	}
	s.letGo(t, "quit")
	until(t, "it is drawn after it", func() bool { now, _ := s.drawn(); return len(now) > len(before) })
	s.letGo(t, "go")
	s.ended(t)
}

// What reads the output from a pipe may print it on the same terminal.
func TestNoStatusLineBesideTee(t *testing.T) {
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := watchedBy(t, 80, []string{"WT_SESSION=1"}, exec.Command("sh", "-c", file+` -- sh -c "echo one; sleep 0.5; echo two; echo err >&2; sleep 0.5" | tee out`))
	s.ended(t)
	until(t, "all is shown", s.closed)
	if raw := s.stdout.String(); strings.Contains(raw, "\x1b") || !strings.Contains(raw, "one\r\n") || !strings.Contains(raw, "two\r\n") {
		t.Errorf("the terminal was sent %q", raw)
	}
}
