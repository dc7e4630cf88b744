package proc

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/proc/proctest"
)

func children() (n int) {
	_ = eachProcess(func(s procStat) {
		if s.parent == os.Getpid() {
			n++
		}
	})
	return n
}

// Nothing stays after a command: no goroutine, descriptor, child or zombie.
func TestNothingLeaks(t *testing.T) {
	specs := []Spec{
		{Argv: []string{"true"}},
		{Argv: sh("echo x; echo y >&2"), Stdout: func([]byte) {}, Stderr: func([]byte) {}},
		{Argv: sh("echo x"), PTY: true, Stdout: func([]byte) {}},
		{Argv: sh("echo x"), PTY: true, Stdout: func([]byte) {}, KeepBackground: true},
		{Argv: []string{"/no/such/command"}, Stdout: func([]byte) {}},
		{Argv: []string{"true"}, Timeout: time.Hour, IdleTimeout: time.Hour},
	}
	round := func(n int) {
		for i := range n {
			spec := specs[i%len(specs)]
			p := Start(spec)
			await(t, p)
		}
	}
	round(len(specs))
	before, processes, goroutines := proctest.Descriptors(t)+"\n", children(), runtime.NumGoroutine()
	round(manyRuns)
	eventually.Holds(t, "goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines })
	// What an earlier test has left to the garbage collector may be closed meanwhile.
	after := proctest.Descriptors(t) + "\n"
	for kind := range strings.Lines(after) {
		if strings.Count(after, kind) > strings.Count(before, kind) {
			t.Errorf("open before:\n%s\nand after:\n%s", before, after)
			break
		}
	}
	if after := children(); after > processes {
		t.Errorf("%d children before, %d after", processes, after)
	}
}

// Memory per command does not grow with what it prints, nor do allocations.
func TestAllocations(t *testing.T) {
	spec := Spec{Argv: sh("head -c 16777216 /dev/zero"), Stdout: func([]byte) {}}
	small := Spec{Argv: sh("head -c 1 /dev/zero"), Stdout: func([]byte) {}}
	one := func(spec Spec) float64 {
		return testing.AllocsPerRun(5, func() {
			p := Start(spec)
			p.Wait()
		})
	}
	if a, b := one(small), one(spec); b > a+10 {
		t.Errorf("%v allocations for one byte, %v for 16 MiB", a, b)
	}
}
