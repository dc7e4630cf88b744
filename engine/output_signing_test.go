package engine

import (
	"bytes"
	"fmt"
	"math/rand"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/signature"
)

// processors sets how many there are, for the test.
func processors(t *testing.T, n int) {
	t.Helper()
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// A step that prints little is signed without a goroutine, one that prints more with
// one, where there is a processor for it.
func TestSigningBeginsAhead(t *testing.T) {
	for _, c := range []struct {
		name              string
		bytes, processors int
		want              bool
	}{
		{"little", signAhead, 2, false},
		{"more", signAhead + 1, 2, true},
		{"more, and one processor", 4 * signAhead, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			processors(t, c.processors)
			g := newSigning(signature.New(signature.Options{}))
			for range 2 { // the second step like the first one
				for left := c.bytes; left > 0; left -= min(left, 1000) {
					g.write(0, make([]byte, min(left, 1000)))
				}
				if got := g.now != nil; got != c.want {
					t.Errorf("%d bytes: with a goroutine is %t, want %t", c.bytes, got, c.want)
				}
				g.settle()
			}
		})
	}
}

// The signature is that of the bytes in the order in which they came, whatever is
// signed ahead, and nothing is left when it has settled.
func TestSigningAhead(t *testing.T) {
	processors(t, 2)
	for _, most := range []int{40, 5000, 600 << 10} {
		rnd := rand.New(rand.NewSource(int64(most)))
		direct := signature.New(signature.Options{})
		to := [2]func([]byte) (int, error){direct.Stdout().Write, direct.Stderr().Write}
		ahead := newAnalyzer(signature.Options{}, false)
		goroutines := runtime.NumGoroutine()
		for step := range rounds.Of(3) {
			direct.Reset()
			ahead.reset()
			text := errorLog(rnd, 2<<20)
			for len(text) > 0 {
				n := min(len(text), 1+rnd.Intn(most))
				p, stream := bytes.Clone(text[:n]), rnd.Intn(2)
				_, _ = to[stream](p)
				ahead.take(stream, p)
				clear(p) // the slice is the caller's again
				text = text[n:]
			}
			switch now := ahead.signing.now; {
			case now == nil:
				t.Fatal("nothing is signed ahead")
			case cap(now.parts) > batchParts || cap(now.bytes) > batchBytes:
				t.Errorf("a batch has grown to %d parts, %d bytes", cap(now.parts), cap(now.bytes))
			}
			ahead.settle(false)
			if got, want := ahead.sign(1, false), direct.SumContent(1); !reflect.DeepEqual(got, want) {
				t.Errorf("step %d in pieces of up to %d bytes: got %s %q, want %s %q", step, most, got.Hash, got.Errors, want.Hash, want.Errors)
			}
		}
		for end := time.Now().Add(eventually.Patience); runtime.NumGoroutine() > goroutines && time.Now().Before(end); {
			time.Sleep(time.Millisecond) // it has said that it is over, and goes
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("%d goroutines, and there were %d", n, goroutines)
		}
	}
}

// errorLog is n bytes or more in which every part matters to the signature.
func errorLog(rnd *rand.Rand, n int) []byte {
	var b []byte
	for len(b) < n {
		b = fmt.Appendf(b, "2026-11-21T09:12:%02d.%03dZ INFO worker-%d took %d ms\n", rnd.Intn(60), rnd.Intn(1000), rnd.Intn(16), rnd.Intn(900))
		if rnd.Intn(500) == 0 {
			b = fmt.Appendf(b, "--- FAIL: Test%c%c (0.00s)\n", 'A'+rnd.Intn(26), 'a'+rnd.Intn(26))
		}
	}
	return b
}

// What is signed ahead allocates its batches once, whatever is printed.
func TestSigningAllocates(t *testing.T) {
	processors(t, 2)
	g := newSigning(signature.New(signature.Options{}))
	text := bytes.Repeat([]byte("2026-11-21T09:12:05.719Z INFO worker-3 took 12 ms\n"), 1000)
	allocated := testing.AllocsPerRun(3, func() {
		for range 320 { // 15 MiB
			g.write(0, text)
		}
		g.settle()
	})
	if allocated > 100 {
		t.Errorf("%.0f allocations for 15 MiB", allocated)
	}
}
