//go:build unix

package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/program"
	"github.com/looprun/looprun/scratchpad"
)

// script is a looprun that does what the shell lines say.
func script(t *testing.T, lines string) looprun {
	t.Helper()
	file := filepath.Join(t.TempDir(), "looprun")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+lines+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return looprunAt(file)
}

func looprunAt(file string) looprun {
	return looprun{program.Looprun{Path: file, Via: core.ViaWeb}}
}

// What looprun serve does not give ends the program before it listens.
func TestArguments(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	for _, c := range []struct{ args, want string }{
		{"", "is started by looprun serve"},
		{"--looprun x", "is started by looprun serve"},
		{"--state-dir x", "is started by looprun serve"},
		{"--looprun x --state-dir x y", "is started by looprun serve"},
		{"--nonsense", "nonsense"},
		{"--looprun x --state-dir x", port},
		{"--help", ""},
	} {
		if err := run(append([]string{"--port", port}, strings.Fields(c.args)...)); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}

// What looprun refuses is not said to be done, and its words reach the page.
func TestWhatLooprunRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "20260102-030405-0a1b")
	l := script(t, "cat >/dev/null; echo 'looprun: it waits no more' >&2; exit 125")
	for name, do := range map[string]func() (string, error){
		"explain": func() (string, error) { return l.explain(dir) },
		"answer":  func() (string, error) { return l.Answer(t.Context(), dir, ask.ShortAnswer{}) },
		"order":   func() (string, error) { return l.order(t.Context(), dir, core.OrderStop, "") },
		"resume":  func() (string, error) { return l.Resume(t.Context(), dir) },
	} {
		if said, err := do(); said != "" || err == nil || err.Error() != "it waits no more" {
			t.Errorf("%s: %q, %v", name, said, err)
		}
	}
	if said, err := looprunAt(filepath.Join(dir, "none")).Resume(t.Context(), dir); said != "" || err == nil {
		t.Errorf("there is no looprun: %q, %v", said, err)
	}
}

// Of a long explanation the page has the beginning, and says so.
func TestALongExplanation(t *testing.T) {
	for lines, want := range map[int]string{3: "", 100000: "The rest is left out here; looprun explain 20260102-030405-0a1b prints all of it.\n"} {
		said, err := script(t, "yes line | head -n "+strconv.Itoa(lines)).explain("/d/20260102-030405-0a1b")
		if rest := strings.TrimLeft(said, "line\n"); err != nil || len(said) > mostText+100 || rest != want {
			t.Errorf("%d lines: %d bytes, %v, %q", lines, len(said), err, rest)
		}
	}
}

// A run that goes on is not resumed, and one that was resumed goes on once it is locked.
func TestARunThatGoesOn(t *testing.T) {
	state, mark := t.TempDir(), t.TempDir()
	dir := filepath.Join(state, "20260102-030405-0a1b")
	l := script(t, "echo >>'"+mark+"/starts'; while test -e '"+mark+"/starts'; do sleep 0.05; done")
	starts := func() int { text, _ := os.ReadFile(filepath.Join(mark, "starts")); return len(text) }
	locked := make(chan error, 1)
	go func() {
		for starts() == 0 {
			time.Sleep(time.Millisecond)
		}
		run, err := scratchpad.CreateAs(state, filepath.Base(dir), scratchpad.SyncOff)
		if err == nil {
			t.Cleanup(func() { _ = run.Close() })
		}
		locked <- err
	}()
	if said, err := l.Resume(t.Context(), dir); said != "The run continues." || err != nil {
		t.Errorf("%q, %v", said, err)
	}
	if err := eventually.Receive(t, "it is locked", locked); err != nil {
		t.Fatal(err)
	}
	if said, err := l.Resume(t.Context(), dir); said != "" || err == nil || starts() != 1 {
		t.Errorf("it was resumed %d times: %q, %v", starts(), said, err)
	}
}

// A run that was resumed and ended at once says how, with any code but that of a refusal.
func TestARunThatEndsAtOnce(t *testing.T) {
	for code, lines := range []string{"echo 'looprun: done after 1 of 2' >&2", "echo 'looprun: done after 1 of 2' >&2; exit 1"} {
		if said, err := script(t, lines).Resume(t.Context(), filepath.Join(t.TempDir(), "run")); said != "done after 1 of 2" || err != nil {
			t.Errorf("exit %d: %q, %v", code, said, err)
		}
	}
	said, err := script(t, "exit 0").Resume(t.Context(), filepath.Join(t.TempDir(), "run"))
	if said != "The run continued, and has ended." || err != nil {
		t.Errorf("%q, %v", said, err)
	}
}

// Words reach looprun on its standard input, where no other user reads them.
func TestWordsOfAnOrder(t *testing.T) {
	l := script(t, `echo "looprun: $* $(cat)" >&2`)
	for order, want := range map[core.Order]string{core.OrderSay: "say run - --via web --state-dir /d look again", core.OrderPause: "pause run --via web --state-dir /d"} {
		words := ""
		if order == core.OrderSay {
			words = "look again"
		}
		if said, err := l.order(t.Context(), "/d/run", order, words); said != want || err != nil {
			t.Errorf("%s: %q, %v", order, said, err)
		}
	}
}

// The browser gets a file with the ticket, which only this user reads and which goes. Without
// a browser it goes too.
func TestTheBrowserGetsATicket(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	t.Setenv("XDG_RUNTIME_DIR", dir)
	for _, name := range []string{"xdg-open", "open"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\ncat \"$1\" >'"+bin+"/shown.part' && mv '"+bin+"/shown.part' '"+bin+"/shown'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	used := func() {}
	remove, err := openInBrowser(func(done func()) string { used = done; return "http://x/?a&b" })
	if err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the browser reads the file", func() bool { _, err := os.Stat(filepath.Join(bin, "shown")); return err == nil })
	if text, err := os.ReadFile(filepath.Join(bin, "shown")); err != nil || !strings.Contains(string(text), `href="http://x/?a&amp;b"`) {
		t.Errorf("%q, %v", text, err)
	}
	files := func() (list []os.DirEntry) { list, _ = os.ReadDir(dir); return list }
	if list := files(); len(list) != 1 {
		t.Errorf("%d files", len(list))
	} else if info, err := list[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if used(); len(files()) != 0 {
		t.Error("the ticket was used, and is still there")
	}
	remove() // a second time

	t.Setenv("PATH", dir)
	remove, err = openInBrowser(func(func()) string { return "http://x" })
	if remove(); err == nil || len(files()) != 0 {
		t.Errorf("without a browser: %v, %d files", err, len(files()))
	}
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(dir, "none"))
	if remove, err = openInBrowser(func(func()) string { t.Error("a ticket was made"); return "" }); err == nil {
		t.Error("a file was made in no folder")
	}
	remove()
}

// A page whose address reaches nobody is not served.
func TestNobodyIsToldTheAddress(t *testing.T) {
	out, err := os.Open(os.DevNull) // which takes nothing
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer func(was *os.File) { os.Stdout = was }(os.Stdout)
	os.Stdout = out
	over := make(chan error, 1)
	go func() { over <- run([]string{"--looprun", "x", "--state-dir", t.TempDir()}) }()
	if err := eventually.Receive(t, "it ends", over); err == nil {
		t.Error("it was served")
	}
}

// A run is not resumed where it could not say why it ends.
func TestNoRoomForWords(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "resumed")
	l := script(t, "echo >'"+mark+"'")
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if said, err := l.Resume(t.Context(), "/d/run"); said != "" || err == nil {
		t.Errorf("%q, %v", said, err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it was resumed")
	}
}
