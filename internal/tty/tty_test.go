//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tty

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// open2 opens a pseudo terminal that is nobody's controlling one.
func open2(t *testing.T) (*Terminal, *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	term, err := Open(slave.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.Close(); master.Close() })
	return term, master
}

func TestOpenWhatIsNoTerminal(t *testing.T) {
	for _, path := range []string{os.DevNull, t.TempDir(), "/nonexistent"} {
		if term, err := Open(path); err == nil {
			term.Close()
			t.Errorf("%s was opened as a terminal", path)
		}
	}
}

func TestRead(t *testing.T) {
	term, master := open2(t)
	if err := term.Raw(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 8)
	if _, err := term.Read(b, time.Now().Add(-time.Second)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past the deadline: %v", err)
	}
	term.Wake()
	term.Wake()
	if _, err := term.Read(b, time.Time{}); !errors.Is(err, ErrWoken) {
		t.Errorf("woken: %v", err)
	}
	master.WriteString("k\x03")
	if n, err := term.Read(b, time.Time{}); err != nil || string(b[:n]) != "k\x03" {
		t.Errorf("got %q, %v", b[:n], err)
	}
	ended := make(chan error)
	go func() {
		_, err := term.Read(b, time.Time{})
		ended <- err
	}()
	term.Cancel()
	if err := <-ended; !errors.Is(err, ErrCancelled) {
		t.Errorf("cancelled: %v", err)
	}
	term.Wake()
	if _, err := term.Read(b, time.Time{}); !errors.Is(err, ErrCancelled) {
		t.Errorf("after it was cancelled: %v", err)
	}
}

// A terminal that takes nothing more, such as one stopped with Ctrl-S, does not
// hold up a program that is told to end.
func TestCancelEndsWrite(t *testing.T) {
	term, _ := open2(t)
	ended := make(chan error)
	go func() {
		for {
			if _, err := term.Write(bytes.Repeat([]byte("x"), 4096)); err != nil {
				ended <- err
				return
			}
		}
	}()
	term.Cancel()
	if err := <-ended; !errors.Is(err, ErrCancelled) {
		t.Errorf("got %v", err)
	}
}

func TestRawThrowsAwayWhatWasTyped(t *testing.T) {
	term, master := open2(t)
	master.WriteString("typed before\nand more")
	awaitInput(t, term)
	if err := term.Raw(); err != nil {
		t.Fatal(err)
	}
	master.WriteString("after")
	b := make([]byte, 64)
	if n, err := term.Read(b, time.Time{}); err != nil || string(b[:n]) != "after"[:n] {
		t.Errorf("got %q, %v", b[:n], err)
	}
}

// awaitInput waits until a line can be read.
func awaitInput(t *testing.T, term *Terminal) {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(term.Fd()), Events: unix.POLLIN}}
	for {
		switch n, err := unix.Poll(fds, 10_000); {
		case errors.Is(err, unix.EINTR):
		case err != nil || n == 0:
			t.Fatalf("nothing to read: %v", err)
		default:
			return
		}
	}
}

func TestForegroundOfAnothersTerminal(t *testing.T) {
	if term, _ := open2(t); term.Foreground() {
		t.Error("a terminal that does not control the process has it in its foreground")
	}
}

func TestLendKeepsSignalsAway(t *testing.T) {
	term, _ := open2(t)
	before := state(t, term)
	if err := errors.Join(term.Raw(), term.Lend()); err != nil {
		t.Fatal(err)
	}
	lent := state(t, term)
	if lent.Lflag&unix.ISIG != 0 || lent.Lflag&unix.ICANON == 0 {
		t.Errorf("lent with %+v", lent)
	}
	if lent.Lflag |= unix.ISIG; lent != before {
		t.Errorf("lent with %+v, it was %+v", lent, before)
	}
}

func state(t *testing.T, term *Terminal) unix.Termios {
	t.Helper()
	s, err := unix.IoctlGetTermios(int(term.Fd()), getTermios)
	if err != nil {
		t.Fatal(err)
	}
	return *s
}
