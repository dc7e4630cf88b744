package report

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/termsafe"
)

// spans writes lines as text, each span in its class: [c1:red]plain.
func spans(s string) string {
	a := ansi{}
	a.write(s)
	var b strings.Builder
	for _, line := range a.end() {
		for _, sp := range line {
			if sp.Class != "" {
				fmt.Fprintf(&b, "[%s:%s]", sp.Class, sp.Text)
			} else {
				b.WriteString(sp.Text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestANSI(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\nb", "a\nb\n"},
		{"empty lines", "\na\n\n", "\na\n\n"},
		{"weight", "\x1b[1mb\x1b[2md\x1b[22m\x1b[3mi\x1b[23m\x1b[4mu\x1b[24mp", "[b:bd]iup\n"},
		{"reset", "\x1b[1;3;4;31mx\x1b[0my\x1b[1mz\x1b[mw", "[b c1:x]y[b:z]w\n"},
		{"colour", "\x1b[31mr\x1b[91ms\x1b[39mp", "[c1:r][c9:s]p\n"},
		{"background", "\x1b[44mb\x1b[31;49mp\x1b[104mc", "b[c1:pc]\n"},
		{"256", "\x1b[38;5;1mr\x1b[38;5;196mx\x1b[48;5;231;1my", "[c1:r]x[b:y]\n"},
		{"true colour", "\x1b[31;38;2;255;255;0my\x1b[38:2::255:255:0mz\x1b[1;38:2:255:255:0mw", "yz[b:w]\n"},
		{"colons", "\x1b[38:5:12mx\x1b[1;38:5:9;3my", "[c12:x][b c9:y]\n"},
		{"out of range", "\x1b[38;5;256mx\x1b[38;2;1;2;999my\x1b[38;5mz", "xyz\n"},
		{"underline colour", "\x1b[58;2;1;2;3;1mb", "[b:b]\n"},
		{"inverse", "\x1b[7mx\x1b[27my", "xy\n"},
		{"over lines", "\x1b[31ma\nb\x1b[0m\n", "[c1:a]\n[c1:b]\n"},
		{"other sequences", "a\x1b[2Kb\x1b[10;10Hc\x1b]0;title\x07d\x1b[?25he", "abcde\n"},
		{"links", "\x1b]8;;http://example.com\x1b\\text\x1b]8;;\x1b\\", "text\n"},
		{"conceal is shown", "\x1b[8msecret", "secret\n"},
		{"private parameters", "a\x1b[>4;1mb\x1b[?1mc", "abc\n"},
		{"half a sequence", "a\x1b[31", "a\n"},
		{"redraw", "10%\r50%\r\x1b[32mdone\x1b[0m\n", "[c2:done]\n"},
		{"carriage return at the end", "a\r\nb\r\x1b[0m\n", "a\nb\n"},
		{"hidden characters", "user\u202egnp\x00.exe\u200b\xff", "usergnp.exe\ufffd\n"},
		{"eight bit", "a\u009b31mb", "ab\n"},
		{"markup", "</script><img src=x onerror=alert(1)>]]>&", "</script><img src=x onerror=alert(1)>]]>&\n"},
		{"nonsense", "\x1b[;;;m\x1b[31;;1mx\x1b[99999999999999999999my\x1b[:mz", "[b:xyz]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := spans(c.in); got != c.want {
				t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestLongLine(t *testing.T) {
	parts := strings.Repeat("\x1b[1mab\x1b[0mcd", maxLineRunes)
	if n := len(regexp.MustCompile(`[abcd]`).FindAllString(strings.ReplaceAll(spans(parts), "[b:", ""), -1)); n != maxLineRunes {
		t.Errorf("%d characters of a line in many parts", n)
	}
	for n, cut := range map[int]bool{maxLineRunes: false, maxLineRunes + 1: true} {
		got := spans(strings.Repeat("é", n))
		if strings.HasSuffix(got, "…\n") != cut {
			t.Errorf("%d characters: cut is %v, want %v", n, !cut, cut)
		}
	}
}

var spanClass = regexp.MustCompile(`^((b|c[0-9]+)( |$))*$`)

// Whatever comes, the text is clean and the classes are our own; text without
// escape sequences and carriage returns is just termsafe's; and the size that
// the budget counts is what html/template writes.
func FuzzANSI(f *testing.F) {
	for _, s := range []string{
		"", "a\x1b[31mb", "\x1b[38;5;", "\x1b[38:2::1:2:3mx", "\x1b]8;;x\x1b\\y", "a\rb", "\x1b[1;\x1b[0m", "\xff\x1b[", "\u009b1m",
		"\"><img onerror=x>\x1b[7m</span>'+&", "\x1b[48;2;300;1;1mx\n\r\ny",
	} {
		f.Add(s)
	}
	lines := template.Must(pageTemplate())
	f.Fuzz(func(t *testing.T, s string) {
		a := ansi{}
		a.write(s)
		var text strings.Builder
		all := a.end()
		for i, line := range all {
			for _, sp := range line {
				if !spanClass.MatchString(sp.Class) || sp.Text == "" || strings.Contains(sp.Text, "\n") {
					t.Errorf("%q makes a span %q", s, sp)
				}
				text.WriteString(sp.Text)
			}
			if i < len(all)-1 {
				text.WriteByte('\n')
			}
		}
		got := text.String()
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
		}) {
			t.Errorf("%q shows %q", s, got)
		}
		if !strings.ContainsAny(s, "\x1b\r\u009b\u009d\u0090") && !strings.Contains(s, "\xc2") && len(s) < maxLineRunes {
			if want := strings.TrimSuffix(termsafe.Text(s), "\n"); got != want {
				t.Errorf("%q shows %q, want %q", s, got, want)
			}
		}
		counter := new(countWriter)
		if err := lines.ExecuteTemplate(counter, "lines", all); err != nil {
			t.Fatal(err)
		}
		if size := sizeOf(all); counter.n > size {
			t.Errorf("%q takes %d bytes of HTML, %d were counted", s, counter.n, size)
		}
	})
}

// countWriter counts.
type countWriter struct{ n int }

func (c *countWriter) Write(b []byte) (int, error) {
	c.n += len(b)
	return len(b), nil
}
