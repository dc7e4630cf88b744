package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/scratchpad"
)

func exampleTable() *table {
	t := &table{columns: []column{{title: "ID"}, {title: "N", right: true}, {title: "TEXT", least: 6}, {title: "LAST", least: 5}}}
	t.add(entry{text: "a"}, entry{text: "1"}, entry{"日本語", red}, entry{text: "short"})
	t.add(entry{text: "bcd"}, entry{text: "1234"}, entry{text: "a longer text"}, entry{text: "another long text"})
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
		p := &printer{width: c.width}
		exampleTable().print(p)
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
	tab := &table{columns: []column{{title: "A", least: 3, first: true}, {title: "B", least: 3}}}
	tab.add(entry{text: "0123456789"}, entry{text: "0123456789"})
	for width, want := range map[int]string{22: "0123456789  0123456789", 17: "0123…  0123456789", 15: "01…  0123456789", 14: "01…  01234567…"} {
		p := &printer{width: width}
		tab.print(p)
		if got := strings.Split(p.String(), "\n")[1]; got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// Columns that can be missed are left out before others are cut to less than they
// need.
func TestTableDropsColumns(t *testing.T) {
	tab := &table{columns: []column{{title: "ID"}, {title: "TWO", drop: 2}, {title: "ONE", drop: 1}, {title: "TEXT", least: 6}}}
	tab.add(entry{text: "a"}, entry{text: "b"}, entry{text: "c"}, entry{text: "0123456789"})
	for width, want := range map[int]string{
		24: "ID  TWO  ONE  TEXT\na   b    c    0123456789\n", 20: "ID  TWO  ONE  TEXT\na   b    c    01234…\n", 19: "ID  TWO  TEXT\na   b    0123456789\n",
		15: "ID  TWO  TEXT\na   b    01234…\n", 14: "ID  TEXT\na   0123456789\n", 10: "ID  TEXT\na   01234…\n", 9: "ID  TEXT\na   0123…\n",
	} {
		p := &printer{width: width}
		tab.print(p)
		if got := p.String(); got != want {
			t.Errorf("%d columns:\n%swant\n%s", width, got, want)
		}
	}
}

// No line is wider than the terminal, however narrow that is.
func TestTableAtEveryWidth(t *testing.T) {
	for width := 1; width < 60; width++ {
		p := &printer{width: width, colour: width%2 == 0}
		exampleTable().print(p)
		text := drawingOff(p.String())
		for line := range strings.Lines(text) {
			if w := cells.Width(strings.TrimSuffix(line, "\n")); w > width {
				t.Errorf("%d columns: %q takes %d", width, line, w)
			}
		}
	}
}

func drawingOff(text string) string {
	for _, c := range []string{plain, bold, dim, red, green, yellow} {
		text = strings.ReplaceAll(text, c, "")
	}
	return text
}

// Text in a table is data.
func TestTableIsSafe(t *testing.T) {
	var b bytes.Buffer
	p := &printer{}
	tab := listed([]scratchpad.Summary{{ID: "x", Command: []string{"a\x1b]0;t\x07\nb\u202e"}, Status: looprun.StatusDone, Signature: "s\rt"}}, time.Now(), true, false)
	tab.print(p)
	b.Write(p.Bytes())
	if got := b.String(); strings.ContainsAny(got, "\x1b\x07\r\u202e") || strings.Count(got, "\n") != 2 {
		t.Errorf("printed %q", got)
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 5, 20, 12, 0, 0, 0, time.Local)
	for d, want := range map[time.Duration]string{
		0: "0s ago", 59 * time.Second: "59s ago", time.Minute: "1m ago", 59*time.Minute + 59*time.Second: "59m ago", time.Hour: "1h ago",
		47*time.Hour + 59*time.Minute: "47h ago", 48 * time.Hour: "2d ago", 30*24*time.Hour - time.Second: "29d ago", 30 * 24 * time.Hour: "2026-04-20", -time.Minute: "2026-05-20 12:01:00",
	} {
		if got := ago(now, now.Add(-d)); got != want {
			t.Errorf("%s ago is %q, want %q", d, got, want)
		}
	}
}

// What is kept of the past are its last iterations.
func TestPast(t *testing.T) {
	for most, want := range map[int]string{0: "s123", 1: "3", 2: "23", 3: "s123", 9: "s123"} {
		p := past{most: most}
		_, _ = p.Write([]byte("s"))
		for n, text := range []string{"1", "2", "3"} {
			p.begin(n + 1)
			_, _ = p.Write([]byte(text))
		}
		if got := string(bytes.Join(p.iterations, nil)); got != want {
			t.Errorf("of the last %d: %q, want %q", most, got, want)
		}
	}
}
