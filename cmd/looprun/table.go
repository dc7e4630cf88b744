package main

import (
	"io"
	"strings"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/termsafe"
)

// entry is a text in a table, and its colour.
type entry struct {
	text, colour string
}

// column is a column of a table.
type column struct {
	title string
	right bool // numbers stand at the right
	// least is how many columns of the screen it keeps where there is too little
	// room; zero: all that it needs.
	least int
}

// table aligns cells by the columns that they take on a terminal.
type table struct {
	columns []column
	space   bool // an empty line comes before it
	rows    [][]entry
}

// add adds a row of texts, which are made safe to show on one line.
func (t *table) add(row ...entry) {
	for i := range row {
		row[i].text = termsafe.Line(row[i].text)
	}
	t.rows = append(t.rows, row)
}

const gap = "  "

// print prints the table. On a terminal it is cut to the width: the columns that
// can be narrower give up room, the last of them first, so that a line never
// wraps.
func (t *table) print(p *printer) {
	widths := t.widths(p.width)
	line := func(row []entry) {
		var b strings.Builder
		for i, c := range row {
			if widths[i] == 0 {
				continue
			}
			text := cells.Cut(c.text, widths[i])
			blanks := strings.Repeat(" ", widths[i]-cells.Width(text))
			text = p.paint(c.colour, text)
			switch {
			case t.columns[i].right:
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
		_, _ = io.WriteString(p, strings.TrimRight(b.String(), " ")+"\n") // Flush says what is wrong
	}
	if t.space {
		_, _ = io.WriteString(p, "\n")
	}
	titles := make([]entry, len(t.columns))
	headed := false
	for i, c := range t.columns {
		titles[i] = entry{c.title, bold}
		headed = headed || c.title != ""
	}
	if headed {
		line(titles)
	}
	for _, row := range t.rows {
		line(row)
	}
}

// widths is what each column takes of the room; zero is any.
func (t *table) widths(room int) []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = cells.Width(c.title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], cells.Width(row[i].text))
		}
	}
	if room <= 0 {
		return widths
	}
	over := len(gap)*(len(widths)-1) - room
	for _, w := range widths {
		over += w
	}
	for i := len(widths) - 1; i >= 0 && over > 0; i-- {
		if least := t.columns[i].least; least > 0 && widths[i] > least {
			give := min(over, widths[i]-least)
			widths[i] -= give
			over -= give
		}
	}
	for i := len(widths) - 1; i > 0 && over > 0; i-- { // a very narrow terminal: what is on the right goes
		if widths[i] > over {
			widths[i], over = widths[i]-over, 0
			break
		}
		over -= widths[i] + len(gap)
		widths[i] = 0
	}
	if over > 0 {
		widths[0] = max(1, widths[0]-over)
	}
	return widths
}
