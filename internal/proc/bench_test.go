//go:build unix

package proc

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSpawn is what one command costs in units of a bare fork and exec
// (which is 1.02 of posix_spawn): medians of interleaved blocks, since a
// machine's speed changes while it is measured.
func BenchmarkSpawn(b *testing.B) {
	path := "/bin/true"
	argv := []string{path}
	discard := func([]byte) {}
	start := func(spec Spec) func() {
		return func() {
			p := Start(spec)
			if e := p.Wait(); e.Code != 0 {
				b.Fatal(e)
			}
		}
	}
	floor := func() {
		pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
		if err != nil {
			b.Fatal(err)
		}
		waitFor(pid)
	}
	ways := []struct {
		name string
		run  func()
	}{
		{"floor", floor},
		{"quiet", start(Spec{Argv: argv})},
		{"pipes", start(Spec{Argv: argv, Stdout: discard, Stderr: discard})},
		{"terminal", start(Spec{Argv: argv, Stdout: discard, PTY: true})},
	}
	const block = 20 // of the same kind, as in a loop
	took := make([][]time.Duration, len(ways))
	for b.Loop() {
		for i, w := range ways {
			for range block {
				from := time.Now()
				w.run()
				took[i] = append(took[i], time.Since(from))
			}
		}
	}
	median := func(l []time.Duration) float64 {
		slices.Sort(l)
		return float64(l[len(l)/2])
	}
	base := median(took[0])
	b.ReportMetric(base/1000, "floor-µs")
	for i, w := range ways[1:] {
		b.ReportMetric(median(took[i+1])/base, w.name+"/floor")
		b.ReportMetric(float64(slices.Max(took[i+1]).Milliseconds()), w.name+"-max-ms")
	}
}

// BenchmarkOutput is the speed at which output passes through.
func BenchmarkOutput(b *testing.B) {
	const size = 256 << 20
	b.SetBytes(size)
	for b.Loop() {
		n := 0
		p := Start(Spec{Argv: []string{"head", "-c", itoa(size), "/dev/zero"}, Stdout: func(b []byte) { n += len(b) }})
		if p.Wait(); n != size {
			b.Fatal(n)
		}
	}
}
