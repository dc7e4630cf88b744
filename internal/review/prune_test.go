package review

import (
	"bytes"
	"cmp"
	"fmt"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/plural"
)

// TestPrunedTable has the columns that a tabwriter makes.
func TestPrunedTable(t *testing.T) {
	var p Pruned
	var none, got, want bytes.Buffer
	if err := p.Table(&none); err != nil || none.Len() > 0 {
		t.Errorf("of nothing: %q, %v", &none, err)
	}
	for i, command := range [][]string{{"./fix.sh"}, nil, {"日本語", "größer", "a\u0308"}, {"sh", "-c", "a\tb\nc"}, {"x", "\xff"}, {"a command that is far longer than there is room for it in a table"}} {
		p.Removed = append(p.Removed, oldRun{ID: fmt.Sprintf("20260102-150405-%04x", i), Bytes: int64(i) << (7 * i), Command: command})
		if i%2 == 0 {
			p.Removed[i].Status, p.Removed[i].Last = core.StatusInterrupted, time.Now().AddDate(-1, 0, -i)
		}
		got.Reset()
		want.Reset()
		w := tabwriter.NewWriter(&want, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "RUN\tSTATUS\tLAST EVENT\tSIZE\tCOMMAND")
		for _, r := range p.Removed {
			last := console.Ago(time.Now(), r.Last)
			if r.Last.IsZero() {
				last = ""
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, cmp.Or(r.Status, "unreadable"), last, plural.Bytes(r.Bytes), console.Short(console.CommandLine(r.Command), 40))
		}
		if w.Flush(); p.Table(&got) != nil || got.String() != want.String() {
			t.Errorf("got\n%swant\n%s", &got, &want)
		}
	}
}
