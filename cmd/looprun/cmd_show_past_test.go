package main

import (
	"bytes"
	"testing"
)

// What is kept of the past are its last iterations.
func TestPast(t *testing.T) {
	for most, want := range map[int]string{0: "s123", 1: "3", 2: "23", 3: "s123", 9: "s123"} {
		p := past{most: most}
		_, _ = p.Write([]byte("s"))
		for n, text := range []string{"1", "2", "3"} {
			p.begin(n + 1)
			_, _ = p.Write([]byte(text))
		}
		if got := string(bytes.Join(p.iterations, nil)); got != want {
			t.Errorf("of the last %d: %q, want %q", most, got, want)
		}
	}
}
