package console

import (
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/cells"
)

func exampleTable() *Table {
	t := &Table{Columns: []Column{{Title: "ID"}, {Title: "N", Right: true}, {Title: "TEXT", Least: 6}, {Title: "LAST", Least: 5}}}
	t.Add(Entry{Text: "a"}, Entry{Text: "1"}, Entry{"日本語", Red}, Entry{Text: "short"})
	t.Add(Entry{Text: "bcd"}, Entry{Text: "1234"}, Entry{Text: "a longer text"}, Entry{Text: "another long text"})
	return t
}

// Columns stand under each other by what they take on the screen, and give up room
// from the right where there is too little.
func TestTable(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, `
ID      N  TEXT           LAST
a       1  日本語         short
bcd  1234  a longer text  another long text
`}, {43, `
ID      N  TEXT           LAST
a       1  日本語         short
bcd  1234  a longer text  another long text
`}, {42, `
ID      N  TEXT           LAST
a       1  日本語         short
bcd  1234  a longer text  another long te…
`}, {30, `
ID      N  TEXT          LAST
a       1  日本語        short
bcd  1234  a longer te…  anot…
`}, {24, `
ID      N  TEXT    LAST
a       1  日本語  short
bcd  1234  a lon…  anot…
`}, {14, `
ID      N  TE…
a       1  日…
bcd  1234  a …
`},
	} {
		p := &Printer{width: c.width}
		exampleTable().Print(p)
		if got := "\n" + p.String(); got != c.want {
			t.Errorf("%d columns: got%swant%s", c.width, got, c.want)
		}
		for line := range strings.Lines(p.String()) {
			if w := cells.Width(strings.TrimSuffix(line, "\n")); c.width > 0 && w > c.width {
				t.Errorf("%d columns: %q takes %d", c.width, line, w)
			}
		}
	}
}

// A column that matters less gives up room before one on its right.
func TestTableGivesUpTheLeastFirst(t *testing.T) {
	tab := &Table{Columns: []Column{{Title: "A", Least: 3, First: true}, {Title: "B", Least: 3}}}
	tab.Add(Entry{Text: "0123456789"}, Entry{Text: "0123456789"})
	for width, want := range map[int]string{22: "0123456789  0123456789", 17: "0123…  0123456789", 15: "01…  0123456789", 14: "01…  01234567…"} {
		p := &Printer{width: width}
		tab.Print(p)
		if got := strings.Split(p.String(), "\n")[1]; got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// Columns that can be missed are left out before others are cut to less than they
// need.
func TestTableDropsColumns(t *testing.T) {
	tab := &Table{Columns: []Column{{Title: "ID"}, {Title: "TWO", Drop: 2}, {Title: "ONE", Drop: 1}, {Title: "TEXT", Least: 6}}}
	tab.Add(Entry{Text: "a"}, Entry{Text: "b"}, Entry{Text: "c"}, Entry{Text: "0123456789"})
	for width, want := range map[int]string{
		24: "ID  TWO  ONE  TEXT\na   b    c    0123456789\n", 20: "ID  TWO  ONE  TEXT\na   b    c    01234…\n", 19: "ID  TWO  TEXT\na   b    0123456789\n",
		15: "ID  TWO  TEXT\na   b    01234…\n", 14: "ID  TEXT\na   0123456789\n", 10: "ID  TEXT\na   01234…\n", 9: "ID  TEXT\na   0123…\n",
	} {
		p := &Printer{width: width}
		tab.Print(p)
		if got := p.String(); got != want {
			t.Errorf("%d columns:\n%swant\n%s", width, got, want)
		}
	}
}

// No line is wider than the terminal, however narrow that is.
func TestTableAtEveryWidth(t *testing.T) {
	for width := 1; width < 60; width++ {
		p := &Printer{width: width, colour: width%2 == 0}
		exampleTable().Print(p)
		text := drawingOff(p.String())
		for line := range strings.Lines(text) {
			if w := cells.Width(strings.TrimSuffix(line, "\n")); w > width {
				t.Errorf("%d columns: %q takes %d", width, line, w)
			}
		}
	}
}

func drawingOff(text string) string {
	for _, c := range []string{Plain, Bold, Dim, Red, Green, Yellow} {
		text = strings.ReplaceAll(text, c, "")
	}
	return text
}
