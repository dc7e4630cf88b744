//go:build unix

package outlet

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// unread is an outlet into a pipe that is full. Nobody gives up before the test looks.
type unread struct {
	*Outlet
	t      *testing.T
	r      *os.File
	looks  chan time.Time
	began  chan struct{} // somebody begins to look
	before int           // bytes that were in the pipe
}

func newUnread(t *testing.T) *unread {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	if !Holds(w) {
		t.Fatal("a pipe holds nobody")
	}
	u := &unread{Outlet: New(w), t: t, r: r, looks: make(chan time.Time), began: make(chan struct{}, 100)}
	u.look = func() (<-chan time.Time, func()) {
		u.began <- struct{}{}
		return u.looks, func() {}
	}
	for fill := make([]byte, 1<<20); ; { // as large as a pipe can be
		rest := u.offer(fill)
		if len(rest) == len(fill) {
			break
		}
		u.before += len(fill) - len(rest)
	}
	if u.before == 0 {
		t.Skip("here a file cannot be opened once more, so that a test cannot fill a pipe")
	}
	return u
}

// in is what a write returns, once it does.
func in(write func([]byte) (int, error), b []byte) <-chan error {
	done := make(chan error, 1)
	go func() {
		n, err := write(b)
		if err == nil && n != len(b) {
			err = io.ErrShortWrite
		}
		done <- err
	}()
	return done
}

// once is how the write ended, while the test looks again and again.
func (u *unread) once(done <-chan error) error {
	for {
		select {
		case err := <-done:
			return err
		case u.looks <- time.Time{}:
		}
	}
}

// isWriting returns once something is being written.
func (u *unread) isWriting() {
	for writing := false; !writing; {
		u.mu.Lock()
		writing = u.over != nil
		u.mu.Unlock()
	}
}

// rest is what arrives behind what was in the pipe, so many bytes of it.
func (u *unread) rest(n int) string {
	u.t.Helper()
	b := make([]byte, u.before+n)
	if _, err := io.ReadFull(u.r, b); err != nil {
		u.t.Fatal(err)
	}
	return string(b[u.before:])
}

// Every byte arrives once and in order, whatever waits.
func TestAllArrives(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for name, ends := range map[string][2]*os.File{"a pipe": {r, w}, "a terminal": {master, slave}} {
		t.Run(name, func(t *testing.T) {
			defer ends[0].Close()
			if !Holds(ends[1]) {
				t.Error("it holds nobody")
			}
			var want bytes.Buffer
			for n := range 2000 {
				want.WriteString(strings.Repeat("x", n%97*n%4000))
			}
			text := want.String()
			got := make(chan string)
			go func() {
				b := make([]byte, len(text))
				n, _ := io.ReadFull(ends[0], b) // what is missing shows
				got <- string(b[:n])
			}()
			o := New(ends[1])
			for i, rest := 0, text; len(rest) > 0; i++ {
				part := rest[:min(len(rest), 1+i*i%200_000)]
				rest = rest[len(part):]
				var w io.Writer = o.Output()
				if i%3 == 0 {
					w = o.Messages()
				}
				if n, err := io.WriteString(w, part); n != len(part) || err != nil {
					t.Fatalf("%d of %d, %v", n, len(part), err)
				}
			}
			if <-got != text {
				t.Error("something else arrived")
			}
			ends[1].Close()
		})
	}
}

func TestWhatHolds(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if Holds(null) || Holds(file) {
		t.Error("the null device or a regular file is waited for")
	}
}

// Output waits, however long, for a reader who stands still; a message does not,
// and arrives when the reader goes on.
func TestMessagesDoNotWait(t *testing.T) {
	u := newUnread(t)
	output := in(u.Output().Write, []byte("output\n"))
	u.isWriting()
	if err := u.once(in(u.Messages().Write, []byte("first\n"))); err != nil {
		t.Error(err)
	}
	// It is known now that nobody reads: the second waits for nothing.
	if err := <-in(u.Messages().Write, []byte("second\n")); err != nil {
		t.Error(err)
	}
	select {
	case err := <-output:
		t.Errorf("output did not wait: %v", err)
	default:
	}
	const want = "output\nfirst\nsecond\n"
	if got := u.rest(len(want)); got != want {
		t.Errorf("read %q", got)
	}
	if err := <-output; err != nil {
		t.Error(err)
	}
}

// Of messages that nobody reads only so many are kept, and it is said.
func TestTooManyMessages(t *testing.T) {
	u := newUnread(t)
	line := []byte(strings.Repeat("m", 1023) + "\n")
	if err := u.once(in(u.Messages().Write, line)); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := <-in(u.Messages().Write, line); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Repeat(string(line), 1+keptText/len(line)) + missing
	if got := u.rest(len(want)); got != want {
		t.Errorf("read %d bytes that end with %q", len(got), got[max(0, len(got)-100):])
	}
}

// In a hurry output gives up once the reader has taken nothing between two looks,
// and not before.
func TestHurry(t *testing.T) {
	u := newUnread(t)
	text := bytes.Repeat([]byte("0123456789abcdef"), 16*piece/16)
	output := in(u.Output().Write, text)
	u.Hurry()
	<-u.began
	for range 2 {
		taken := u.taken.Load()
		for u.taken.Load() == taken {
			if _, err := u.r.Read(make([]byte, piece)); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case u.looks <- time.Time{}:
		case err := <-output:
			t.Fatalf("it gave up on a slow reader: %v", err)
		}
	}
	if err := u.once(output); !errors.Is(err, ErrUnread) {
		t.Errorf("on one who stands still: %v", err)
	}
	if err := u.once(in(u.Output().Write, []byte("more"))); !errors.Is(err, ErrUnread) {
		t.Errorf("the next one: %v", err)
	}
	// When it is calm again, output waits for the writer that was left behind.
	u.Calm()
	after := in(u.Output().Write, []byte("after"))
	var got []byte
	for b := make([]byte, 1<<20); !bytes.HasSuffix(got, []byte("after")); {
		n, err := u.r.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, b[:n]...)
	}
	if err := <-after; err != nil {
		t.Error(err)
	}
	if bytes.Contains(got, []byte("more")) {
		t.Error("what was given up has arrived")
	}
}

// A reader who is gone is an error, as for any file.
func TestNoReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	o := New(w)
	for _, to := range []io.Writer{o.Output(), o.Messages(), o.Output()} {
		if n, err := to.Write([]byte("x")); n != 0 || !errors.Is(err, syscall.EPIPE) {
			t.Errorf("%d, %v", n, err)
		}
	}
}
