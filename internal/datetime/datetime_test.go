package datetime

import (
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/ascii"
)

// What is found is set in angle brackets.
func TestStamp(t *testing.T) {
	for _, text := range []string{
		"<2026-11-21T09:12:05.719Z> a", "<2026-11-21 09:12:05,719> a", "<2026/11/21 09:12:05.719123> a", "<2026-11-21T09:12:05+02:00> a", "<2026-11-21 09:12:05 +0200> a", "<2026-11-21> a",
		"<21/Nov/2026:09:12:05 +0100> a", "<21-Nov-2026 09:12:05> a", "<21 Nov 2026 09:12:05> a", "<1/2/2026 9:12:05 PM> a", "<20261121T091205Z> a", "<2026-11-21 09:12> a",
		"<Nov 21 09:12:05> a", "<Nov  2 09:12:05> a", "<Sat Nov 21 09:12:05 2026> a", "<Sat, 21 Nov 2026 09:12:05 GMT> a", "<09:12:05> a", "<9:12:05.7> a", "<09:12:05 AM> a",
		"<1795326760> a", "<1795326760.123456> a", "<1795326760123> a",
		"09:12 a", "2795326760 a", "179532676 a", "Nov 21 a", "Nov 211 09:12:05 a", "Sat 7 a", "Monday a", "1.2.3 a", "a 09:12:05", "", "2026-1", "12:5: a",
	} {
		line := strings.NewReplacer("<", "", ">", "").Replace(text)
		if got, want := Stamp([]byte(line), 0), max(0, strings.IndexByte(text, '>')-1); got != want {
			t.Errorf("%q ends at %d, want %d", text, got, want)
		}
	}
}

func TestFrom(t *testing.T) {
	for _, text := range []string{
		"at <09:12> a", "at <2026-11-21T09_12_05_719Z>.log", "at <2026-11-21>", "in 1.2.3.4:5", "a 12 b", "a 12:5",
	} {
		line := []byte(strings.NewReplacer("<", "", ">", "").Replace(text))
		k := strings.IndexAny(string(line), "0123456789")
		if got, want := From(line, k, ascii.Digits(line, k)), max(0, strings.IndexByte(text, '>')-1); got != want {
			t.Errorf("%q ends at %d, want %d", text, got, want)
		}
	}
}

func FuzzStamp(f *testing.F) {
	f.Add("Sat, 21 Nov 2026 09:12:05 GMT")
	f.Add("1/2/2026 9:12:05 PM")
	f.Fuzz(func(t *testing.T, line string) {
		for i := range len(line) + 1 {
			if e := Stamp([]byte(line), i); e < i || e > len(line) {
				t.Fatalf("%q from %d ends at %d", line, i, e)
			}
		}
	})
}
