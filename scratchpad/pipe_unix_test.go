//go:build unix

package scratchpad

import (
	"errors"
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

// TestPageIsAPipe: the command may write its notes into the page, and what it does
// there stops no run.
func TestPageIsAPipe(t *testing.T) {
	r := newRun(t, SyncOff)
	s := stateAfter(t, iterations(1))
	if err := unix.Mkfifo(r.PageFile(), 0o600); err != nil {
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

// TestPageIsALink: what it leads to is neither read nor written. A repository can
// bring one, and what is read gets into a prompt.
func TestPageIsALink(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "mine.md")
	writeFile(t, elsewhere, "## Notes\n\nmine\n")
	for _, target := range []string{elsewhere, "/dev/null"} {
		r := newRun(t, SyncOff)
		if err := os.Symlink(target, r.PageFile()); err != nil {
			t.Fatal(err)
		}
		if got := Notes(r.Dir) + r.page.read(); got != "" {
			t.Errorf("the notes are %q", got)
		}
		if err := r.Refresh(stateAfter(t, iterations(1)), true); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, r.PageFile()); !strings.HasSuffix(got, emptyNotes) || isLink(r.PageFile()) {
			t.Errorf("the page is\n%s", got)
		}
	}
	if got := readFile(t, elsewhere); got != "## Notes\n\nmine\n" {
		t.Errorf("what it leads to became %q", got)
	}
}

// TestALinkInARun is followed by nobody: not in place of a file, nor of the folder
// that it is in.
func TestALinkInARun(t *testing.T) {
	elsewhere := t.TempDir()
	for name, text := range map[string]string{"0001.log": "secret", "result.json": `{"status":"done"}`, "2.json": `{"reason":"x"}`} {
		writeFile(t, filepath.Join(elsewhere, name), text)
	}
	r := newRun(t, SyncOff)
	s := appendAll(t, r, iterations(1))
	for name, target := range map[string]string{"output": elsewhere, resultName: filepath.Join(elsewhere, resultName), detailDir: elsewhere} {
		if err := os.Symlink(target, filepath.Join(r.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if f, err := OpenWithin(r.Dir, OutputFile(r.Dir, 1)); err == nil {
		f.Close()
		t.Error("an output below a link was opened")
	}
	if v, ok := readResult(r.Dir); ok {
		t.Errorf("a link is the verdict %+v", v)
	}
	if b, err := readWithin(r.Dir, detailName(r.Dir, 2)); err == nil {
		t.Errorf("a detail below a link: %s", b)
	}
	out := must(r.Output(1))
	if _, err := out.Write([]byte("printed")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(out.Close(), r.Journal.Append(ending(s.Seq+1, strings.Repeat("x", 2*pageSize))), r.WriteResult(s.Result(), "")); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, OutputFile(r.Dir, 1)); got != "printed" {
		t.Errorf("the output is %q", got)
	}
	if _, _, err := Load(r.Dir); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"output", detailDir, resultName} {
		if isLink(filepath.Join(r.Dir, name)) {
			t.Errorf("%s is still a link", name)
		}
	}
	if names := must(os.ReadDir(elsewhere)); len(names) != 3 || readFile(t, filepath.Join(elsewhere, "0001.log")) != "secret" {
		t.Errorf("something was written to what the links lead to: %v", names)
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
