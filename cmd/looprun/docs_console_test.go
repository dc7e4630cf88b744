//go:build unix

package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/eventually"
)

// call is a command of a console block and what it is to print.
type call struct{ command, prints string }

// calls reads a console block: a command stands behind "$ " and may go on in
// lines behind "> "; all other lines are what it prints.
func calls(text string) []call {
	var list []call
	for line := range strings.SplitAfterSeq(text, "\n") {
		switch rest, goes := strings.CutPrefix(line, "> "); {
		case strings.HasPrefix(line, "$ "):
			list = append(list, call{command: line[2:]})
		case len(list) == 0:
		case goes && list[len(list)-1].prints == "":
			list[len(list)-1].command += rest
		default:
			list[len(list)-1].prints += line
		}
	}
	return list
}

// console runs a block as somebody who reads it does: command after command.
// The exit code is that of the last one.
func (p *page) console(t *testing.T, b block, u use) {
	t.Helper()
	list := calls(b.text)
	if len(list) == 0 {
		t.Errorf("line %d: there is no command after $", b.line)
	}
	for i, c := range list {
		exit := 0
		if i == len(list)-1 {
			exit = u.exit
		}
		p.must(t, b.line, c.command, exit)
		p.mustPrint(t, b.line, c.prints)
	}
}

var keyCodes = map[string]string{"enter": "\r", "up": keyUp, "down": "\x1b[B", "a": "a", "c": "c"}

// terminal runs the one command of a block as a person at a terminal does: when
// the screen shows what the block does, it presses the keys.
func (p *page) terminal(t *testing.T, b block, u use) {
	t.Helper()
	list := calls(b.text)
	if len(list) != 1 || len(u.press) == 0 {
		t.Fatalf("line %d: a terminal block has one command, and a comment <!-- keys KEY,… --> above it", b.line)
	}
	c := atHome("sh", "-c", list[0].command)
	c.Env = p.environ(t)
	s := display(t, p.dir, c)
	appears(t, "the screen shows the block of line "+strconv.Itoa(b.line), func() bool {
		return unprinted(list[0].prints, s.term.String()) == ""
	})
	for _, name := range u.press[:len(u.press)-1] {
		before := chosen(s)
		s.press(t, keyCodes[name], name+" moves the choice", func() bool { return chosen(s) != before })
	}
	code := s.answer(t, keyCodes[u.press[len(u.press)-1]])
	if p.printed = s.stdout.String(); code != u.exit {
		t.Errorf("line %d: exit code %d, want %d", b.line, code, u.exit)
	}
}

// appears waits for what may have to compile and test a package first.
func appears(t *testing.T, what string, holds func() bool) {
	t.Helper()
	eventually.Holds(t, what, holds)
}

// chosen is the option that the cursor of a question stands at.
func chosen(s *screen) string {
	found := ""
	for line := range strings.SplitSeq(s.term.String(), "\n") {
		if strings.HasPrefix(line, "> ") {
			found = line
		}
	}
	return found
}

// freePort is a port of this machine that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func TestDocsReadsConsoles(t *testing.T) {
	got := calls("before\n$ cat <<E\n> one\n> E\none\n> two\n$ true\n")
	want := []call{{"cat <<E\none\nE\n", "one\n> two\n"}, {"true\n", ""}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%q, want %q", got, want)
	}
}

// At a terminal the demo offers to ask, and any answer ends it well. Without a
// person it ends as well.
func TestDocsDemoAsks(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and tests packages again and again")
	}
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	demo := inExamples(t, "demo.sh")
	t.Run("somebody is there", func(t *testing.T) {
		t.Parallel()
		c := atHome("bash", demo, file)
		c.Env = standIns(t)
		s := display(t, t.TempDir(), c)
		appears(t, "it offers to ask", s.shows("Press Enter"))
		s.keys(t, "\r")
		appears(t, "it asks", s.shows(cancelOption))
		s.take(t, cancelKey, "it ends", func() bool { return strings.Count(s.stdout.String(), "(exit code 101)") == 2 })
		if got := s.ended(t); got != 0 {
			t.Errorf("ended with %d", got)
		}
	})
	t.Run("nobody is", func(t *testing.T) {
		t.Parallel()
		standIn := filepath.Join(t.TempDir(), "looprun")
		if err := os.WriteFile(standIn, []byte("#!/bin/sh\ncase $* in *--policy*) exit 101 ;; esac\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		s := display(t, t.TempDir(), atHome("bash", demo, standIn))
		appears(t, "it offers to ask", s.shows("Press Enter"))
		if got := s.ended(t); got != 0 || strings.Contains(s.stdout.String(), "The same without a policy") {
			t.Errorf("ended with %d:\n%s", got, s.stdout.String())
		}
	})
}
