package scratchpad

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// files are the names below a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestDoomTakesTheRunAwayWhole has all of its files under the new name, and
// nobody who reads the state directory sees it any more.
func TestDoomTakesTheRunAwayWhole(t *testing.T) {
	dir := written(t, iterations(2))
	state := filepath.Dir(dir)
	before := files(t, dir)
	if err := Discard(dir); err != nil {
		t.Fatal(err)
	}
	after := files(t, filepath.Join(state, discardPrefix+filepath.Base(dir)))
	if len(before) < 2 || len(after) != len(before) {
		t.Errorf("before %q, after %q", before, after)
	}
	if ids, err := IDs(state); err != nil || len(ids) != 0 {
		t.Errorf("%q, %v", ids, err)
	}
	if _, err := Find(state, ""); err == nil {
		t.Error("a run that is being removed is found")
	}
	runs, bytes, err := Discarded(state)
	if err != nil || runs != 1 || bytes < 500 {
		t.Errorf("%d runs, %d bytes, %v", runs, bytes, err)
	}
	if n, err := Sweep(state, nil); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := Sweep(state, nil); n != 0 || err != nil {
		t.Errorf("a second time: %d, %v", n, err)
	}
	if left := files(t, state); len(left) != 1 || left[0] != ".gitignore" {
		t.Errorf("left: %q", left)
	}
	if err := Discard(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that is gone: %v", err)
	}
}

func TestDoomRefuses(t *testing.T) {
	alive := newRun(t, SyncOff)
	appendAll(t, alive, iterations(1))
	if err := Discard(alive.Dir); !errors.Is(err, ErrLocked) {
		t.Errorf("a run that is alive: %v", err)
	}

	// A directory without events may belong to a run that has no lock yet.
	fresh := filepath.Join(t.TempDir(), filepath.Base(alive.Dir))
	if err := os.Mkdir(fresh, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Discard(fresh); !errors.Is(err, ErrLocked) {
		t.Errorf("a run that is starting: %v", err)
	}
	old := time.Now().Add(-starting - time.Second)
	if err := os.Chtimes(fresh, old, old); err != nil {
		t.Fatal(err)
	}
	if err := Discard(fresh); err != nil {
		t.Errorf("a run that never started: %v", err)
	}

	// Only what is named as runs are is removed.
	other := filepath.Join(t.TempDir(), "src")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(other, old, old); err != nil {
		t.Fatal(err)
	}
	if err := Discard(other); err == nil {
		t.Error("any folder is removed")
	}
}

// TestDoomFollowsNoLink to runs that somebody else wants to be removed.
func TestDoomFollowsNoLink(t *testing.T) {
	dir := written(t, iterations(1))
	there := t.TempDir()
	link := filepath.Join(there, StateDirName)
	if err := os.Symlink(filepath.Dir(dir), link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := Discard(filepath.Join(link, filepath.Base(dir))); !errors.Is(err, ErrUnsafe) {
		t.Errorf("through a link that was found: %v", err)
	}
	if _, err := Sweep(link, nil); !errors.Is(err, ErrUnsafe) {
		t.Errorf("through a link that was found: %v", err)
	}
	run := filepath.Join(there, filepath.Base(dir))
	if err := os.Symlink(dir, run); err != nil {
		t.Fatal(err)
	}
	if err := Discard(run); err == nil {
		t.Error("a link is taken for a run")
	}
	if !HasEvents(dir) {
		t.Error("the run is gone")
	}
}

// TestSweepFinishes what a killed process began, also when the same id was discarded
// before, and touches nothing else.
func TestSweepFinishes(t *testing.T) {
	dir := written(t, iterations(1))
	state := filepath.Dir(dir)
	rest := filepath.Join(state, discardPrefix+filepath.Base(dir), "output")
	if err := os.MkdirAll(rest, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, mine := range []string{discardPrefix + "notes", ".removing"} {
		if err := os.Mkdir(filepath.Join(state, mine), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := Discard(dir); err != nil {
		t.Fatal(err)
	}
	if n, err := Sweep(state, nil); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	entries, err := os.ReadDir(state)
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
	if n, err := Sweep(filepath.Join(state, "nowhere"), nil); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// TestSweepKeeps the files of a run as long as what it has elsewhere is not removed.
func TestSweepKeeps(t *testing.T) {
	dir := written(t, iterations(1))
	state, id := filepath.Split(dir)
	if err := Discard(dir); err != nil {
		t.Fatal(err)
	}
	no := errors.New("no")
	for _, answer := range []error{no, nil} {
		n, err := Sweep(state, func(of, at string) error {
			if of != id || !HasEvents(at) {
				t.Errorf("run %q at %s", of, at)
			}
			return answer
		})
		left, _, _ := Discarded(state)
		if !errors.Is(err, answer) || (n == 1) != (answer == nil) || n+left != 1 {
			t.Errorf("%v: removed %d, %d are left, %v", answer, n, left, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "")
	if n, err := Sweep(file, nil); err == nil {
		t.Errorf("a file has %d runs", n)
	}
	if n, _, err := Discarded(file); err == nil {
		t.Errorf("a file has %d runs", n)
	}
}

// TestWeighing counts all files in a run's directory, and follows no link.
func TestWeighing(t *testing.T) {
	dir := written(t, iterations(3))
	before := Weigh(dir)
	if want := int64(len(readFile(t, journalOf(dir)))); before != want {
		t.Errorf("%d bytes, want the journal's %d", before, want)
	}
	deep := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		writeFile(t, filepath.Join(deep, fmt.Sprintf("%060d", n)), strings.Repeat("x", n))
	}
	want := before + 200*199/2
	if got := Weigh(dir); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	for name, to := range map[string]string{"link": deep, "link too": journalName} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	if got := Weigh(dir); got != want {
		t.Errorf("with links %d bytes, want %d", got, want)
	}
	if got := Weigh(filepath.Join(dir, "none")); got != 0 {
		t.Errorf("nothing weighs %d bytes", got)
	}
}
