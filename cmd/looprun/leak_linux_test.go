package main

import (
	"runtime"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/proc/proctest"
)

// A run leaves no goroutine and no descriptor, however many iterations it had.
func TestNothingLeaks(t *testing.T) {
	inProcess(t, 110, append(iterating(5), "false")...) // what is made once
	// Go lets go of processes that earlier tests have started when it collects them.
	until(t, "no process of an earlier test is open", func() bool {
		runtime.GC()
		return !strings.Contains(proctest.Descriptors(t), "[pidfd")
	})
	before, goroutines := proctest.Descriptors(t), runtime.NumGoroutine()
	inProcess(t, 110, append(iterating(leakIterations), "false")...)
	const catching = 2 // signals, which a process catches to its end
	until(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines+catching })
	if after := proctest.Descriptors(t); after != before {
		t.Errorf("open before:\n%s\nand after:\n%s", before, after)
	}
}
