package config

import (
	"math"
	"testing"
	"time"
)

func parseAge(text string) (time.Duration, error) {
	var a Age
	err := a.UnmarshalText([]byte(text))
	return time.Duration(a), err
}

func TestAge(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0s": 0, "90m": 90 * time.Minute, "12h": 12 * time.Hour, "30d": 720 * time.Hour, "2w": 336 * time.Hour,
		"1w2d": 216 * time.Hour, "1d12h": 36 * time.Hour, "106751d": 106751 * 24 * time.Hour,
	} {
		if got, err := parseAge(text); got != want || err != nil {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "30", "d", "-1d", "1.5d", "1 d", "1y", "1mo", "30d ", "106752d", "99999999999999999999d", "106751d24h", "١d"} {
		if got, err := parseAge(text); err == nil {
			t.Errorf("%q is taken: %s", text, got)
		}
	}
}

// FuzzAge checks that an age is never negative, and that of two taken one after
// the other the sum is taken, or is too large.
func FuzzAge(f *testing.F) {
	for _, s := range []string{"30d", "1w2d", "0s", "106751d", "9223372036854775807s", "1d1", "é"} {
		f.Add(s, "12h")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		a, err := parseAge(one)
		if a < 0 || err != nil && a != 0 {
			t.Fatalf("%q is %d, %v", one, a, err)
		}
		b, berr := parseAge(two)
		if err != nil || berr != nil {
			return
		}
		sum, err := parseAge(one + two)
		if fits := a <= math.MaxInt64-b; fits != (err == nil) || fits && sum != a+b {
			t.Fatalf("%q and %q are %d and %d, together %d, %v", one, two, a, b, sum, err)
		}
	})
}
