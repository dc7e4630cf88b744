package escape

import (
	"fmt"
	"strings"
	"testing"
)

// read writes the stream as text with its sequences in brackets: kind, parameters, final byte.
func read(stream string) string {
	var s Scanner
	var b strings.Builder
	for i := 0; i < len(stream); {
		switch s.Take(stream[i]) {
		case Text:
			b.WriteByte(stream[i])
		case Inside:
		case End:
			switch s.Kind() {
			case Control:
				fmt.Fprintf(&b, "<%s %c>", s.Parameters(), s.Final())
			case Escape:
				fmt.Fprintf(&b, "<%c>", s.Final())
			case String:
				b.WriteString("<string>")
			}
		case Broken:
			b.WriteString("<broken>")
			continue
		}
		i++
	}
	if s.Open() {
		b.WriteString("<open>")
	}
	return b.String()
}

func TestScanner(t *testing.T) {
	for stream, want := range map[string]string{
		"plain\n":                               "plain\n",
		"a\x1b[31mb\x1b[mc":                     "a<31 m>b< m>c",
		"\x1b[?25h\x1b[10;2H":                   "<?25 h><10;2 H>",
		"\x1b7\x1b8\x1bM":                       "<7><8><M>",
		"\x1b(Bx":                               "<B>x",
		"\x1b]0;title\x07x":                     "<string>x",
		"\x1b]8;;url\x1b\\x":                    "<string>x",
		"\x1b]two\nlines\x1b\\x":                "<string>x",
		"\x1bPq\x07still\x1b\\x":                "<string>x",
		"\x1b_bk;t=17\x07x":                     "<string>x",
		"\x1bktitle\x1b\\x":                     "<string>x",
		"\x1b]t\u009cx":                         "<string>x",
		"\x1b]t\x18x":                           "<string>x",
		"\x1b]t\x1b[1mx":                        "<1 m>x",
		"\x1b[31\nx":                            "<broken>\nx",
		"\x1b[3\x1b[1mx":                        "<broken><1 m>x",
		"\x1b\x1b[1mx":                          "<broken><1 m>x",
		"\x1b[1é":                               "<broken>é",
		"a\x1b":                                 "a<open>",
		"a\x1b[12":                              "a<open>",
		"\x1b[" + strings.Repeat("1", 99) + "m": "<" + strings.Repeat("1", MaxParameters) + " m>",
	} {
		if got := read(stream); got != want {
			t.Errorf("%q: %q, want %q", stream, got, want)
		}
	}
}

func TestNext(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "x\x1b[m": 0, "\x1b": 1, "\x1b[31mx": 5, "\x1b[31": 4, "\x1b[3\nx": 3, "\x1b]title\nx": 7, "\x1b]t\x07x": 4,
		"\u009b1mx": 4, "\u00a9x": 0, "\xc2": 0, "\u009dt\u009cx": 5, "\x1b(Bx": 3, "\x1b\x01": 1,
	} {
		var s Scanner
		if got := Next(&s, text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestFilter(t *testing.T) {
	for stream, want := range map[string]string{
		"a\nb":                         "a\nb",
		"\x1b[31mred\x1b[0m":           "red",
		"a\x1b]0;one\ntwo\ab":          "ab",
		"\x1b]x\x1bPy\x1b\\b":          "b",
		"\x1b]x\x18b\x1b_x\x1ac":       "bc",
		"\u009dx\u009cb\u0090x\x1b\\c": "bc",
		"\x1b]°é\u00a0\ab":             "b",
		"°é\u00a0":                     "°é\u00a0",
		"\x1b\x1b]x\ab":                "b",
		"a\x1b]x\ny":                   "a",
	} {
		for cut := 1; cut <= len(stream); cut++ {
			var f Filter
			got := ""
			for rest := []byte(stream); len(rest) > 0; {
				n := min(cut, len(rest))
				got += string(f.Drop(rest[:n]))
				rest = rest[n:]
			}
			if got != want {
				t.Errorf("%q, cut every %d bytes: %q, want %q", stream, cut, got, want)
			}
			if f.Reset(); string(f.Drop([]byte("a\nb"))) != "a\nb" {
				t.Errorf("%q: Reset begins no other stream", stream)
			}
		}
	}
}

// However a stream is cut, the same is left of it, and nothing of it begins a sequence.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb", "\x1b]0;t\x07x", "é\u009b1mx\u00a9", "\x1b]a\nb\x1b\\c", "\xc2", "\x1b]t\x1b[1mx"} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, stream []byte, piece int) {
		var whole, cut Filter
		want := string(whole.Drop(stream))
		var got []byte
		for rest := stream; len(rest) > 0; {
			n := min(len(rest), max(1, piece))
			got = append(got, cut.Drop(rest[:n])...)
			rest = rest[n:]
		}
		if string(got) != want {
			t.Fatalf("%q in pieces, %q whole", got, want)
		}
		if strings.ContainsRune(want, esc) {
			t.Fatalf("%q is left", want)
		}
	})
}
