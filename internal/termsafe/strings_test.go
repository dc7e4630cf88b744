package termsafe

import (
	"math/rand/v2"
	"testing"
)

func TestStrings(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\nb", "a\nb"},
		{"colour stays", "\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"},
		{"title", "a\x1b]0;one\ntwo\ab", "ab"},
		{"hyperlink", "\x1b]8;;u\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"a bell does not end a device command", "a\x1bPx\ay\x1b\\b", "ab"},
		{"string after string", "\x1b]x\x1bPy\x1b\\b", "b"},
		{"ends with a colour", "\x1b]x\x1b[1mb", "\x1b[1mb"},
		{"cancelled", "\x1b]x\x18b\x1b_x\x1ac", "bc"},
		{"eight bits", "\u009dx\u009cb\u0090x\u009cc", "bc"},
		{"eight bits and two", "\u009dx\x1b\\b", "b"},
		{"a letter in a string", "\x1b]°é\u00a0\ab", "b"},
		{"letters", "°é\u00a0", "°é\u00a0"},
		{"ESC twice", "\x1b\x1b]x\ab", "\x1bb"},
		{"ST alone stays", "a\x1b\\b", "a\x1b\\b"},
		{"never ends", "a\x1b]x\ny", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for cut := 1; cut <= len(c.in); cut++ {
				var s Strings
				got := ""
				for rest := []byte(c.in); len(rest) > 0; {
					n := min(cut, len(rest))
					got += string(s.Drop(rest[:n]))
					rest = rest[n:]
				}
				if got != c.want {
					t.Errorf("cut every %d bytes: %q, want %q", cut, got, c.want)
				}
			}
		})
	}
}

// What is taken out does not depend on how the stream is cut, and whatever was
// written, a stream that is begun again shows what follows.
func TestStringsProperties(t *testing.T) {
	alphabet := []string{"\x1b", "\x1b]", "\x1bP", "\\", "\a", "\x18", "a", "\n", "\u009d", "\u009c", "°", "k", "_", "[", "\xc2"}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 0))
		text := ""
		for range 1 + r.IntN(20) {
			text += alphabet[r.IntN(len(alphabet))]
		}
		var whole, cut Strings
		want, got := string(whole.Drop([]byte(text))), ""
		for i := range len(text) {
			got += string(cut.Drop([]byte{text[i]}))
		}
		if got != want {
			t.Fatalf("%q: byte by byte %q, at once %q", text, got, want)
		}
		cut.Reset()
		if got := string(cut.Drop([]byte("a\nb"))); got != "a\nb" {
			t.Fatalf("after %q and Reset: %q", text, got)
		}
	}
}

func TestUnescaped(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"a\x1b[31mb\x1b[0m":      "ab",
		"a\u200bb\x00\u202e\x1b": "a\u200bb\x00\u202e",
		"\x1b]8;;x\x1b\\a\xff":   "a\xff",
	} {
		if got := Unescaped(in); got != want {
			t.Errorf("Unescaped(%q) = %q, want %q", in, got, want)
		}
	}
}
