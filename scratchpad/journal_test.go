package scratchpad

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/eventually"
)

// TestStateDirectoryVanishes under a run: nothing pretends to be written.
func TestStateDirectoryVanishes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes no open files")
	}
	r := newRun(t, SyncAsync)
	s := appendAll(t, r, iterations(1))
	if err := os.RemoveAll(r.Dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := r.Journal.Append(ending(s.Seq+1, "x"))
		if err == nil || !strings.Contains(err.Error(), journalOf(r.Dir)+" was removed") {
			t.Errorf("Append: %v", err)
		}
	}
	if err := r.Refresh(s, true); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Refresh: %v", err)
	}
	if err := r.WriteResult(s.Result(), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("WriteResult: %v", err)
	}
	if _, err := os.Stat(r.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made again: %v", err)
	}
}

// TestJournalIsShortened under a run: what would be added could not be read, since
// what it follows is gone.
func TestJournalIsShortened(t *testing.T) {
	for _, left := range []int64{0, 1} {
		r := newRun(t, SyncOff)
		s := appendAll(t, r, iterations(1))
		whole := readFile(t, journalOf(r.Dir))
		if err := os.Truncate(journalOf(r.Dir), int64(len(whole))*left-left); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			err := r.Journal.Append(ending(s.Seq+1, "x"))
			if err == nil || !strings.Contains(err.Error(), journalOf(r.Dir)+" was shortened") {
				t.Errorf("Append: %v", err)
			}
		}
		if got := readFile(t, journalOf(r.Dir)); len(got) >= len(whole) {
			t.Errorf("it was written all the same: %d bytes of %d", len(got), len(whole))
		}
	}
}

// TestDetailsCannotBeWritten is an error of the event that needs them, and no
// line refers to what is not there.
func TestDetailsCannotBeWritten(t *testing.T) {
	r := newRun(t, SyncAsync)
	s := appendAll(t, r, iterations(1))
	writeFile(t, filepath.Join(r.Dir, detailDir), "in the way")
	before := readFile(t, journalOf(r.Dir))
	if err := r.Journal.Append(ending(s.Seq+1, strings.Repeat("x", 2*pageSize))); err == nil {
		t.Error("no error")
	}
	if readFile(t, journalOf(r.Dir)) != before {
		t.Error("the line was written all the same")
	}
}

// TestAppendAfterAFailure is refused: the journal would have a hole.
func TestAppendAfterAFailure(t *testing.T) {
	r := newRun(t, SyncAsync)
	s := appendAll(t, r, iterations(1))
	if err := r.Journal.f.Close(); err != nil {
		t.Fatal(err)
	}
	first := r.Journal.Append(ending(s.Seq+1, "x"))
	if !errors.Is(first, os.ErrClosed) {
		t.Fatal(first)
	}
	r.Journal.f = must(os.OpenFile(journalOf(r.Dir), os.O_RDWR, 0))
	if err := r.Journal.Append(ending(s.Seq+1, "x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the second Append: %v", err)
	}
}

// TestFailedSyncIsFinal: a second sync would report success for lost pages.
func TestFailedSyncIsFinal(t *testing.T) {
	for name, sync := range map[string]func(*Journal) error{
		"asked for":         (*Journal).Sync,
		"in the background": func(j *Journal) error { j.background(); return j.err },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, SyncAsync)
			s := appendAll(t, r, iterations(1))
			r.Journal.rest() // the directories
			good := r.Journal.f
			read, write, err := os.Pipe() // cannot be synced
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			defer write.Close()
			r.Journal.swap(write)
			if err := sync(r.Journal); err == nil {
				t.Fatal("a pipe was synced")
			}
			r.Journal.swap(good)
			if err := r.Journal.Sync(); err == nil {
				t.Error("the next sync says that all is well")
			}
			if err := r.Journal.Append(ending(s.Seq+1, "x")); err == nil {
				t.Error("the next event was taken")
			}
		})
	}
}

func (j *Journal) swap(f *os.File) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.f = f
}

// TestBackgroundSync has happened at some time after an event, and not before.
func TestBackgroundSync(t *testing.T) {
	r := newRun(t, SyncAsync)
	j := r.Journal
	dirty := func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.dirty
	}
	appendAll(t, r, iterations(1))
	deadline := time.Now().Add(eventually.Patience)
	for dirty() {
		if time.Now().After(deadline) {
			t.Fatal("never synced")
		}
		runtime.Gosched()
	}
}

// rest waits until no sync is going on.
func (j *Journal) rest() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.busy {
		j.idle.Wait()
	}
}

// TestOneSyncAtATime: the system tells a failure to one sync only, so that a second one
// beside it would say that all is well. One that is asked for waits for the one in the
// background, whether or not there is more to sync, and fails with it.
func TestOneSyncAtATime(t *testing.T) {
	broken := errors.New("input/output error")
	for _, dirty := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			j := newRun(t, SyncAsync).Journal
			j.rest()
			j.busy, j.dirty = true, dirty // with what was written before
			told := make(chan error, 1)
			go func() { told <- j.Sync() }()
			synctest.Wait()
			select {
			case err := <-told:
				t.Fatalf("more to sync %v: it did not wait: %v", dirty, err)
			default:
			}
			j.synced(broken)
			if err := <-told; !errors.Is(err, broken) {
				t.Errorf("more to sync %v: it failed in the background, and here with %v", dirty, err)
			}
		})
	}
}

// TestRemovedWhileSyncing: a folder that went away under its first sync went away with the
// journal, which is what is said.
func TestRemovedWhileSyncing(t *testing.T) {
	r := newRun(t, SyncAsync)
	r.Journal.rest()
	if err := os.RemoveAll(r.Dir); err != nil {
		t.Fatal(err)
	}
	if err := r.Journal.syncDirs(r.Dir); err != nil {
		t.Fatal(err)
	}
	r.Journal.rest()
	if err := r.Journal.Append(iterations(1)[0]); err == nil || !strings.Contains(err.Error(), "was removed while the run was open") {
		t.Errorf("it fails with %v", err)
	}
}

// TestBackgroundSyncsWait: one in the background waits for the one before it, and then
// comes.
func TestBackgroundSyncsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, SyncAsync)
		j := r.Journal
		j.rest()
		j.busy = true
		appendAll(t, r, iterations(1))
		time.Sleep(10 * syncDelay)
		synctest.Wait()
		if !j.busy || !j.dirty {
			t.Error("it did not wait")
		}
		j.synced(nil)
		time.Sleep(2 * syncDelay)
		synctest.Wait()
		if j.busy || j.dirty {
			t.Error("it never came")
		}
	})
}

// TestCloseWhileSyncing closes journals at every moment of a background sync.
func TestCloseWhileSyncing(t *testing.T) {
	for range 50 {
		r := newRun(t, SyncAsync)
		appendAll(t, r, iterations(1))
		var done sync.WaitGroup
		done.Go(r.Journal.background)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		done.Wait()
		if err := r.Journal.Append(core.Event{Seq: 9, Data: core.RunAlive{}}); err == nil {
			t.Error("a closed journal took an event")
		}
		if err := errors.Join(r.Journal.Sync(), r.Journal.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestModes replay alike.
func TestModes(t *testing.T) {
	for _, mode := range []SyncMode{SyncOff, SyncAsync, SyncEach} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			r := newRun(t, mode)
			events := numbered(story()...)
			appendAll(t, r, events)
			if err := errors.Join(r.Journal.Sync(), r.Close()); err != nil {
				t.Fatal(err)
			}
			checkReplay(t, r.Dir, events)
		})
	}
}

// TestAnEventWithoutData is not written, and not by the next one either.
func TestAnEventWithoutData(t *testing.T) {
	r := newRun(t, SyncOff)
	if err := r.Journal.Append(core.Event{Seq: 1}); !errors.Is(err, core.ErrUnknownEvent) {
		t.Error(err)
	}
	if text := readFile(t, journalOf(r.Dir)); text != "" {
		t.Errorf("written: %q", text)
	}
}
