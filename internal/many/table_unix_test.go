//go:build unix

package many

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
)

// The table stands below the messages, as high as there is room, and goes away.
func TestTheTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, screen, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer keys.Close()
		defer screen.Close()
		from, term := bufio.NewReader(keys), vt10x.New(vt10x.WithSize(100, 40))
		shows := func(want ...string) {
			t.Helper()
			fmt.Fprint(screen, "\a")
			text, err := from.ReadString('\a')
			if err != nil {
				t.Fatal(err)
			}
			_, _ = term.Write([]byte(text))
			var got []string
			for line := range strings.Lines(strings.TrimSpace(term.String())) {
				got = append(got, strings.TrimRight(line, " \n"))
			}
			if !slices.Equal(got, want) {
				t.Errorf("it shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		size := func(columns, rows uint16) {
			if err := pty.Setsize(screen, &pty.Winsize{Cols: columns, Rows: rows}); err != nil {
				t.Fatal(err)
			}
		}
		one := func(name string, s standing, status core.Status, iterations int) *entry {
			return &entry{Loop: &Loop{Name: name}, stands: s, since: time.Now().Add(-90 * time.Second), seen: scratchpad.Summary{Status: status, Iterations: iterations, Says: "1 test failing"}}
		}
		b := &Batch{Plan: &Plan{}, entries: []*entry{
			one("new", placing, "", 0), one("again", running, core.StatusInterrupted, 1), one("waits", running, core.StatusAwaiting, 2),
			one("asks", asking, core.StatusPaused, 3), one("ended", over, core.StatusDone, 4), one("later", waiting, "", 0),
		}}
		b.queue = b.entries[5:]
		fmt.Fprintln(screen, "a message")
		b.table.draw(b)
		shows("a message")
		b.table.open(screen)
		rows := []string{
			"a message",
			"  new                             setting up    0   1m30s  1 test failing",
			"  again                           running       1   1m30s  1 test failing",
			"  waits                           asks          2   1m30s  1 test failing",
			"  asks                            asks          3          1 test failing",
			"1 of 6 ended · 3 running · 1 asking · 1 waiting",
		}
		size(100, 40)
		b.table.draw(b)
		shows(rows...)
		fmt.Fprint(screen, "\x1b[A>") // over what is not written again
		b.table.draw(b)
		shows(append(rows[:5:5], ">"+rows[5][1:])...)
		fmt.Fprintln(screen)
		size(60, 6)
		b.table.draw(b)
		shows("a message", rows[1][:58]+"…", rows[2][:58]+"…", "  and 2 more", rows[5])
		size(0, 0) // it is not known
		b.table.draw(b)
		shows(rows...)
		b.table.close()
		shows("a message")
	})
}
