package testfix

import (
	"errors"
	"testing"
)

func TestFormat(t *testing.T) {
	for n, want := range map[int]string{1: "I", 4: "IV", 9: "IX", 1994: "MCMXCIV", 3999: "MMMCMXCIX"} {
		if got, err := Format(n); err != nil || got != want {
			t.Errorf("Format(%d) = %q, %v; want %q", n, got, err, want)
		}
	}
}

func TestFormatRange(t *testing.T) {
	for _, n := range []int{-1, 0, 4000} {
		if got, err := Format(n); !errors.Is(err, ErrRange) {
			t.Errorf("Format(%d) = %q, %v; want ErrRange", n, got, err)
		}
	}
}

func TestParseLowerCase(t *testing.T) {
	if got, err := Parse("mmxxvi"); err != nil || got != 2026 {
		t.Errorf("Parse(mmxxvi) = %d, %v; want 2026", got, err)
	}
}
