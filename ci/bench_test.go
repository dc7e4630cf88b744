package ci

import (
	"io"
	"strings"
	"testing"
)

// BenchmarkOutput is what the protection costs on log text, beside none.
func BenchmarkOutput(b *testing.B) {
	text := []byte(strings.Repeat("--- PASS: TestSection (0.00s)\n    auth_test.go:42: section_one: \x1b[32mok\x1b[0m after 12 ms # note\n", 320))[:32<<10]
	for _, p := range append([]Provider{Off}, spoken...) {
		b.Run(string(p), func(b *testing.B) {
			out := New(Options{Provider: p, Log: io.Discard, Getenv: nothing}).Output(io.Discard)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _ = out.Write(text)
			}
		})
	}
}
