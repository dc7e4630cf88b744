package scratchpad

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/engine"
)

// printed is n bytes of which every place can be told from every other.
func printed(n int) []byte {
	b := make([]byte, 0, n+20)
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "line %d\n", i)
	}
	return b[:n]
}

// kept is what of it belongs into the file.
func kept(b []byte) []byte {
	if len(b) <= headSize+tailSize {
		return b
	}
	gap := fmt.Sprintf("\nlooprun: %d bytes are left out here\n", len(b)-headSize-tailSize)
	return append(append(append([]byte{}, b[:headSize]...), gap...), b[len(b)-tailSize:]...)
}

// print writes the text in pieces of random sizes.
func print(t *testing.T, rng *rand.Rand, out engine.Output, text []byte, piece int) {
	t.Helper()
	for len(text) > 0 {
		n := min(len(text), rng.IntN(piece)+1)
		if got, err := out.Write(text[:n]); got != n || err != nil {
			t.Fatalf("wrote %d of %d: %v", got, n, err)
		}
		text = text[n:]
	}
}

func TestHeadAndTail(t *testing.T) {
	const both = headSize + tailSize
	r := newRun(t, SyncOff)
	rng := rand.New(rand.NewPCG(5, 6))
	iteration := 0
	for _, size := range []int{1, headSize - 1, headSize, headSize + 1, tailSize, both - 1, both, both + 1, both + headSize, 2*both + 7, 10 << 20} {
		text := printed(size)
		for _, piece := range []int{1000, 64 << 10, both, 20 << 20} {
			iteration++
			out, err := r.Output(iteration)
			if err != nil {
				t.Fatal(err)
			}
			print(t, rng, out, text, piece)
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			got := []byte(readFile(t, OutputFile(r.Dir, iteration)))
			if !bytes.Equal(got, kept(text)) {
				t.Errorf("%d bytes in pieces up to %d: %d bytes are kept, want %d, or others", size, piece, len(got), len(kept(text)))
			}
		}
	}
}

// TestCheckOutput has a file of its own.
func TestCheckOutput(t *testing.T) {
	r := newRun(t, SyncOff)
	out, err := r.Output(12)
	if err != nil {
		t.Fatal(err)
	}
	_, err = out.Write([]byte("work\ncheck\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.(*Output).Check().Write([]byte("check\n")); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"0012.log": "work\ncheck\n", "0012.check.log": "check\n"} {
		if got := readFile(t, filepath.Join(r.Dir, "output", name)); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

// TestSilentIterations cost no file, not even an empty one.
func TestSilentIterations(t *testing.T) {
	r := newRun(t, SyncOff)
	for n := range 3 {
		out, err := r.Output(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write(nil); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(r.Dir, "output")); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

// say lets an iteration print a text.
func say(t *testing.T, r *Run, iteration int, text string) {
	t.Helper()
	out, err := r.Output(iteration)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if _, err := out.(*Output).Check().Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestIterationRunsAgain leaves nothing of what it printed the first time.
func TestIterationRunsAgain(t *testing.T) {
	r := newRun(t, SyncOff)
	events := iterations(2)
	appendAll(t, r, events[:len(events)-1]) // killed in iteration 2
	for _, text := range []string{strings.Repeat("first\n", 1000), "second\n"} {
		say(t, r, 1, "one\n")
		say(t, r, 2, text)
	}
	check := func(r *Run, want string) {
		t.Helper()
		for _, name := range []string{OutputFile(r.Dir, 2), CheckOutputFile(r.Dir, 2)} {
			b, err := os.ReadFile(name)
			if string(b) != want || (want == "") != os.IsNotExist(err) {
				t.Errorf("%s holds %q, %v; want %q", name, b, err, want)
			}
		}
	}
	check(r, "second\n")
	say(t, r, 2, "") // the same, but silent
	check(r, "")
	say(t, r, 2, "third\n")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	again, s, _, err := Open(r.Dir, SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	say(t, again, s.NextIteration(), "")
	check(again, "")
	if got := readFile(t, OutputFile(r.Dir, 1)); got != "one\n" {
		t.Errorf("iteration 1 holds %q", got)
	}
}

// TestOutputMemory is the same for any amount of output.
func TestOutputMemory(t *testing.T) {
	r := newRun(t, SyncOff)
	say(t, r, 1, strings.Repeat("x", headSize+1)) // makes the buffers
	chunk := printed(64 << 10)
	allocated := testing.AllocsPerRun(3, func() {
		out, err := r.Output(2)
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			if _, err := out.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if allocated > 50 {
		t.Errorf("%.0f allocations for 500 writes", allocated)
	}
}

// TestOutputCannotBeWritten is an error that names the file.
func TestOutputCannotBeWritten(t *testing.T) {
	r := newRun(t, SyncOff)
	writeFile(t, filepath.Join(r.Dir, "output"), "in the way")
	out, err := r.Output(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte("x")); err == nil || !strings.Contains(err.Error(), filepath.Join(r.Dir, "output")) {
		t.Errorf("%v", err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
}
