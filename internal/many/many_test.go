package many

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/scratchpad"
)

// A name never becomes more than one harmless part of a path.
func FuzzSlug(f *testing.F) {
	for _, name := range []string{"../../etc", "a/b", "-rf", "\x1b[31m", "..", "CON", strings.Repeat("x", 300)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s := slug(name)
		if len(s) > 31 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.HasPrefix(s, "-") {
			t.Errorf("%q became %q", name, s)
		}
	})
}

// What is copied is not written through a link that the repository has there.
func TestCopyThroughALink(t *testing.T) {
	from, tree, outside := t.TempDir(), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{filepath.Join(from, "d", ".env"): "secret", filepath.Join(from, ".env"): "secret", filepath.Join(outside, "kept"): "kept"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(tree, "d")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(filepath.Join(outside, "kept"), filepath.Join(tree, ".env")); err != nil {
		t.Fatal(err)
	}
	if err := copyFiles(from, tree, []string{".env"}); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(tree, ".env")); err != nil || string(text) != "secret" {
		t.Errorf("the copy is %q, %v", text, err)
	}
	refused := [][2]string{ // the name, and the tree
		{"d/.env", tree},                         // through a link to a folder outside
		{"nothing", tree},                        // it is not there
		{".env", filepath.Join(tree, "nowhere")}, // nor is the tree
		{"closed", tree},                         // it may not be read
	}
	if err := os.WriteFile(filepath.Join(from, "closed"), nil, 0); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() <= 0 { // the system keeps nothing from root, or has other rights
		refused = refused[:3]
	}
	for _, c := range refused {
		err := copyFiles(from, c[1], []string{c[0]})
		if _, says := errors.AsType[*fs.PathError](err); !says {
			t.Errorf("%s into %s: %v; it does not say what the system refuses", c[0], c[1], err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(outside, "kept")); err != nil || string(text) != "kept" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(outside, ".env")); err == nil {
		t.Error("a file came into the folder outside")
	}
}

// The first code above 0 counts, in the order of the loops and not of their ends.
func TestExitCodeOfAll(t *testing.T) {
	of := func(codes ...int) int {
		b := &Batch{Plan: &Plan{Started: time.Now()}}
		for _, code := range codes {
			b.entries = append(b.entries, &entry{stands: over, end: End{ExitCode: code, Status: core.StatusDone}})
		}
		return b.verdict().ExitCode
	}
	for _, c := range []struct {
		codes []int
		want  int
	}{{[]int{0, 0}, 0}, {[]int{0, 111, 102}, 111}, {[]int{102, 0, 111}, 102}} {
		if got := of(c.codes...); got != c.want {
			t.Errorf("%v give %d, want %d", c.codes, got, c.want)
		}
	}
	asks := &entry{Loop: &Loop{Name: "a"}, stands: asking, repo: repositoryOf(t.TempDir(), t.TempDir())}
	if v := (&Batch{Plan: &Plan{Started: time.Now()}, entries: []*entry{asks}}).verdict(); v.ExitCode != core.StatusPaused.ExitCode() {
		t.Errorf("a loop that asks gives %d", v.ExitCode)
	}
}

// A plan with a secret in it is kept without it.
func TestPlanWithASecret(t *testing.T) {
	p := &Plan{Schema: planSchema, ID: "20260102-030405-0001", State: t.TempDir(), Trees: t.TempDir(), Loops: []Loop{
		{Name: "a", Command: []string{"run", "hunter2"}, Env: map[string]string{"K": "hunter2"}, Setup: "use hunter2"},
	}}
	p.Loops[0].Tree = p.treeOf(0)
	if err := p.write(func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(p.dir(), planName))
	if err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("%s, %v", text, err)
	}
	if again, err := Read(p.State, p.ID); err != nil || !again.Masked || p.Loops[0].Command[1] != "hunter2" {
		t.Errorf("%+v, %v", again, err)
	}
}

// A program that ends well and says nothing, or leaves a run without an end, has not done the loop.
func TestNoStatusIsNoSuccess(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		status  core.Status
		says    string
	}{
		"no run at all":     {"echo nothing to do >&2", "", "nothing to do"},
		"a run without end": {`mkdir -p "$HERE/state/$3" && cp "$HERE/journal" "$HERE/state/$3/journal.jsonl"`, core.StatusCrashed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			top := filepath.Join(dir, "top")
			for _, args := range [][]string{{"init", "-q", top}, {"-C", top, "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "one"}} {
				if _, err := git.Run(t.Context(), dir, nil, args...); err != nil {
					t.Skip(err)
				}
			}
			self := filepath.Join(dir, "program")
			if err := os.WriteFile(self, []byte("#!/bin/sh\nHERE='"+dir+"'\n"+c.program+"\n"), 0o700); err != nil { //nolint:gosec // it is a program
				t.Fatal(err)
			}
			base, err := git.Run(t.Context(), top, nil, "rev-parse", "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			p := &Plan{Schema: planSchema, State: filepath.Join(dir, "state"), Trees: filepath.Join(dir, "trees"), Limits: Limits{Jobs: 1}, Loops: []Loop{{Name: "a", Repository: top, Base: base}}}
			p.name(time.Now())
			begun, err := scratchpad.CreateAs(filepath.Join(dir, "other"), p.Loops[0].RunID, scratchpad.SyncOff)
			if err != nil {
				t.Fatal(err)
			}
			if err := begun.Journal.Append(core.Event{Seq: 1, Time: time.Now(), Data: core.RunStarted{RunID: p.Loops[0].RunID, Command: []string{"true"}, Dir: dir}}); err != nil {
				t.Fatal(err)
			}
			if err := begun.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(begun.Dir, "journal.jsonl"), filepath.Join(dir, "journal")); err != nil {
				t.Fatal(err)
			}
			v := ends(t.Context(), t, &Batch{Plan: p, Self: self, Say: &console.Messages{W: t.Output()}})
			if got := v.Loops[0]; v.ExitCode != core.ExitFailed || got.ExitCode != core.ExitFailed || got.Status != c.status || !strings.Contains(got.Reason, c.says) {
				t.Errorf("%d, and the loop is %+v", v.ExitCode, got)
			}
		})
	}
}
