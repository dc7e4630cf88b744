package scratchpad

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/provenance"
)

// TestUnsafeRunDirectories are not gone on with: that would run the commands of
// a journal which looprun perhaps never wrote.
func TestUnsafeRunDirectories(t *testing.T) {
	if !modesHold {
		t.Skip("modes of files mean nothing here")
	}
	for name, c := range map[string]struct {
		spoil func(dir string) (string, error)
		says  string
	}{
		"of another user": {func(dir string) (string, error) { return dir, os.Chown(dir, 12345, 12345) }, "another user"},
		"a link":          {func(dir string) (string, error) { return dir + "-link", os.Symlink(dir, dir+"-link") }, "symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, SyncOff)
			appendAll(t, r, iterations(1))
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			dir, err := c.spoil(r.Dir)
			if err != nil {
				t.Skip(err)
			}
			if _, _, _, err = Open(dir, SyncOff); !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), dir) {
				t.Errorf("Open: %v", err)
			}
		})
	}
}

// TestOpenSweeps removes what a kill left of files that were being written.
func TestOpenSweeps(t *testing.T) {
	r := newRun(t, SyncOff)
	appendAll(t, r, iterations(1))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(r.Dir, ".scratchpad.md.x1.tmp")
	writeFile(t, left, "half a page")
	r, _, _, err := Open(r.Dir, SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if provenance.Exists(left) {
		t.Error("it is still there")
	}
}

// TestSyncWaitsForTheBackground: the system tells a failure to one sync only.
func TestSyncWaitsForTheBackground(t *testing.T) {
	r := newRun(t, SyncAsync)
	appendAll(t, r, iterations(1))
	j := r.Journal
	j.mu.Lock()
	j.busy = true
	j.mu.Unlock()
	synced := make(chan error)
	go func() { synced <- j.Sync() }()
	j.mu.Lock()
	j.busy = false
	j.lose(errors.New("lost"))
	j.idle.Broadcast()
	j.mu.Unlock()
	if err := <-synced; err == nil {
		t.Error("it says that all is well")
	}
}

// TestOnlyTheEndGetsTheReserve: any other event would use it up.
func TestOnlyTheEndGetsTheReserve(t *testing.T) {
	r := newRun(t, SyncOff)
	s := appendAll(t, r, iterations(1))
	j := r.Journal
	j.err, j.full = errors.New("full"), true
	if err := j.Append(core.Event{Seq: s.Seq + 1, Data: core.RunAlive{}}); err == nil {
		t.Error("another event was taken")
	}
	if err := j.Append(ending(s.Seq+1, "the disk is full")); err != nil {
		t.Error(err)
	}
}
