package scratchpad

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// nextData is what the helper appends in this state: every time the same, so
// that what is read back can be compared.
func nextData(s *core.State, opened bool) core.Data {
	switch {
	case s.Seq == 0:
		return started()
	case opened:
		return core.RunResumed{Version: strconv.FormatInt(s.Seq, 10)}
	case !s.Running:
		return core.IterationStarted{Iteration: s.NextIteration()}
	case s.Seq%7 == 0:
		return core.RunAlive{}
	}
	d := failing(s.Open)
	rng := rand.New(rand.NewPCG(uint64(s.Seq), 1))
	d.Excerpt = noise(rng, rng.IntN(2500))
	if s.Seq%50 == 0 {
		d.Excerpt = noise(rng, 2*pageSize) // has a detail file
	}
	return d
}

// playAppend appends events to the run for as long as it lives, and says the
// number of each once Append has returned.
func playAppend(dir string) error {
	r, s, _, err := openAny(dir)
	if err != nil {
		return err
	}
	for opened := true; ; opened = false {
		e := core.Event{Seq: s.Seq + 1, Time: day, Data: nextData(s, opened)}
		if err := r.Journal.Append(e); err != nil {
			return err
		}
		if _, err := fmt.Println(e.Seq); err != nil {
			return err
		}
		if err := s.Apply(e); err != nil {
			return err
		}
	}
}

// openAny opens a run whose journal may be empty still.
func openAny(dir string) (*Run, *core.State, Tail, error) {
	if info, err := os.Stat(journalOf(dir)); err != nil || info.Size() > 0 {
		return Open(dir, SyncAsync)
	}
	lock, err := acquire(dir + string(os.PathSeparator) + lockName)
	if err != nil {
		return nil, nil, Tail{}, err
	}
	r, err := open(dir, SyncAsync, 0, lock, marker{key: must(ownKey(true))})
	return r, new(core.State), Tail{}, err
}

// TestKill kills a process that appends events, at random moments, again and
// again.
func TestKill(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	cut := 0
	for n := range kills / perRun {
		if testing.Short() && n > 0 {
			break
		}
		t.Run(fmt.Sprint("run ", n+1), func(t *testing.T) {
			r := newRun(t, SyncAsync)
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			for range perRun {
				acknowledged := killAfter(t, r.Dir, 1+rng.IntN(150))
				if checkKilled(t, r.Dir, acknowledged) {
					cut++
				}
			}
			checkGoesOn(t, r.Dir)
		})
	}
	t.Logf("%d kills, %d torn records", kills, cut)
}

// killAfter kills a helper after some acknowledged events and returns the
// number of the last one.
func killAfter(t *testing.T, dir string, acks int) int64 {
	h := startHelper(t, "append", dir)
	var last int64
	read := func() bool {
		line := h.line()
		if line == "" {
			return false
		}
		last = must(strconv.ParseInt(line, 10, 64))
		return true
	}
	for range acks {
		if !read() {
			t.Fatal("the helper ended by itself")
		}
	}
	_ = h.cmd.Process.Kill()
	for read() { // what it said before the kill reached it
	}
	h.kill()
	return last
}

// checkKilled reports whether there was a torn record.
func checkKilled(t *testing.T, dir string, acknowledged int64) bool {
	t.Helper()
	s := new(core.State)
	tail, err := Replay(dir, func(e core.Event) error {
		_, opened := e.Data.(core.RunResumed)
		if got, want := asJSON(e.Data), asJSON(nextData(s, opened)); got != want {
			return fmt.Errorf("event %d is %.200s, want %.200s", e.Seq, got, want)
		}
		return s.Apply(e)
	})
	if err != nil {
		t.Fatal(err)
	}
	if tail.Events < acknowledged || tail.Events > acknowledged+1 {
		t.Fatalf("%d events are left, %d were acknowledged", tail.Events, acknowledged)
	}
	if Locked(dir) {
		t.Error("the lock of a killed process is held")
	}
	return tail.Cut > 0
}

// checkGoesOn opens the run once more, ends it and looks at all of it.
func checkGoesOn(t *testing.T, dir string) {
	t.Helper()
	r, s, tail, err := Open(dir, SyncEach)
	if err != nil {
		t.Fatal(err)
	}
	e := core.Event{Seq: s.Seq + 1, Time: day, Data: core.RunFinished{Ending: core.Ending{Status: core.StatusFailed, ExitCode: 125}}}
	if err := errors.Join(r.Journal.Append(e), r.Journal.Sync(), r.Close()); err != nil {
		t.Fatal(err)
	}
	after, end, err := Load(dir)
	if err != nil || !after.Ended || end.Events != tail.Events+1 || end.Cut != 0 {
		t.Errorf("%+v, then %+v: %v", tail, end, err)
	}
	if got := strings.Count(readFile(t, journalOf(dir)), `"type":"run.started"`); got != 1 {
		t.Errorf("%d starts", got)
	}
	if _, err := os.Stat(r.Journal.reserve()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the reserve is left: %v", err)
	}
}
