package signature

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/ascii"
)

// logText makes n bytes or more of the log of a service under test: time stamps in
// several formats, ids, addresses, durations, paths, and plain words.
func logText(n int) []byte { return logOf(n, 1<<30) }

// logOf is logText with at most so many different messages: a real service has few.
func logOf(n, messages int) []byte {
	rnd := rand.New(rand.NewSource(7))
	pool := map[int]string{}
	words := strings.Fields("request accepted from upstream while the session store was being flushed to disk by worker after retry of connection pool checkout with cached token for user alice")
	some := func(k int) string {
		id := rnd.Intn(messages)*16 + k
		if s, ok := pool[id]; ok {
			return s
		}
		out := make([]string, k)
		for i := range out {
			out[i] = words[rnd.Intn(len(words))]
		}
		pool[id] = strings.Join(out, " ")
		return pool[id]
	}
	var b bytes.Buffer
	for b.Len() < n {
		switch rnd.Intn(7) {
		case 0:
			fmt.Fprintf(&b, "2026-11-21T09:%02d:%02d.%03dZ INFO  [%d] %s req=%08x-%04x-%04x-%04x-%012x\n", rnd.Intn(60), rnd.Intn(60), rnd.Intn(1000), 20000+rnd.Intn(9999), some(9), rnd.Uint32(), rnd.Intn(65536), rnd.Intn(65536), rnd.Intn(65536), rnd.Int63n(1<<48))
		case 1:
			fmt.Fprintf(&b, "2026/11/21 09:%02d:%02d.%06d level=info msg=%s took=%d.%dms\n", rnd.Intn(60), rnd.Intn(60), rnd.Intn(1000000), some(8), rnd.Intn(90), rnd.Intn(10))
		case 2:
			fmt.Fprintf(&b, "DEBUG store 0x%012x opened in /tmp/TestLogin%d/001 %s\n", rnd.Int63n(1<<47), rnd.Int63n(1<<31), some(6))
		case 3:
			fmt.Fprintf(&b, "    %s at internal/pool/pool.go:%d %s\n", some(5), rnd.Intn(900), some(5))
		case 4:
			fmt.Fprintf(&b, "ok %d %s\n", rnd.Intn(400), some(7))
		case 5:
			fmt.Fprintf(&b, "[%d/%d] Building object src/module_%s.o %s\n", rnd.Intn(900), 900, words[rnd.Intn(len(words))], some(6))
		default:
			fmt.Fprintf(&b, "%s %s %s\n", some(6), some(6), some(5))
		}
	}
	return b.Bytes()
}

func eachLine(text []byte, f func(line []byte)) {
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n')
		f(text[:n])
		text = text[n+1:]
	}
}

// BenchmarkScanner measures masking with line hashes: ours, a table-driven state
// machine, and one regular expression a mask.
func BenchmarkScanner(b *testing.B) {
	text := logText(4 << 20)
	b.Run("swar", func(b *testing.B) {
		sc := &scanner{}
		var sum uint64
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			eachLine(text, func(l []byte) { sum += sc.hash(l, nil).strict })
		}
		sink = sum
	})
	b.Run("table", func(b *testing.B) {
		m := newTableMachine()
		var sum uint64
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			sum += m.hashLines(text)
		}
		sink = sum
	})
	b.Run("regexp", func(b *testing.B) {
		small := text[:bytes.LastIndexByte(text[:256<<10], '\n')+1]
		masks := compileMasks()
		b.SetBytes(int64(len(small)))
		for b.Loop() {
			eachLine(small, func(l []byte) {
				for _, re := range masks {
					l = re.ReplaceAll(l, []byte("<*>"))
				}
				sink += uint64(len(l))
			})
		}
	})
}

// testLog makes n bytes or more of the log of tests that say little: lines of a few
// shapes, most of what is in them noise.
func testLog(n int) []byte {
	var b []byte
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "2026-03-%02dT%02d:%02d:%02d.%03dZ INFO worker-%d request id=%08x-1c2b-4d3e-8f90-%012x took %d.%dms status=200 path=/api/v1/items/%d\n",
			i%28+1, i%24, i%60, i*7%60, i%1000, i%16, uint32(i)*2654435761, i*40503, i%900, i%10, i%50)
		if i%9 == 0 {
			b = fmt.Appendf(b, "=== RUN   TestItems/case_%d\n--- PASS: TestItems/case_%d (0.%02ds)\n", i, i, i%100)
		}
	}
	return b
}

// BenchmarkSigner measures the whole: streams, masks, rules.
func BenchmarkSigner(b *testing.B) {
	for _, bb := range []struct {
		name string
		text []byte
	}{{"tests", testLog(16 << 20)}, {"service", logOf(16<<20, 2)}, {"every-line-new", logText(16 << 20)}} {
		b.Run(bb.name, func(b *testing.B) {
			text := bb.text
			s := New(Options{})
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s.Reset()
				for p := text; len(p) > 0; {
					n := min(len(p), 64<<10)
					s.Stdout().Write(p[:n])
					p = p[n:]
				}
				sink += uint64(s.Sum(1).Hash)
			}
		})
	}
}

// BenchmarkGroups measures output as tools print it where something fails: the
// recordings of each tool, but for those that pass, repeated to 8 MB.
func BenchmarkGroups(b *testing.B) {
	dir := benchDir
	if d := os.Getenv("STUCKBENCH_DIR"); d != "" {
		dir = d
	}
	texts := map[string][]byte{}
	for _, r := range loadBench(b, dir).recordings {
		if r.Exit == 0 {
			continue
		}
		texts[r.Tool] = append(texts[r.Tool], r.data...)
	}
	for _, tool := range slices.Sorted(maps.Keys(texts)) {
		b.Run(tool, func(b *testing.B) {
			text := bytes.Repeat(texts[tool], 1+8<<20/len(texts[tool]))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s := New(Options{})
				for p := text; len(p) > 0; {
					n := min(len(p), 64<<10)
					s.Stdout().Write(p[:n])
					p = p[n:]
				}
				sink += uint64(s.Sum(1).Hash)
			}
		})
	}
}

// BenchmarkSum measures a short output, as most iterations have.
func BenchmarkSum(b *testing.B) {
	text := []byte("=== RUN   TestLogin\n    login_test.go:20: wrong owner\n--- FAIL: TestLogin (0.00s)\nFAIL\nFAIL\texample.test/auth\t0.006s\n")
	s := New(Options{})
	b.ReportAllocs()
	for b.Loop() {
		s.Reset()
		s.Stdout().Write(text)
		sink += uint64(s.Sum(1).Hash)
	}
}

var sink uint64

// tableMachine is the baseline of the field: a state machine that takes one byte at
// a time from a table, masks words with digits, and hashes what stays.
type tableMachine struct {
	next [8][256]uint8 // states: 0 text, 1 word, 2 number, 3 mixed, 4 path, 5 line end
}

func newTableMachine() *tableMachine {
	m := &tableMachine{}
	for st := range m.next {
		for c := range 256 {
			ch := byte(c)
			var to uint8
			switch {
			case ch == '\n':
				to = 5
			case ascii.Digit(ch) || (st == 2 && (ch == ':' || ch == '.' || ch == '-')):
				to = [...]uint8{2, 3, 2, 3, 4, 2}[min(st, 5)]
			case word(ch):
				to = [...]uint8{1, 1, 3, 3, 4, 1}[min(st, 5)]
			case ch == '/':
				to = [...]uint8{4, 4, 0, 0, 4, 4}[min(st, 5)]
			case st == 4 && classOf[ch]&isBreak == 0:
				to = 4
			}
			m.next[st][c] = to
		}
	}
	return m
}

func (m *tableMachine) hashLines(text []byte) (sum uint64) {
	st, h, w := uint8(0), uint64(0), uint64(0)
	for _, c := range text {
		n := m.next[st][c]
		switch n {
		case 5:
			sum += h + w
			h, w = 0, 0
		case 2, 3:
			w = markMasked
		default:
			h = (h + w ^ uint64(c)) * mulA
			w = 0
		}
		st = n
	}
	return sum
}

func compileMasks() []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, s := range []string{
		`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, `/(?:tmp|var/tmp|var/folders)/[^\s:'")\],]+`,
		`\b\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?`, `\b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?\b`,
		`\b0x[0-9a-fA-F]+\b`, `\b[0-9a-fA-F]{6,}\b`, `\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|seconds?|min|m)\b`, `\d+(?:\.\d+)?`,
	} {
		out = append(out, regexp.MustCompile(s))
	}
	return out
}
