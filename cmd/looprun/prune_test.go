//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/scratchpad"
)

// At a terminal the person sees what is to be removed before saying yes, and
// whatever is no yes removes nothing.
func TestPruneAsks(t *testing.T) {
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
	if s.ended(t) != 0 || !strings.Contains(s.stderr.String(), "is left: it waits for an answer") || !scratchpad.HasEvents(run) {
		t.Errorf("%s", s.stderr.String())
	}
	if s = begin(t, dir, "prune", "--yes", id); s.ended(t) != 0 || scratchpad.HasEvents(run) {
		t.Errorf("named: %s", s.stderr.String())
	}
}
