package scratchpad_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
)

func contextRun(t *testing.T) (*scratchpad.Run, func(guidance string) string) {
	t.Helper()
	r, err := scratchpad.Create(t.TempDir(), time.Now(), scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, func(guidance string) string {
		t.Helper()
		if err := r.WriteContext(&core.State{Guidance: guidance}, scratchpad.ContextOptions{}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(r.ContextFile())
		if err != nil {
			t.Fatal(err)
		}
		want := scratchpad.Context(&core.State{Guidance: guidance}, scratchpad.ContextOptions{Notes: scratchpad.Notes(r.Dir)})
		if string(text) != string(want) {
			t.Errorf("the file has\n%s\nwant\n%s", text, want)
		}
		return string(text)
	}
}

// The file has what there is to know and nothing of what was there before, also
// where somebody has removed, replaced, cut, lengthened or changed it.
func TestWriteContext(t *testing.T) {
	r, write := contextRun(t)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a long piece of advice. ", 100)
	for name, meddle := range map[string]func(file string) error{
		"nobody":  func(string) error { return nil },
		"removed": os.Remove,
		"cut":     func(f string) error { return os.Truncate(f, 3) },
		"changed": func(f string) error {
			b, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			return os.WriteFile(f, bytes.ToUpper(b), 0o600)
		},
		"longer":   func(f string) error { return os.Truncate(f, 1<<16) },
		"replaced": func(f string) error { return os.Rename(copyOf(t, elsewhere), f) },
		"a link": func(f string) error {
			if err := os.Remove(f); err != nil {
				return err
			}
			return os.Symlink(elsewhere, f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, guidance := range []string{long, "short", "", long} {
				write(guidance)
				if err := meddle(r.ContextFile()); err != nil {
					t.Fatal(err)
				}
				write(guidance) // the same again
			}
		})
	}
	if b, err := os.ReadFile(elsewhere); err != nil || string(b) != "precious" {
		t.Errorf("a file outside the run has %q, %v", b, err)
	}
}

func copyOf(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// A note that was just written is there in the next iteration, however the page
// was changed.
func TestWriteContextHasTheNotes(t *testing.T) {
	r, write := contextRun(t)
	if err := r.Refresh(&core.State{}, true); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(r.PageFile())
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(page), "## Notes")
	for _, note := range []string{"look at a", "look at b", "look at b", "look at c"} { // of one length, in one tick of the clock
		if err := os.WriteFile(r.PageFile(), []byte(head+"## Notes\n\n"+note+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if text := write(""); !strings.Contains(text, note) {
			t.Errorf("the note %q is not in\n%s", note, text)
		}
	}
	past := time.Now().Add(-time.Hour)
	for _, note := range []string{"look at d", "look at e"} { // as editors do that write a new file
		name := filepath.Join(r.Dir, "new")
		if err := os.WriteFile(name, []byte(head+"## Notes\n\n"+note+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name, r.PageFile()); err != nil {
			t.Fatal(err)
		}
		if text := write(""); !strings.Contains(text, note) {
			t.Errorf("the note %q is not in\n%s", note, text)
		}
	}
}

// Of a page that has just been changed a second change may not be told by its times:
// its notes are read again.
func TestWriteContextDoesNotTrustTheClock(t *testing.T) {
	r, write := contextRun(t)
	soon := time.Now().Add(time.Hour) // never long ago in this test
	for _, note := range []string{"look at a", "look at b"} {
		if err := os.WriteFile(r.PageFile(), []byte("## Notes\n\n"+note+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(r.PageFile(), soon, soon); err != nil {
			t.Fatal(err)
		}
		if text := write(""); !strings.Contains(text, note) {
			t.Errorf("the note %q is not in\n%s", note, text)
		}
	}
}
