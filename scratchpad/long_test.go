package scratchpad

import (
	"runtime"
	"testing"

	"github.com/looprun/looprun/core"
)

// The journal and the page of a run of 50,000 iterations take no more memory than
// those of 1,000, and the page is no longer: it shows the last iterations.
func TestLongRunMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 50,000 iterations")
	}
	r := newRun(t, SyncOff)
	s := new(core.State)
	put := func(d core.Data) {
		t.Helper()
		e := core.Event{Seq: s.Seq + 1, Time: day, Data: d}
		if err := r.Journal.Append(e); err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	put(started())
	upTo := func(n int) (heap uint64, page int) {
		t.Helper()
		for s.Iterations < n {
			put(core.IterationStarted{Iteration: s.Iterations + 1})
			put(failing(s.Iterations + 1))
			if s.Iterations%1000 != 0 {
				continue
			}
			if err := r.Refresh(s, true); err != nil {
				t.Fatal(err)
			}
		}
		page = len(Render(s))
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, page
	}
	shortHeap, shortPage := upTo(1_000)
	longHeap, longPage := upTo(51_000)
	// One word for each of the 50,000 iterations would be 400 kB.
	if grown := int64(longHeap) - int64(shortHeap); grown > 256<<10 {
		t.Errorf("50,000 iterations more take %d bytes more", grown)
	}
	if longPage > shortPage*11/10 { // numbers get longer
		t.Errorf("the page grew from %d to %d bytes", shortPage, longPage)
	}
	runtime.KeepAlive(r)
}
