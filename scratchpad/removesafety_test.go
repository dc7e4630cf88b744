package scratchpad

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/provenance"
)

// TestSweepLeavesTheOtherRuns where they are, and whatever else stands beside them.
func TestSweepLeavesTheOtherRuns(t *testing.T) {
	gone := written(t, iterations(1))
	state := filepath.Dir(gone)
	other, err := Create(state, time.Now().Add(time.Hour), SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, other, iterations(1))
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(state, discardPrefix+newID(time.Now().Add(2*time.Hour)))
	writeFile(t, file, "no run")
	if err := Discard(gone); err != nil {
		t.Fatal(err)
	}
	if n, _, err := Discarded(state); n != 1 || err != nil {
		t.Errorf("%d runs would go, %v", n, err)
	}
	if n, err := Sweep(state, nil); n != 1 || err != nil {
		t.Errorf("%d runs went, %v", n, err)
	}
	if !HasEvents(other.Dir) || !provenance.Exists(file) {
		t.Error("another run, or a file, is gone as well")
	}
	if ids, err := IDs(state); err != nil || len(ids) != 1 || ids[0] != other.ID {
		t.Errorf("left are %q, %v", ids, err)
	}
}

// TestSweepOfNoFolder says that it cannot be read.
func TestSweepOfNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state")
	writeFile(t, file, "")
	if _, err := Sweep(file, nil); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, _, err := Discarded(file); err == nil {
		t.Error("nothing would be removed, it says")
	}
}

// TestNamesOfRuns: what is not named as runs are is never removed, nor read.
func TestNamesOfRuns(t *testing.T) {
	const id = "20260102-150405-3f9a"
	for _, name := range []string{id, "00000000-000000-0000", "99999999-999999-ffff", "20260102-150405-aaaa", "20260102-150405-9999"} {
		if !isID(name) {
			t.Errorf("%q is none", name)
		}
	}
	for i := range id {
		wrong := "/:`gA-. "
		if id[i] == '-' {
			wrong = "/:0a_. "
		}
		for _, c := range []byte(wrong) {
			if name := id[:i] + string(c) + id[i+1:]; isID(name) {
				t.Errorf("%q is one", name)
			}
		}
	}
	for _, name := range []string{"", id[1:], id + "0", id[:15] + "3f9", "0123456a-150405-3f9a", "20260102-15040f-3f9a"} {
		if isID(name) {
			t.Errorf("%q is one", name)
		}
	}
}

// TestStanding: only what has ended and is not alive stands as it ended.
func TestStanding(t *testing.T) {
	waits := &core.Question{ID: "q"}
	done := &core.Ending{Status: core.StatusDone}
	for _, c := range []struct {
		s     core.State
		alive bool
		want  core.Status
	}{
		{core.State{Ended: true, Ending: done}, false, core.StatusDone},
		{core.State{Ended: true, Ending: done}, true, core.StatusRunning}, // it is being resumed
		{core.State{Ending: done}, false, core.StatusCrashed},
		{core.State{Ending: done}, true, core.StatusRunning},
		{core.State{}, false, core.StatusCrashed},
		{core.State{Question: waits}, true, core.StatusAwaiting},
		{core.State{Question: waits}, false, core.StatusCrashed},
	} {
		if got := Standing(&c.s, c.alive); got != c.want {
			t.Errorf("ended %v, ending %v, alive %v, asked %v: %s, want %s", c.s.Ended, c.s.Ending != nil, c.alive, c.s.Question != nil, got, c.want)
		}
	}
}

// TestAVerdictThatStaysRefusesEvents: a run that goes on must not be read as what
// it had ended as.
func TestAVerdictThatStaysRefusesEvents(t *testing.T) {
	dir := written(t, iterations(1))
	if err := os.MkdirAll(filepath.Join(dir, resultName, "kept"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, s, _, err := Open(dir, SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	size := r.Journal.offset
	if err := r.Journal.Append(core.Event{Seq: s.Seq + 1, Data: core.RunAlive{}}); err == nil {
		t.Error("the event was taken")
	}
	if info, err := os.Stat(filepath.Join(dir, journalName)); err != nil || info.Size() != size {
		t.Errorf("the journal has %v bytes, want %d: %v", info.Size(), size, err)
	}
}
