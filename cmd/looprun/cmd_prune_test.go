//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/scratchpad"
)

// At a terminal the person sees what is to be removed before saying yes, and
// whatever is no yes removes nothing.
func TestPruneAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, keys string
		code, left int
	}{
		{"yes", "y\r", 0, 0},
		{"enter", "\r", 101, 1},
		{"no", "n\r", 101, 1},
		{"end of input", "\x04", 101, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if first := begin(t, dir, "-q", "--", "true"); first.ended(t) != 0 {
				t.Fatal("the run did not end well")
			}
			s := onTerminal(t, dir, "prune", "--keep", "0")
			until(t, "it asks", s.shows("[y/N]"))
			if !strings.Contains(s.term.String(), "remove 1 run (") || !strings.Contains(s.term.String(), "COMMAND") {
				t.Error("it does not say what it would remove")
			}
			s.keys(t, c.keys)
			if got := s.ended(t); got != c.code {
				t.Errorf("ended with %d, want %d", got, c.code)
			}
			ids, err := scratchpad.IDs(filepath.Join(dir, "state"))
			if err != nil || len(ids) != c.left {
				t.Errorf("left are %q, %v", ids, err)
			}
			if c.left == 1 && !scratchpad.HasEvents(filepath.Join(dir, "state", ids[0])) {
				t.Error("what is left is no whole run")
			}
		})
	}
}

// A run that waits for its answer after a crash is not removed unasked: somebody
// may be about to give it.
func TestPruneLeavesWhatWaits(t *testing.T) {
	dir, id := deferred(t, "")
	run := filepath.Join(dir, "state", id)
	// A crash leaves neither a verdict nor the end in the journal.
	journal, err := os.ReadFile(filepath.Join(run, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimRight(string(journal), "\n"), "\n")
	for len(lines) > 0 && !strings.Contains(lines[len(lines)-1], `"question.asked"`) {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		t.Fatalf("no question was asked:\n%s", journal)
	}
	if err := os.WriteFile(filepath.Join(run, "journal.jsonl"), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(run, "result.json")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if got := scratchpad.Summarize(run); got.Status != "crashed" {
		t.Fatalf("%+v", got)
	}
	s := begin(t, dir, "prune", "--keep", "0", "--yes")
	if s.ended(t) != 0 || !strings.Contains(s.stderr.String(), "was kept: it waits for an answer") || !scratchpad.HasEvents(run) {
		t.Errorf("%s", s.stderr.String())
	}
	if s = begin(t, dir, "prune", "--yes", id); s.ended(t) != 0 || scratchpad.HasEvents(run) {
		t.Errorf("named: %s", s.stderr.String())
	}
}

// A prune that is killed leaves each run whole or gone, and the next one removes
// the rest of what it began.
func TestPruneKilled(t *testing.T) {
	t.Parallel()
	const runs, files = 80, 15
	dir := t.TempDir()
	if first := begin(t, dir, "-q", "--", "echo", "x"); first.ended(t) != 0 {
		t.Fatal("the run did not end well")
	}
	state := filepath.Join(dir, "state")
	made, err := scratchpad.IDs(state)
	if err != nil || len(made) != 1 {
		t.Fatal(made, err)
	}
	for i := range files {
		if err := os.WriteFile(filepath.Join(state, made[0], "output", fmt.Sprintf("%04d.log", 100+i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	whole := os.DirFS(filepath.Join(state, made[0]))
	for i := range runs {
		if err := os.CopyFS(filepath.Join(state, fmt.Sprintf("20200101-000000-%04x", i)), whole); err != nil {
			t.Fatal(err)
		}
	}
	listed := func() []string {
		ids, err := scratchpad.IDs(state)
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	unfinished := func() int {
		n, _, err := scratchpad.Discarded(state)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	// Once while runs are taken away, once while their files are removed.
	for _, at := range []struct {
		what  string
		holds func() bool
	}{
		{"a run is gone", func() bool { return len(listed()) < runs+1 }},
		{"the last one is gone", func() bool { return len(listed()) == 0 }},
	} {
		s := begin(t, dir, "prune", "--keep", "0", "--yes")
		until(t, at.what, at.holds)
		_ = s.Process.Kill() // it may have ended
		_ = s.Wait()
		for _, id := range listed() {
			run := filepath.Join(state, id)
			if got := scratchpad.Summarize(run); got.Problem != "" || got.Status != "done" {
				t.Errorf("%s: %s is half a run: %+v", at.what, id, got)
			}
			if logs, err := filepath.Glob(filepath.Join(run, "output", "*.log")); err != nil || len(logs) < files {
				t.Errorf("%s: %s has %d files, %v", at.what, id, len(logs), err)
			}
		}
		t.Logf("killed when %s: %d runs are left, and the rest of %d", at.what, len(listed()), unfinished())
	}
	if s := begin(t, dir, "prune", "--keep", "0", "--yes"); s.ended(t) != 0 {
		t.Errorf("%s", s.stderr.String())
	}
	if len(listed())+unfinished() > 0 {
		t.Errorf("%d runs are left, and the rest of %d", len(listed()), unfinished())
	}
}
