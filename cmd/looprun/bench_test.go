package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// inProcess runs looprun in this process, so that profiles and counts are of it.
func inProcess(tb testing.TB, want int, args ...string) {
	tb.Helper()
	var said bytes.Buffer
	out, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer out.Close()
	errs, err := os.CreateTemp(tb.TempDir(), "stderr")
	if err != nil {
		tb.Fatal(err)
	}
	defer errs.Close()
	state := filepath.Join(tb.TempDir(), "state")
	tb.Setenv("LOOPRUN_STATE_DIR", state)
	code, _ := execute(args, out, out, errs)
	_ = os.RemoveAll(state)
	if code != want {
		b, _ := os.ReadFile(errs.Name())
		tb.Fatalf("ended with %d, want %d: %s%s", code, want, said.String(), b)
	}
}

// iterating are the flags of a run of n iterations that nothing else ends.
func iterating(n int) []string {
	return []string{
		"-q", "--non-interactive", "--loop-threshold", "off", "--max-errors", "off", "--error-codes", "none",
		"--max-iterations", strconv.Itoa(n), "--cap-iterations", strconv.Itoa(n), "--max-runtime", "10h", "--cap-runtime", "10h", "--",
	}
}

// An iteration of a command that says nothing, with everything that is on by
// default: guardian, journal, page, context, socket, signature.
func BenchmarkIteration(b *testing.B) {
	b.ReportAllocs()
	inProcess(b, 110, append(iterating(b.N), "false")...)
}

// 16 MiB of test log through everything that reads it.
func BenchmarkOutput(b *testing.B) {
	const size = 16 << 20
	var log bytes.Buffer
	for i := 0; log.Len() < size; i++ {
		fmt.Fprintf(&log, "2026-03-%02dT%02d:%02d:%02d.%03dZ INFO worker-%d request id=%08x took %d.%dms status=200 path=/api/v1/items/%d\n",
			i%28+1, i%24, i%60, i*7%60, i%1000, i%16, uint32(i*2654435761), i%900, i%10, i%50)
	}
	name := filepath.Join(b.TempDir(), "log")
	if err := os.WriteFile(name, log.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(log.Len()))
	inProcess(b, 110, append(iterating(b.N), "sh", "-c", "cat "+name+"; exit 1")...)
}
