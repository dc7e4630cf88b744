package cells

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "äöü": 3, "a\u0308": 1, "日本語": 6, "ｱ": 1, "Ａ": 2, "한국": 4, "\u1112\u1161\u11ab": 2,
		"🚀": 2, "🀄": 2, "👩\u200d🚀": 2, "⚠\ufe0f": 2, "1\ufe0f\u20e3": 2, "👍🏽": 2, "🇩🇪🇫🇷": 4, "🇩": 1, "a\u200db": 2, "👩\u200d🚀x": 3, "🏽": 2, "🚀🚀": 4, "…": 1, "·": 1, "\U0001f321": 1, "𠀀": 2, "\u200b": 0,
	} {
		if got := Width(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
		{"abc", -1, ""},
		{"", 0, ""},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"日本語", 2, "…"},
		{"a\u0308bc", 2, "a\u0308…"},
		{"ab\u0308", 2, "ab\u0308"},
		{"👩\u200d🚀👩\u200d🚀", 3, "👩\u200d🚀…"},
	} {
		if got := Cut(c.text, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
	if got := Pad("日本", 6); got != "日本  " {
		t.Errorf("padded to %q", got)
	}
	if got := Pad("abc", 2); got != "abc" {
		t.Errorf("padded to %q", got)
	}
}

// What is cut fits, is whole where that fits, and keeps a beginning of the text.
func FuzzCut(f *testing.F) {
	for _, seed := range []string{"abc", "日本語", "a\u0308b", "👩\u200d🚀", "\xff\xfe"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		if !utf8.ValidString(s) {
			return // such text is not safe to show
		}
		got := Cut(s, n)
		switch {
		case Width(got) > max(0, n):
			t.Errorf("Cut(%q, %d) = %q takes %d columns", s, n, got, Width(got))
		case n > 0 && Width(s) <= n && got != s:
			t.Errorf("Cut(%q, %d) = %q, though it fits", s, n, got)
		case !strings.HasPrefix(s, strings.TrimSuffix(got, "…")):
			t.Errorf("Cut(%q, %d) = %q", s, n, got)
		}
	})
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text   string
		width  int
		indent string
		want   []string
	}{
		{"", 10, "", []string{""}},
		{"one two", 10, "", []string{"one two"}},
		{"one two three", 9, "  ", []string{"one two", "  three"}},
		{"unbreakable", 4, "", []string{"unbr", "eaka", "ble"}},
		{"  indented text", 10, "  ", []string{"  indented", "  text"}},
		{"a\tb", 20, "", []string{"a    b"}},
		{"日本語", 4, "", []string{"日本", "語"}},
		{"日", 1, "", []string{"日"}},
	} {
		if got := Wrap(tt.text, tt.width, tt.indent); !slices.Equal(got, tt.want) {
			t.Errorf("Wrap(%q, %d) = %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("  one two 日本語 three", 7, "  ")
	f.Fuzz(func(t *testing.T, s string, width int, indent string) {
		width = 10 + max(width, -(width+1))%80
		for _, line := range Wrap(s, width, strings.Repeat(" ", len(indent)%8)) {
			if Width(line) > width {
				t.Errorf("%q takes %d of %d columns", line, Width(line), width)
			}
		}
	})
}
