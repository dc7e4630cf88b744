package termsafe

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a b\n\tc", "a b\n\tc"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"title", "a\x1b]0;pwned\x07b", "ab"},
		{"clipboard", "a\x1b]52;c;cHduZWQ=\x1b\\b", "ab"},
		{"device control", "a\x1bP1;2|x\x1b\\b", "ab"},
		{"eight bit csi", "a\u009b31mb", "ab"},
		{"charset", "a\x1b(0b", "ab"},
		{"unfinished", "a\x1b]0;never\nb", "a\nb"},
		{"escape at the end", "a\x1b", "a"},
		{"redraw", "10%\r50%\rdone\n", "done\n"},
		{"crlf", "a\r\nb\r\n", "a\nb\n"},
		{"bidi override", "user\u202egnp.exe", "usergnp.exe"},
		{"zero width", "a\u200bb", "ab"},
		{"nul and bell", "a\x00\x07b", "ab"},
		{"invalid", "a\xffb", "a\ufffdb"},
		{"wide", "漢字 é", "漢字 é"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(c.in); got != c.want {
				t.Errorf("Text(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestLine(t *testing.T) {
	if got, want := Line("a\n\x1b[1m  b\tc\x1b[0m\r\n"), "a b c"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

// TestLineOfATidyText leaves what needs nothing as it is, and nothing else.
func TestLineOfATidyText(t *testing.T) {
	letters := []string{"a", "~", " ", "\t", "\n", "\r", "\x7f", "\x1b", "é", "\xff", "\u00a0", "\u202e", "!"}
	for _, a := range letters {
		for _, b := range letters {
			for _, c := range letters {
				text := a + b + c
				if got, want := Line(text), strings.Join(strings.Fields(Text(text)), " "); got != want {
					t.Errorf("Line(%q) = %q, want %q", text, got, want)
				}
			}
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"äöüß", 4, "äöüß"},
		{"äöüß€", 4, "äöü…"},
		{"a  bc", 4, "a…"},
		{"ab", 1, "…"},
		{"ab", 0, "…"},
	} {
		if got := Cut(c.text, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) is %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x1b]0;x", "\x1bP", "\u009b", "a\rb", "\xff\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if !utf8.ValidString(got) {
			t.Errorf("Text(%q) = %q is not valid UTF-8", s, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return hidden(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("Text(%q) = %q keeps a hidden character at %d", s, got, i)
		}
		if again := Text(got); again != got {
			t.Errorf("Text is not idempotent: %q, then %q", got, again)
		}
	})
}

func TestLastLines(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 2, ""},
		{"a\n\n \nb\n\x1b[31mc\x1b[m  d\n\n", 2, "b|c d"},
		{"a\nb", 3, "a|b"},
		{"äöüß€", 1, "äöü…"},
		{"first\n the \x1b[31mlast\n\n", 1, "the…"},
	} {
		if got := strings.Join(LastLines(c.text, c.most, 4), "|"); got != c.want {
			t.Errorf("LastLines(%q, %d) is %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
