package redact

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// logText is the log of a service under test: time stamps, ids, addresses, paths and
// plain words.
func logText(n int) []byte {
	rnd := rand.New(rand.NewPCG(7, 7))
	words := strings.Fields("request accepted from upstream while the session store was being flushed to disk by worker after retry of connection pool checkout with cached token for user alice key=value password prompt")
	some := func(k int) string {
		out := make([]string, k)
		for i := range out {
			out[i] = words[rnd.IntN(len(words))]
		}
		return strings.Join(out, " ")
	}
	var b bytes.Buffer
	for b.Len() < n {
		switch rnd.IntN(5) {
		case 0:
			fmt.Fprintf(&b, "2026-11-21T09:%02d:%02d.%03dZ INFO  [%d] %s req=%08x-%012x\n", rnd.IntN(60), rnd.IntN(60), rnd.IntN(1000), rnd.IntN(9999), some(9), rnd.Uint32(), rnd.Int64N(1<<48))
		case 1:
			fmt.Fprintf(&b, "--- FAIL: Test%s (0.%02ds)\n    %s_test.go:%d: %s\n", some(1), rnd.IntN(99), some(1), rnd.IntN(900), some(6))
		case 2:
			fmt.Fprintf(&b, "DEBUG store 0x%012x opened in /tmp/TestLogin%d/001 %s\n", rnd.Int64N(1<<47), rnd.IntN(1<<31), some(6))
		case 3:
			fmt.Fprintf(&b, "    %s at internal/pool/pool.go:%d %s\n", some(5), rnd.IntN(900), some(5))
		default:
			fmt.Fprintf(&b, "%s %s\n", some(6), some(8))
		}
	}
	return b.Bytes()
}

// environOf has secrets as they come: tokens of 20 to 60 letters, and at least one
// of 8 if short is set.
func environOf(n int, short bool) []string {
	rnd := rand.New(rand.NewPCG(3, 3))
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	var all []string
	for i := range n {
		v := make([]byte, 20+rnd.IntN(40))
		if short && i == 0 {
			v = v[:8]
		}
		for j := range v {
			v[j] = letters[rnd.IntN(len(letters))]
		}
		all = append(all, fmt.Sprintf("S%d_TOKEN=%s", i, v))
	}
	return all
}

// BenchmarkStream writes a log that has no secret in it, 64 KiB at a time or line by
// line.
func BenchmarkStream(b *testing.B) {
	text := logText(8 << 20)
	run := func(name string, r *Redactor, pieces [][]byte) {
		b.Run(name, func(b *testing.B) {
			n := 0
			s := r.Stream(func(out []byte) { n += len(out) })
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				n = 0
				for _, p := range pieces {
					s.Write(p)
				}
				s.Flush()
			}
			if n != len(text) {
				b.Fatal(n)
			}
		})
	}
	var large [][]byte
	for rest := text; len(rest) > 0; {
		n := min(len(rest), 64<<10)
		large, rest = append(large, rest[:n]), rest[n:]
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, n := range []int{0, 1, 5, 50, 500} {
		run(fmt.Sprintf("secrets=%d", n), newRedactor(b, environOf(n, false)), large)
	}
	for _, n := range []int{1, 5, 50} {
		run(fmt.Sprintf("secrets=%d,one of 8 bytes", n), newRedactor(b, environOf(n, true)), large)
	}
	run("secrets=5,by line", newRedactor(b, environOf(5, false)), lines)
	run("secrets=5,patterns=2", newRedactor(b, environOf(5, false), `ghp_[A-Za-z0-9]{36}`, `AKIA[0-9A-Z]{16}`), large)
	run("patterns=2,by line", newRedactor(b, nil, `ghp_[A-Za-z0-9]{36}`, `AKIA[0-9A-Z]{16}`), lines)
	run("patterns=1,often looked at", newRedactor(b, nil, `password=(?P<secret>\S+)|password (?P<x>nothing)`), large)
	run("patterns=1,without a literal", newRedactor(b, nil, `(?i)bearer (?P<secret>[a-z0-9]{20,})`), large)
	run("secrets=1,of the words of the log", newRedactor(b, []string{"X_TOKEN=cached token for retry"}), large)
	run("secrets=5,pem", newRedactor(b, append(environOf(5, false), "TLS_KEY="+pem+strings.Repeat("AQEFAASCBKcwggSjAgEAAoIBxKZs\n", 40))), large)
}
