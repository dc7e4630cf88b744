package signature

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/looprun/looprun/internal/ascii"
)

// The trigger search must find what looking at each byte finds.
func TestTrigger(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	const letters = "abz./09:;[\\]^ \x80\xdc\xb9"
	for n := 0; n < 20000; n++ {
		b := make([]byte, rnd.Intn(40))
		for i := range b {
			b[i] = letters[rnd.Intn(len(letters))]
		}
		from := rnd.Intn(len(b) + 1)
		want := from
		for want < len(b) && !ascii.Digit(b[want]) && b[want] != '/' && b[want] != '\\' {
			want++
		}
		if got := trigger(b, from); got != want {
			t.Fatalf("trigger(%q, %d) = %d, want %d", b, from, got, want)
		}
	}
}

// Lines have equal hashes where their masked texts are equal, and only there.
func TestHashAgreesWithText(t *testing.T) {
	sc := &scanner{dir: "/srv/app"}
	byText := map[string]uint64{}
	byHash := map[uint64]string{}
	eachLine(logText(1<<20), func(l []byte) {
		text, h := string(squeeze(unnamed(sc.text(nil, l, false)))), sc.hash(trim(l), nil).strict
		if old, ok := byText[text]; ok && old != h {
			t.Fatalf("%q: equal texts %q, other hashes", l, text)
		}
		if old, ok := byHash[h]; ok && old != text {
			t.Fatalf("equal hashes for %q and %q", old, text)
		}
		byText[text], byHash[h] = h, text
	})
}

// unnamed replaces every mask by the same one, as the hash does.
func unnamed(b []byte) []byte {
	for _, m := range maskText {
		if m != "" {
			b = bytes.ReplaceAll(b, []byte(m), []byte("<>"))
		}
	}
	return b
}

// In the steady state a line of a known shape costs no allocation.
func TestNoAllocationPerLine(t *testing.T) {
	s := New(Options{})
	line := []byte("2026-11-21T09:12:05.719Z INFO [4711] request accepted req=689f95ca-7d0b-4c01-a62e-635ac8ae638d\n")
	s.Stdout().Write(line)
	if n := testing.AllocsPerRun(1000, func() { s.Stdout().Write(line) }); n != 0 {
		t.Errorf("%v allocations a line", n)
	}
}

// Memory does not grow with the output, nor with the length of a line.
func TestBoundedMemory(t *testing.T) {
	s := New(Options{})
	long := bytes.Repeat([]byte("x 17 "), 1<<20)
	for range 20 { // one line of 100 MiB
		s.Stdout().Write(long)
	}
	if n := len(s.out.texts[0].lines.Rest()); n > 0 {
		t.Errorf("a long line keeps %d bytes", n)
	}
	rnd := rand.New(rand.NewSource(1))
	for range 50_000 { // every line another error
		b := []byte("error: case ")
		for range 12 {
			b = append(b, byte('a'+rnd.Intn(26)))
		}
		s.Stdout().Write(append(b, '\n'))
	}
	if len(s.facts.by) > maxFacts || len(s.lines.side[0].set) > wholeLines {
		t.Errorf("%d facts and %d lines are kept", len(s.facts.by), len(s.lines.side[0].set))
	}
	if sig := s.Sum(1); len(sig.Facts) > MaxFacts || len(sig.Label) > maxLabel {
		t.Errorf("%d facts and a label of %d bytes are listed", len(sig.Facts), len(sig.Label))
	}
}
