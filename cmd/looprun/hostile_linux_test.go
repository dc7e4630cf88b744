package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// peakMemory is the most that a process has needed so far, in bytes. (What wait
// returns has the memory of the program that started it in it.)
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no peak in %s", status)
	}
	kib, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// A line without an end is no reason to need memory: 100 MiB of it take no more
// than a short output, plus what is kept of any.
func TestALineWithoutEnd(t *testing.T) {
	t.Parallel()
	peak := func(mib int) int64 {
		s := ready(t, t.TempDir(), "--max-iterations", "1", "--", "sh", "-c",
			fmt.Sprintf("head -c %dM /dev/zero | tr '\\0' x; touch over; while [ ! -e go ]; do sleep 0.02; done; exit 1", mib))
		s.Cmd.Stdout = nil
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "all is printed", s.has("over"))
		used := peakMemory(t, s.Process.Pid)
		if err := os.WriteFile(s.file("go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := s.ended(t); got != 110 {
			t.Fatalf("ended with %d, want 110", got)
		}
		return used
	}
	small, large := peak(2), peak(100)
	t.Logf("2 MiB: %d KiB, 100 MiB: %d KiB", small>>10, large>>10)
	if large > small+16<<20 {
		t.Errorf("100 MiB need %d KiB, and 2 MiB need %d KiB", large>>10, small>>10)
	}
}
