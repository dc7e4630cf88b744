package plural

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{-1: "-1 runs", 0: "0 runs", 1: "1 run", 2: "2 runs", 1000: "1000 runs"} {
		if got := Count(n, "run"); got != want {
			t.Errorf("Count(%d) is %q, want %q", n, got, want)
		}
	}
}
