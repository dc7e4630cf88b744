//go:build unix

package inputfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func setPatience(t *testing.T, d time.Duration) {
	before := patience
	patience = d
	t.Cleanup(func() { patience = before })
}

func TestNobodyWrites(t *testing.T) {
	setPatience(t, 50*time.Millisecond)
	name := fifo(t)
	_, err := Open(name)
	if !errors.Is(err, ErrNobodyWrites) || !strings.HasPrefix(err.Error(), name) {
		t.Error(err)
	}
}

// The writer may come after the reader, write in pieces, and take longer than a
// writer is waited for.
func TestWriterComesLater(t *testing.T) {
	setPatience(t, 5*time.Minute)
	name := fifo(t)
	want := strings.Repeat("a line\n", 50_000)
	failed := make(chan error, 1)
	go func() {
		w, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err == nil {
			_, err = io.WriteString(w, want[:10])
		}
		if err == nil {
			_, err = io.WriteString(w, want[10:])
		}
		failed <- errors.Join(err, w.Close())
	}()
	got := read(t, name)
	if got != want {
		t.Errorf("read %d bytes, want %d", len(got), len(want))
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

// A writer that is there and has nothing to say yet is waited for.
func TestWriterIsSlow(t *testing.T) {
	setPatience(t, 0)
	name := fifo(t)
	w, err := os.OpenFile(name, os.O_RDWR, 0) // it opens without a reader
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() { got <- read(t, name) }()
	select {
	case text := <-got:
		t.Fatalf("read %q", text)
	case <-time.After(100 * time.Millisecond): // as long as it is not over it waits
	}
	if _, err := io.WriteString(w, "late"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if text := <-got; text != "late" {
		t.Errorf("read %q", text)
	}
}

// What a shell makes of <(…) has had its writer, even if that has said nothing.
func TestPipeOfAShell(t *testing.T) {
	setPatience(t, 5*time.Minute)
	for _, want := range []string{"", "text"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, err := io.WriteString(w, want); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if got := read(t, fmt.Sprintf("/dev/fd/%d", r.Fd())); got != want {
			t.Errorf("read %q, want %q", got, want)
		}
	}
}

func TestOtherFiles(t *testing.T) {
	if got := read(t, os.DevNull); got != "" {
		t.Errorf("read %q", got)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	in, err := Open(name)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer in.Close()
	b, err := io.ReadAll(in)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}
