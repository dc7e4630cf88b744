package console

import (
	"io"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/parallel"
	"github.com/looprun/looprun/internal/termsafe"
)

// Entry is a text in a table, with its colour.
type Entry struct {
	Text, Colour string
}

// Column is a column of a table.
type Column struct {
	Title string
	Right bool // numbers stand at the right
	// Least is the minimum width when there is too little room; zero means the full width.
	Least int
	// First means that the column shrinks before the others.
	First bool
	// Optional means that the column is left out if none of its entries has a text.
	Optional bool
	// Drop is the order in which columns are dropped if shrinking is not enough: 1 before 2
	// and so on; zero means never.
	Drop int
}

// Table aligns cells by their width on a terminal.
type Table struct {
	Columns []Column
	Space   bool // an empty line comes before it
	rows    [][]Entry
}

// Add adds a row of texts, made safe to show on one line.
func (t *Table) Add(row ...Entry) {
	t.AddAll(1, func(int) []Entry { return row })
}

// AddAll adds n rows, built on all processors.
func (t *Table) AddAll(n int, row func(i int) []Entry) {
	before := len(t.rows)
	t.rows = append(t.rows, make([][]Entry, n)...)
	parallel.Each(n, func(i int) {
		entries := row(i)
		for k := range entries {
			entries[k].Text = termsafe.Line(entries[k].Text)
		}
		t.rows[before+i] = entries
	})
}

const gap = "  "

// Print prints the table. On a terminal it is fitted to the width: columns that can be
// narrower shrink, from the right, so that a line never wraps.
func (t *Table) Print(p *Printer) {
	widths := t.widths(p.width)
	line := func(row []Entry) string {
		var b strings.Builder
		for i, c := range row {
			if widths[i] == 0 {
				continue
			}
			text := cells.Cut(c.Text, widths[i])
			blanks := strings.Repeat(" ", widths[i]-cells.Width(text))
			text = p.Paint(c.Colour, text)
			switch {
			case t.Columns[i].Right:
				b.WriteString(blanks + text)
			case i < len(row)-1:
				b.WriteString(text + blanks)
			default:
				b.WriteString(text)
			}
			if i < len(row)-1 {
				b.WriteString(gap)
			}
		}
		return strings.TrimRight(b.String(), " ") + "\n"
	}
	if t.Space {
		_, _ = io.WriteString(p, "\n") // Flush says what is wrong
	}
	titles := make([]Entry, len(t.Columns))
	headed := false
	for i, c := range t.Columns {
		titles[i] = Entry{c.Title, Bold}
		headed = headed || c.Title != ""
	}
	if headed {
		_, _ = io.WriteString(p, line(titles))
	}
	lines := make([]string, len(t.rows))
	parallel.Each(len(lines), func(i int) { lines[i] = line(t.rows[i]) })
	for _, text := range lines {
		_, _ = io.WriteString(p, text)
	}
}

// widths returns the width of each column within the room; zero room means unlimited.
func (t *Table) widths(room int) []int {
	most := 0
	for _, c := range t.Columns {
		most = max(most, c.Drop)
	}
	for dropped := 0; ; dropped++ {
		widths, over := t.narrowed(room, dropped)
		switch {
		case over <= 0:
			return widths
		case dropped == most:
			return cutOff(widths, over)
		}
	}
}

// narrowed returns the widths of the columns without the dropped ones, and by how much they
// exceed the room.
func (t *Table) narrowed(room, dropped int) (widths []int, over int) {
	widths = make([]int, len(t.Columns))
	over = -len(gap) - room
	for i, c := range t.Columns {
		if c.Drop > 0 && c.Drop <= dropped || c.Optional && !slices.ContainsFunc(t.rows, func(row []Entry) bool { return row[i].Text != "" }) {
			continue
		}
		widths[i] = cells.Width(c.Title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], cells.Width(row[i].Text))
		}
		over += widths[i] + len(gap)
	}
	if room <= 0 {
		return widths, 0
	}
	for _, first := range []bool{true, false} {
		for i := len(widths) - 1; i >= 0 && over > 0; i-- {
			if c := t.Columns[i]; c.Least > 0 && c.First == first && widths[i] > c.Least {
				give := min(over, widths[i]-c.Least)
				widths[i] -= give
				over -= give
			}
		}
	}
	return widths, over
}

// cutOff removes the excess width from the right.
func cutOff(widths []int, over int) []int {
	for i := len(widths) - 1; i > 0 && over > 0; i-- {
		switch {
		case widths[i] > over:
			widths[i], over = widths[i]-over, 0
		case widths[i] > 0:
			over -= widths[i] + len(gap)
			widths[i] = 0
		}
	}
	if over > 0 {
		widths[0] = max(1, widths[0]-over)
	}
	return widths
}
