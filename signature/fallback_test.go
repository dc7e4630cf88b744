package signature

import (
	"fmt"
	"strings"
	"testing"
)

// Of a long output in which nothing is known the end decides, and beside a standard error
// the last lines.
func TestTheEndDecides(t *testing.T) {
	moons := func(first, last string) string {
		var b strings.Builder
		fmt.Fprintln(&b, first)
		for i := range wholeLines {
			fmt.Fprintf(&b, "moon %c%c is full\n", 'a'+i/26, 'a'+i%26)
		}
		fmt.Fprintln(&b, last)
		return b.String()
	}
	signed := func(out, err string) Hash {
		s := New(Options{})
		_, _ = s.Stdout().Write([]byte(out))
		_, _ = s.Stderr().Write([]byte(err))
		return s.Sum(1).Hash
	}
	base := signed(moons("one", "two"), "")
	if signed(moons("another", "two"), "") != base {
		t.Error("the beginning of a long output decides")
	}
	if signed(moons("one", "another"), "") == base {
		t.Error("the end of a long output does not decide")
	}
	short := "one\n" + strings.Repeat("a\nb\n", besideStderr) + "two\n"
	beside := signed(short, "the sun\n")
	for name, other := range map[string]Hash{"standard error": signed(short, "the star\n"), "the last line": signed(strings.Replace(short, "two", "six", 1), "the sun\n")} {
		if other == beside {
			t.Errorf("%s does not decide", name)
		}
	}
	if signed(strings.Replace(short, "one", "six", 1), "the sun\n") != beside {
		t.Error("the first line of the standard output decides beside a standard error")
	}
}

// Of more checks than are kept nobody knows how many they are.
func TestTooManyToCount(t *testing.T) {
	var b strings.Builder
	for i := range maxFacts + 1 {
		fmt.Fprintf(&b, "--- FAIL: Test%cx%d (0.00s)\n", 'A'+i%26, i/26)
	}
	if sig := sign(b.String(), 1); sig.Failing != -1 {
		t.Errorf("%d checks fail, want that it is not known", sig.Failing)
	}
}
