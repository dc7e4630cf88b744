package scratchpad

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/looprun/looprun/core"
)

// followed collects what a follower sees.
type followed struct {
	t *testing.T
	*Follower
	seqs []int64
}

func follow(t *testing.T, dir string) *followed {
	t.Helper()
	w, err := Follow(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return &followed{t: t, Follower: w}
}

func (f *followed) sees(want int64) {
	f.t.Helper()
	n, err := f.Next(func(e core.Event) error {
		f.seqs = append(f.seqs, e.Seq)
		return nil
	})
	if err != nil || n != want {
		f.t.Errorf("%d new events, %v; want %d", n, err, want)
	}
	for i, seq := range f.seqs {
		if seq != int64(i)+1 {
			f.t.Fatalf("event %d in place %d", seq, i+1)
		}
	}
}

// However the journal grows, each event is seen once, and a record only when all
// of it is there.
func TestFollowAGrowingJournal(t *testing.T) {
	dir := written(t, iterations(60))
	name := filepath.Join(dir, journalName)
	all := []byte(readFile(t, name))
	for _, c := range []struct{ step, size int }{{1, 1200}, {7, 5000}, {500, len(all)}, {4096, len(all)}, {5000, len(all)}} {
		whole := all[:c.size]
		grow := func(n int) {
			t.Helper()
			if err := os.WriteFile(name, whole[:n], 0o600); err != nil {
				t.Fatal(err)
			}
		}
		grow(0)
		f := follow(t, dir)
		seen := int64(0)
		for n := 0; n <= len(whole); n += c.step {
			grow(n)
			now := records(whole[:n])
			f.sees(now - seen)
			seen = now
		}
		grow(len(whole))
		f.sees(records(whole) - seen)
		f.sees(0)
	}
}

// records is how many whole lines there are that are no padding.
func records(b []byte) int64 {
	n := int64(0)
	for line := range bytes.Lines(b) {
		if len(line) > 1 && line[len(line)-1] == '\n' {
			n++
		}
	}
	return n
}

// While a journal is written by another goroutine a follower sees all of it.
func TestFollowBesideAWriter(t *testing.T) {
	r := newRun(t, SyncOff)
	events := iterations(300)
	if err := r.Journal.Append(events[0]); err != nil {
		t.Fatal(err)
	}
	f := follow(t, r.Dir)
	done := make(chan error, 1)
	go func() {
		for _, e := range events[1:] {
			if err := r.Journal.Append(e); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	count := func() {
		if _, err := f.Next(func(e core.Event) error {
			f.seqs = append(f.seqs, e.Seq)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for len(f.seqs) < len(events) {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			count()
			if len(f.seqs) != len(events) {
				t.Fatalf("%d of %d events", len(f.seqs), len(events))
			}
		default:
			count()
			runtime.Gosched()
		}
	}
	f.sees(0)
}

func TestFollowWhatCannotBe(t *testing.T) {
	if _, err := Follow(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no journal: %v", err)
	}
	dir := written(t, iterations(3))
	name := filepath.Join(dir, journalName)
	text := []byte(readFile(t, name))
	text[20] ^= 1
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	nothing := func(core.Event) error { return nil }
	if _, err := follow(t, dir).Next(nothing); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged journal: %v", err)
	}
	dir = written(t, iterations(3))
	f := follow(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Next(nothing); err == nil && runtime.GOOS != "windows" {
		t.Error("a run that was removed is followed on")
	}
	wanted := errors.New("enough")
	if _, err := follow(t, written(t, iterations(3))).Next(func(core.Event) error { return wanted }); !errors.Is(err, wanted) {
		t.Errorf("its own error: %v", err)
	}
}
