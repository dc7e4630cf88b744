package signature

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"
)

// hashes turns "aba." into hashes, one a letter; '.' is the zero hash.
func hashes(s string) []Hash {
	var out []Hash
	for _, c := range s {
		if c == '.' {
			out = append(out, 0)
			continue
		}
		out = append(out, Hash(c))
	}
	return out
}

func TestCyclesTripped(t *testing.T) {
	tests := []struct {
		name      string
		seq       string
		threshold int
		at        int // iteration of the first trip, 0 never
		period    int
	}{
		{"nothing", "", 3, 0, 0},
		{"three in a row", "aaa", 3, 3, 1},
		{"two are not enough", "aab", 3, 0, 0},
		{"interrupted", "abaa", 3, 0, 0},
		{"interrupted then stuck", "abaaa", 3, 5, 1},
		{"late", "abcddd", 3, 6, 1},
		{"alternating", "ababab", 3, 6, 2},
		{"alternating, one short", "ababa", 3, 0, 0},
		{"alternating after a change", "cababab", 3, 7, 2},
		{"period three", "abcabcabc", 3, 9, 3},
		{"period four", "abcdabcdabcd", 3, 12, 4},
		{"period five", "abcdeabcdeabcde", 3, 15, 5},
		{"period six is not looked for", "abcdefabcdefabcdef", 3, 0, 0},
		{"threshold two", "abab", 2, 4, 2},
		{"threshold two, repeat", "abb", 2, 3, 1},
		{"threshold four", "aaa", 4, 0, 0},
		{"minimal period", "aabaabaab", 3, 9, 3},
		{"progress", "abcdefgh", 3, 0, 0},
		{"no signature is never equal", "......", 3, 0, 0},
		{"no signature breaks a run", "aa.a", 3, 0, 0},
		{"threshold off", "aaaa", 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c Cycles
			at, period := 0, 0
			for i, h := range hashes(tt.seq) {
				c.Add(h)
				if p, ok := c.Tripped(tt.threshold); ok {
					at, period = i+1, p
					break
				}
			}
			if at != tt.at || period != tt.period {
				t.Errorf("%q tripped at %d with period %d, want %d and %d", tt.seq, at, period, tt.at, tt.period)
			}
		})
	}
}

func TestCyclesRepeatsAndReset(t *testing.T) {
	var c Cycles
	for i, want := range []int{1, 1, 2, 3, 0, 1} {
		c.Add(hashes("abbb.b")[i])
		if got := c.Repeats(); got != want {
			t.Errorf("after entry %d: Repeats() = %d, want %d", i+1, got, want)
		}
	}
	c.Reset()
	if c.Repeats() != 0 {
		t.Errorf("after Reset: Repeats() = %d", c.Repeats())
	}
	c.Add('x')
	if _, ok := c.Tripped(2); ok {
		t.Error("tripped on the first entry after Reset")
	}
}

// The counters must say what looking back over the whole history says, also when
// the watcher was kept as JSON on the way.
func TestCyclesAgreeWithHistory(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for n := 0; n < 500; n++ {
		var c Cycles
		var hist []Hash
		letters := 2 + rnd.Intn(3)
		for i := 0; i < 40; i++ {
			h := Hash(1 + rnd.Intn(letters))
			c.Add(h)
			hist = append(hist, h)
			if i == 20 {
				b, err := json.Marshal(c)
				if err != nil {
					t.Fatal(err)
				}
				c = Cycles{}
				if err := json.Unmarshal(b, &c); err != nil {
					t.Fatal(err)
				}
			}
			p, ok := c.Tripped(3)
			if wp, wok := lookBack(hist, 3); p != wp || ok != wok {
				t.Fatalf("%v: got %d %v, want %d %v", hist, p, ok, wp, wok)
			}
		}
	}
}

func lookBack(hist []Hash, threshold int) (int, bool) {
	for p := 1; p <= MaxPeriod; p++ {
		if len(hist) < p*threshold {
			continue
		}
		w := hist[len(hist)-p*threshold:]
		if reflect.DeepEqual(w[p:], w[:len(w)-p]) {
			return p, true
		}
	}
	return 0, false
}
