//go:build unix

package scratchpad

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/internal/eventually"
)

// within fails where f waits for a pipe that nobody opens.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(eventually.Patience):
		t.Fatalf("%s waits for ever", what)
	}
}

// TestPageIsAPipe, or a device without an end: the command may write its notes
// into the page, and what it does there stops no run.
func TestPageIsAPipe(t *testing.T) {
	for name, put := range map[string]func(page string) error{
		"pipe":           func(page string) error { return unix.Mkfifo(page, 0o600) },
		"link to device": func(page string) error { return os.Symlink("/dev/null", page) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, SyncOff)
			s := stateAfter(t, iterations(1))
			if err := put(r.PageFile()); err != nil {
				t.Fatal(err)
			}
			within(t, "the page", func() {
				if err := r.Refresh(s, true); err == nil || !strings.Contains(err.Error(), r.PageFile()) {
					t.Errorf("Refresh: %v", err)
				}
			})
			within(t, "the context", func() {
				if got := r.page.read(); got != "" {
					t.Errorf("the notes are %q", got)
				}
			})
		})
	}
}

// TestARunWithPipes in place of its files is read and opened, or not, but at once.
func TestARunWithPipes(t *testing.T) {
	r := newRun(t, SyncOff)
	s := appendAll(t, r, iterations(1))
	if err := r.Journal.Append(ending(s.Seq+1, strings.Repeat("x", 2*pageSize))); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	details := must(filepath.Glob(filepath.Join(r.Dir, detailDir, "*.json")))
	if len(details) != 1 {
		t.Fatalf("details: %q", details)
	}
	if err := os.Rename(details[0], details[0]+".kept"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{details[0], filepath.Join(r.Dir, resultName), filepath.Join(r.Dir, "reserve")} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := unix.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	within(t, "the verdict", func() {
		if _, ok := readResult(r.Dir); ok {
			t.Error("a pipe is a verdict")
		}
	})
	within(t, "the detail", func() {
		if _, _, err := Load(r.Dir); err == nil || !strings.Contains(err.Error(), details[0]) {
			t.Errorf("Load: %v", err)
		}
	})
	if err := os.Rename(details[0]+".kept", details[0]); err != nil {
		t.Fatal(err)
	}
	within(t, "the reserve", func() {
		if _, _, _, err := Open(r.Dir, SyncOff); err == nil || !strings.Contains(err.Error(), "reserve") {
			t.Errorf("Open: %v", err)
		}
	})
}

// TestPageIsALink: its notes are kept, and the file that it leads to is not touched.
func TestPageIsALink(t *testing.T) {
	r := newRun(t, SyncOff)
	elsewhere := filepath.Join(t.TempDir(), "mine.md")
	writeFile(t, elsewhere, "## Notes\n\nmine\n")
	if err := os.Symlink(elsewhere, r.PageFile()); err != nil {
		t.Fatal(err)
	}
	if err := r.Refresh(stateAfter(t, iterations(1)), true); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, r.PageFile()); !strings.HasSuffix(got, "## Notes\n\nmine\n") {
		t.Errorf("the page is\n%s", got)
	}
	if got := readFile(t, elsewhere); got != "## Notes\n\nmine\n" {
		t.Errorf("what it leads to became %q", got)
	}
}

// TestOutputIsInTheWay: a pipe or a link that the command has put where the next
// output goes is replaced.
func TestOutputIsInTheWay(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "mine")
	for name, put := range map[string]func(file string) error{
		"pipe": func(file string) error { return unix.Mkfifo(file, 0o600) },
		"read pipe": func(file string) error {
			if err := unix.Mkfifo(file, 0o600); err != nil {
				return err
			}
			reader, err := os.OpenFile(file, os.O_RDWR, 0)
			if err == nil {
				t.Cleanup(func() { reader.Close() })
			}
			return err
		},
		"link": func(file string) error { return os.Symlink(elsewhere, file) },
	} {
		t.Run(name, func(t *testing.T) {
			writeFile(t, elsewhere, "mine")
			r := newRun(t, SyncOff)
			say(t, r, 1, "one\n")
			for _, file := range []string{OutputFile(r.Dir, 2), CheckOutputFile(r.Dir, 2)} {
				if err := put(file); err != nil {
					t.Fatal(err)
				}
			}
			within(t, "the output", func() { say(t, r, 2, "two\n") })
			for _, file := range []string{OutputFile(r.Dir, 2), CheckOutputFile(r.Dir, 2)} {
				if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
					t.Fatalf("%s is %v, %v", file, info, err)
				}
				if got := readFile(t, file); got != "two\n" {
					t.Errorf("%s holds %q", file, got)
				}
			}
			if got := readFile(t, elsewhere); got != "mine" {
				t.Errorf("what the link leads to became %q", got)
			}
		})
	}
}
