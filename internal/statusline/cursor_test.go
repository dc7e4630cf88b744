package statusline

import (
	"bytes"
	"testing"

	"github.com/hinshun/vt10x"
)

func TestCursor(t *testing.T) {
	for _, c := range []struct {
		name, text string
		free       bool
	}{
		{"nothing", "", true},
		{"a line", "text\n", true},
		{"a line with a return", "text\r\n", true},
		{"part of a line", "text", false},
		{"part of a line, a line", "more\ntext", false},
		{"a line that will be drawn over", "50 %\r", false},
		{"colours", "\x1b[31mtext\x1b[0m\n", true},
		{"a colour that ends on the next line", "\x1b[31mtext\n\x1b[0m", true},
		{"a tab", "\t", false},
		{"a blank", " ", false},
		{"half a sequence", "text\n\x1b[3", false},
		{"half a title", "text\n\x1b]0;title", false},
		{"a title", "text\n\x1b]0;title\a", true},
		{"a title with a line break in it", "text\x1b]0;a\nb\x1b\\", false},
		{"a link", "text\n\x1b]8;;http://x\x1b\\", true},
		{"a cursor that goes up", "a\nb\n\x1b[2Ac\n", false},
		{"a position", "a\n\x1b[1;1Hb\n", false},
		{"a saved position", "\x1b7a\n", false},
		{"a position taken back", "\x1b[sa\n", false},
		{"one line up", "a\n\x1bMb\n", false},
		{"a scrolling part", "\x1b[2;10ra\n", false},
		{"a cleared screen", "\x1b[H\x1b[2Ja\n", false},
		{"the same the other way round", "\x1b[2J\x1b[Ha\n", false},
		{"and with what was scrolled away", "\x1b[H\x1b[2J\x1b[3Ja\n", false},
		{"cleared, and moved on after text", "\x1b[2J\x1b[Ha\nb\n\x1b[Hc\n", false},
		{"everything below erased", "a\nb\n\x1b[2A\x1b[Jc\n", false},
		{"everything above erased", "a\nb\n\x1b[2A\x1b[1Jc\n", false},
		{"the alternate screen", "\x1b[?1049ha\n", false},
		{"the alternate screen, cleared", "\x1b[?1049h\x1b[H\x1b[2Ja\n", false},
		{"back from it", "\x1b[?1049ha\n\x1b[?1049l", false},
		{"a hidden cursor", "\x1b[?25la\n", true},
		{"the keyboard's modes", "\x1b[>1ua\n\x1b[<u", true},
		{"moved within an empty line", "a\n\x1b[10C", false},
		{"a redrawn line that ends", "1 %\r\x1b[K100 %\n", true},
		{"reset", "text\x1bc", false},
		{"another set of characters", "\x1b(0lqk\x1b(B\n", true},
		{"a sequence cut off by another", "\n\x1b[3\x1b[m", false},
		{"a bell", "a\n\a", true},
	} {
		for size := 1; size <= 3; size++ { // however it comes in
			cur := cursor{fresh: true}
			for part := range chunks([]byte(c.text), size) {
				cur.write(part)
			}
			if cur.free() != c.free {
				t.Errorf("%s: %q in pieces of %d: free is %v, want %v", c.name, c.text, size, cur.free(), c.free)
			}
		}
	}
}

func chunks(b []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			n := min(size, len(b))
			if !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

// What a command did to the cursor ends with it, but not an unfinished line.
func TestCursorSettles(t *testing.T) {
	var c cursor
	c.write([]byte("a\n\x1b[2Ab\n\x1b[3"))
	c.settle()
	if !c.free() {
		t.Error("it is not free after the end")
	}
	c.write([]byte("text"))
	c.settle()
	if c.free() {
		t.Error("an unfinished line is free")
	}
}

// pieces are what the fuzz test puts outputs together from.
var pieces = []string{
	"a", "\n", "\r", "\r\n", "line\n", "\t", "\a", "\x1b[m", "\x1b[31;1m", "\x1b[K", "\x1b[2K", "\x1b[1K", "\x1b[J", "\x1b[1J", "\x1b[2J",
	"\x1b[H", "\x1b[2;3H", "\x1b[A", "\x1b[3A", "\x1b[B", "\x1b[5C", "\x1b[2D", "\x1b[G", "\x1b[7G", "\x1b[d", "\x1b[L", "\x1b[M", "\x1b[P", "\x1b[2X", "\x1b[@",
	"\x1b]0;title\a", "\x1b]0;a b\x1b\\", "\x1bP1\x1b\\", "\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1bM", "\x1bD", "\x1bE", "\x1b(B", "\x1b[?25l", "\x1b[?25h",
	"\x1b[?1049h", "\x1b[?1049l", "\x1b[S", "\x1b[T", "\x1b[F", "\x1b[E", "a line that is longer than the screen is wide, so that it wraps there\n",
}

// Where the cursor is said to be free, a terminal has it in the first column with
// nothing on its line and nothing below, whatever came before and however it was
// cut into pieces.
func FuzzCursor(f *testing.F) {
	f.Add([]byte{4, 17, 4}, 2)
	f.Add([]byte{4, 4, 18, 12, 4}, 1)
	f.Add([]byte{4, 14, 15, 4}, 3)
	f.Add([]byte{43, 4, 44, 1}, 1)
	f.Fuzz(func(t *testing.T, which []byte, size int) {
		var text []byte
		for _, b := range which[:min(len(which), 30)] {
			text = append(text, pieces[int(b)%len(pieces)]...)
		}
		c := cursor{fresh: true}
		for part := range chunks(text, max(1, size)) {
			c.write(part)
		}
		if !c.free() {
			return
		}
		term := vt10x.New(vt10x.WithSize(40, 10))
		_, _ = term.Write(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")))
		at := term.Cursor()
		if at.X != 0 {
			t.Errorf("%q: free, and the cursor is in column %d", text, at.X)
		}
		for y := at.Y; y < 10; y++ {
			for x := range 40 {
				if g := term.Cell(x, y); g.Char != ' ' && g.Char != 0 {
					t.Fatalf("%q: free in line %d, and line %d has %q", text, at.Y, y, g.Char)
				}
			}
		}
	})
}
