//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/scratchpad"
)

// diskPolicy lets the run go on at its first trip; it is too long for one record,
// so that there is a detail file.
var diskPolicy = "version: 1\nrules:\n  - guard: max_iterations\n    answer: continue\n    reason: Two are not enough.\n" +
	strings.Repeat("# This line makes the record of the start larger than a page.\n", 80)

// diskRun are a small run's words: two iterations, a question that the policy
// answers, and a third that is done.
func diskRun(t *testing.T, dir string, sync string) []string {
	t.Helper()
	file := dir + "/policy.yaml"
	if err := os.WriteFile(file, []byte(diskPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	const work = `echo $LOOPRUN_ITERATION >> ran; echo "attempt $LOOPRUN_ITERATION"; test $LOOPRUN_ITERATION -ge 3`
	return []string{"--sync", sync, "--max-iterations", "2", "--loop-threshold", "off", "--policy", file, "--kill-after", "1s", "--", "sh", "-c", work}
}

// points are all moments at which a run, and then one that is resumed, changes a
// file of its state.
func points(t *testing.T, sync string) []point {
	t.Helper()
	dir := t.TempDir()
	s := ready(t, dir, diskRun(t, dir, sync)...)
	d := &disk{root: s.file("state")}
	d.start(t, s)
	if got := s.ended(t); got != 0 {
		t.Fatalf("without a fault it ended with %d", got)
	}
	d.empty(t)
	if len(d.points) < 30 {
		t.Fatalf("only %d points: %v", len(d.points), d.points)
	}
	return d.points
}

// TestFaults lets every change that a run makes to its state fail, one in each
// run: with EIO and ENOSPC, once and from then on. Whatever fails, looprun says
// so and ends with 125, or goes on with a warning where the file was only derived
// from the journal; nothing that it started is left; what is on the disk can be
// read; and the run can be resumed, which loses no iteration and counts none
// twice.
func TestFaults(t *testing.T) {
	ends := map[string]map[string]int{"failed": {}, "warned": {}, "harmless": {}, "missed": {}}
	total, n := 0, 0
	for _, sync := range []string{"async", "each"} {
		for _, p := range points(t, sync) {
			for _, errno := range []syscall.Errno{unix.EIO, unix.ENOSPC} {
				for _, stays := range []bool{false, true} {
					if n++; n%rounds.Step(23) != 0 || errno == unix.ENOSPC && (p.call == "unlink" || p.call == "ftruncate") {
						continue // nothing is full by removing
					}
					f := fault{p, errno, stays}
					how := "once"
					if stays {
						how = "for good"
					}
					t.Run(fmt.Sprintf("%s: %s at %s %s", sync, unix.ErrnoName(errno), p, how), func(t *testing.T) {
						total++
						ends[withFault(t, sync, f)][f.file]++
					})
				}
			}
		}
	}
	sum := func(end string) (n int) {
		for _, count := range ends[end] {
			n += count
		}
		return n
	}
	t.Logf("%d faults: %d runs failed with 125, %d went on with a warning %v, %d went on silently %v, %d were over before the point came",
		total, sum("failed"), sum("warned"), ends["warned"], sum("harmless"), ends["harmless"], sum("missed"))
	if sum("failed") == 0 || sum("warned") == 0 && !testing.Short() { // which tries too few to be sure of both
		t.Error("the faults have reached nothing")
	}
}

// withFault runs with the fault, resumes without, and says how the first ended.
func withFault(t *testing.T, sync string, f fault) string {
	t.Helper()
	dir := t.TempDir()
	s := ready(t, dir, diskRun(t, dir, sync)...)
	d := &disk{root: s.file("state"), fault: &f}
	d.start(t, s)
	code := s.ended(t)
	d.empty(t)
	said := s.stderr.String()
	if strings.Contains(said, "panic") || strings.Contains(said, "goroutine ") {
		t.Error("it panicked")
	}
	end := "harmless"
	switch {
	case !d.hit:
		end = "missed"
	case code == 125:
		end = "failed"
	case strings.Contains(said, "warning: "):
		end = "warned"
	}
	if d.hit && end != "harmless" && !strings.Contains(said, f.err.Error()) {
		t.Errorf("it does not say what failed: %s", f.err)
	}
	if code != 125 && code != 0 {
		t.Errorf("ended with %d", code)
	}
	// Removing is only tidying up; and there is a reserve for the last record.
	reserve := func() bool { return f.call == "pwrite" && f.err == unix.ENOSPC && !f.stays && s.state(t).Ended }
	if end == "harmless" && f.call != "unlink" && !reserve() {
		t.Errorf("%s failed, and nobody was told", f.point)
	}
	readable(t, s, code)
	return end
}

// readable looks at what is on the disk, and goes on with it.
func readable(t *testing.T, s *started, code int) {
	t.Helper()
	ids, err := scratchpad.IDs(s.file("state"))
	if err != nil {
		t.Fatal(err)
	}
	before := lines(t, s.file("ran"))
	if len(ids) == 0 {
		if len(before) > 0 {
			t.Error("a run without a directory ran something")
		}
		return
	}
	show := begin(t, s.dir, "show")
	if got := show.ended(t); got != 0 {
		if len(before) > 0 || !strings.Contains(show.stderr.String(), "has begun yet") { // nothing is on record
			t.Errorf("show ended with %d", got)
		}
		return
	}
	left := s.state(t)
	if len(before) > left.Iterations+1 || len(before) < left.Iterations {
		t.Errorf("iterations %v began, and %d are on record", before, left.Iterations)
	}
	if left.Ended && left.Ending.Status == core.StatusDone {
		return
	}
	again := begin(t, s.dir, "resume")
	if got := again.ended(t); got != 0 {
		t.Errorf("resume ended with %d", got)
	}
	st := again.state(t)
	if st.Iterations != 3 || st.Continues != 1 || st.Elapsed < left.Elapsed {
		t.Errorf("%d iterations, %d continues, elapsed %s after %s", st.Iterations, st.Continues, st.Elapsed, left.Elapsed)
	}
	if got := slices.Compact(lines(t, s.file("ran"))); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("ran %v", got)
	}
}
