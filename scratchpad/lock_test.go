package scratchpad

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/looprun/looprun/internal/rounds"
)

// playHold opens the run and holds it until its input ends.
func playHold(dir string) error {
	r, _, _, err := Open(dir, SyncOff)
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return r.Close()
}

func TestLockWithinAProcess(t *testing.T) {
	r := newRun(t, SyncOff)
	appendAll(t, r, iterations(1))
	if !Locked(r.Dir) {
		t.Error("an open run is not locked")
	}
	if _, _, _, err := Open(r.Dir, SyncOff); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), r.Dir) {
		t.Errorf("a second Open: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if Locked(r.Dir) {
		t.Error("a closed run is locked")
	}
	again, _, _, err := Open(r.Dir, SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLockOfAnotherProcess goes when that one is killed or ends.
func TestLockOfAnotherProcess(t *testing.T) {
	dir := written(t, iterations(1))
	for name, end := range map[string]func(*helper){
		"killed": (*helper).kill,
		"ended": func(h *helper) {
			_ = h.stdin.Close()
			if err := h.cmd.Wait(); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := startHelper(t, "hold", dir)
			if h.line() != "open" {
				t.Fatal("the helper does not hold the run")
			}
			for range 100 {
				if !Locked(dir) {
					t.Fatal("the helper holds the run, but it is not locked")
				}
			}
			before := readFile(t, journalOf(dir))
			if _, _, _, err := Open(dir, SyncOff); !errors.Is(err, ErrLocked) {
				t.Errorf("Open of a run that another process holds: %v", err)
			}
			if readFile(t, journalOf(dir)) != before {
				t.Error("the refused Open changed the journal")
			}
			end(h)
			if Locked(dir) {
				t.Error("locked after the process has gone")
			}
			r, _, _, err := Open(dir, SyncOff)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAskingDisturbsNobody opens a run while others keep asking for its lock.
func TestAskingDisturbsNobody(t *testing.T) {
	dir := written(t, iterations(1))
	stop := make(chan struct{})
	var asking, done sync.WaitGroup
	for range 4 {
		asking.Add(1)
		done.Go(func() {
			Locked(dir)
			asking.Done()
			for {
				select {
				case <-stop:
					return
				default:
					Locked(dir)
				}
			}
		})
	}
	asking.Wait()
	for range rounds.Of(200) {
		r, _, _, err := Open(dir, SyncOff)
		if err != nil {
			t.Error(err)
			break
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	done.Wait()
}

func TestNoLock(t *testing.T) {
	dir := t.TempDir()
	if Locked(dir) || Locked(dir+"/none") {
		t.Error("what is no run is locked")
	}
	if _, _, _, err := Open(dir+"/none", SyncOff); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of nothing: %v", err)
	}
}
