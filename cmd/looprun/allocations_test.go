package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What an iteration and a MiB of output may allocate: a change that adds to it
// has to be one that was meant. An iteration takes about 320 objects and, since
// the clock says how often the page is made, 25 to 70 KB. A MiB takes nothing, but a
// buffer of 256 KiB may have been dropped between two runs.
const (
	iterationObjects = 400 * raceSlack
	iterationBytes   = raceSlack * 80 << 10
	outputObjects    = 4 * raceSlack
	outputBytes      = raceSlack * 32 << 10
)

// allocated is what work takes from the heap.
func allocated(work func()) (objects, bytes int64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return int64(after.Mallocs - before.Mallocs), int64(after.TotalAlloc - before.TotalAlloc)
}

// An iteration allocates little, and no more in a longer run.
func TestAllocationsOfAnIteration(t *testing.T) {
	const few, some, more = 20, 120, 220
	run := func(n int) (int64, int64) {
		return allocated(func() { inProcess(t, 110, append(iterating(n), "false")...) })
	}
	run(few) // what is made once
	for try := 1; ; try++ {
		aObjects, aBytes := run(few)
		bObjects, bBytes := run(some)
		cObjects, cBytes := run(more)
		within := true
		for _, part := range []struct {
			name           string
			objects, bytes int64
		}{{"early", bObjects - aObjects, bBytes - aBytes}, {"late", cObjects - bObjects, cBytes - bBytes}} {
			objects, bytes := part.objects/(some-few), part.bytes/(some-few)
			t.Logf("%s: %d objects, %d bytes an iteration", part.name, objects, bytes)
			within = within && objects <= iterationObjects && bytes <= iterationBytes
		}
		if within {
			return
		}
		// The clock says how often the page is made: other work that holds this up adds
		// pages, and never takes any away.
		if try == 20 {
			t.Fatalf("that is more than %d and %d", iterationObjects, iterationBytes)
		}
	}
}

// Output passes through without being held: what is allocated for it does not
// depend on how much there is.
func TestAllocationsOfOutput(t *testing.T) {
	const few, more = 4, 68 // MiB
	name := filepath.Join(t.TempDir(), "log")
	var line strings.Builder
	for i := range 1 << 10 {
		fmt.Fprintf(&line, "2026-03-01T12:00:%02d.%03dZ INFO worker-%d request id=%08x took %dms status=200\n", i%60, i, i%16, i*40503, i%900)
	}
	mib := strings.Repeat(line.String(), 1<<20/line.Len()+1)[:1<<20]
	run := func(n int) (int64, int64) {
		if err := os.WriteFile(name, []byte(strings.Repeat(mib, n)), 0o600); err != nil {
			t.Fatal(err)
		}
		return allocated(func() { inProcess(t, 0, "-q", "--non-interactive", "--", "cat", name) })
	}
	run(few)
	for try := 1; ; try++ {
		aObjects, aBytes := run(few)
		bObjects, bBytes := run(more)
		objects, bytes := (bObjects-aObjects)/(more-few), (bBytes-aBytes)/(more-few)
		t.Logf("%d objects, %d bytes a MiB", objects, bytes)
		if objects <= outputObjects && bytes <= outputBytes {
			return
		}
		if try == 5 { // the longer other work holds this up, the more often a free buffer is dropped
			t.Fatalf("that is more than %d and %d", outputObjects, outputBytes)
		}
	}
}
