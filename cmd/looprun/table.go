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
	// first says that it gives up room before the others.
	first bool
	// drop says that it is left out where that is not enough: 1 before 2 and so on;
	// zero: it stays.
	drop int
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
// can be narrower give up room, from the right, so that a line never
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

// widths is what each column takes of the room; zero of that is any.
func (t *table) widths(room int) []int {
	most := 0
	for _, c := range t.columns {
		most = max(most, c.drop)
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

// narrowed is what the columns take without those that were dropped, and how much
// that is too much.
func (t *table) narrowed(room, dropped int) (widths []int, over int) {
	widths = make([]int, len(t.columns))
	over = -len(gap) - room
	for i, c := range t.columns {
		if c.drop > 0 && c.drop <= dropped {
			continue
		}
		widths[i] = cells.Width(c.title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], cells.Width(row[i].text))
		}
		over += widths[i] + len(gap)
	}
	if room <= 0 {
		return widths, 0
	}
	for _, first := range []bool{true, false} {
		for i := len(widths) - 1; i >= 0 && over > 0; i-- {
			if c := t.columns[i]; c.least > 0 && c.first == first && widths[i] > c.least {
				give := min(over, widths[i]-c.least)
				widths[i] -= give
				over -= give
			}
		}
	}
	return widths, over
}

// cutOff takes what is too much from the right.
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
