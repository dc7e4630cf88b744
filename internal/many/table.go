package many

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// table is shown on a terminal below the messages: the loops that run or ask, and how many
// there are of each kind. Without a terminal it does nothing.
type table struct {
	screen *os.File
	lines  int // that stand there now
	last   string
}

func (t *table) open(screen *os.File) { t.screen = screen }

func (t *table) close() {
	t.clear()
	t.screen = nil
}

// clear erases the table, so that something can be printed in its place.
func (t *table) clear() {
	if t.lines == 0 {
		return
	}
	fmt.Fprintf(t.screen, "\x1b[%dA\r\x1b[J", t.lines)
	t.lines, t.last = 0, ""
}

// draw shows the current table. Names are displayed as plain text.
func (t *table) draw(b *Batch) {
	if t.screen == nil {
		return
	}
	width, height, _ := term.GetSize(int(t.screen.Fd()))
	if width < 20 { // or not known
		width, height = 80, 24
	}
	var rows []string
	for _, e := range b.entries {
		if e.stands == placing || e.stands == running || e.stands == asking {
			rows = append(rows, e.row(width-1))
		}
	}
	if most := max(1, height-3); len(rows) > most {
		rows = append(rows[:most-1], fmt.Sprintf("  and %d more", len(rows)-most+1))
	}
	rows = append(rows, cells.Cut(fmt.Sprintf("%d of %d ended · %d running · %d asking · %d waiting", b.count(over), len(b.entries), b.count(running)+b.count(placing), b.count(asking), len(b.queue)), width-1))
	text := strings.Join(rows, "\n") + "\n"
	if text == t.last {
		return
	}
	t.clear()
	fmt.Fprint(t.screen, text)
	t.lines, t.last = len(rows), text
}

// row returns the line of one loop.
func (e *entry) row(width int) string {
	word := "running"
	switch {
	case e.stands == placing:
		word = "setting up"
	case e.stands == asking || e.seen.Status == core.StatusAwaiting:
		word = "asks"
	}
	took := ""
	if e.stands != asking {
		took = plural.Round(time.Since(e.since).Truncate(time.Second))
	}
	return cells.Cut(fmt.Sprintf("  %s  %-10s  %3d  %6s  %s", cells.Pad(cells.Cut(termsafe.Line(e.Name), 30), 30), word, e.seen.Iterations, took, termsafe.Line(cmp.Or(e.seen.Says, e.seen.Signature))), width)
}
