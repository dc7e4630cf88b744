package signal

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/looprun/looprun/internal/lines"
)

// logText is ordinary output: lines of some 90 bytes, none of them a fence.
func logText(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "2026-11-21T09:%02d:%02dZ INFO  worker %d took ~%dms for request %08x of /home/user\n", i/60%60, i%60, i%16, i%900, i*7919)
	}
	return b.Bytes()
}

// markdown is what a model prints: code in lines, and fences.
func markdown(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d. Call `open` with ~%d files, then `close`:\n\n```go\nf, err := os.Open(name)\n```\n\n", i, i)
	}
	return b.Bytes()
}

func BenchmarkScanner(b *testing.B) {
	for _, c := range []struct {
		name string
		text []byte
	}{{"log", logText(8 << 20)}, {"markdown", markdown(8 << 20)}, {"long lines", bytes.Repeat(append(bytes.Repeat([]byte("x"), 100_000), '\n'), 80)}} {
		b.Run(c.name, func(b *testing.B) {
			var s Scanner
			text := lines.Shown{To: s.Line}
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				s.Reset()
				for rest := c.text; len(rest) > 0; {
					n := min(len(rest), 32<<10)
					_, _ = text.Write(rest[:n])
					rest = rest[n:]
				}
			}
		})
	}
}

func BenchmarkResult(b *testing.B) {
	var s Scanner
	text := lines.Shown{To: s.Line}
	_, _ = text.Write(logText(1 << 20))
	_, _ = text.Write([]byte("LOOPRUN_BLOCKED: t\nQuestion: q\n"))
	b.ReportAllocs()
	for b.Loop() {
		if got, _ := s.Result(); len(got) != 1 {
			b.Fatal(got)
		}
	}
}
