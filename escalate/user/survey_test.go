package user

import (
	"fmt"
	"strings"
	"testing"
)

// frames counts what is drawn: a menu each time.
type frames struct{ strings.Builder }

func (*frames) Fd() uintptr { return ^uintptr(0) }

// A key draws the menu once, around the end as well: frames in between would show
// marks that nobody set.
func TestAKeyDrawsTheMenuOnce(t *testing.T) {
	const items = 6
	for _, tt := range []struct{ from, to int }{{0, 1}, {1, 0}, {0, items - 1}, {items - 1, 0}} {
		at := func(cursor int) sheet {
			s := sheet{cursor: cursor, rows: items, plain: true}
			for i := range items {
				s.items = append(s.items, fmt.Sprint("item ", i))
			}
			return s
		}
		out, drawn, keys := new(frames), 0, []key{keyUp, keyEnter}
		n, err := choose(out, at(tt.from), func() (key, sheet, error) {
			drawn = strings.Count(out.String(), "> item")
			k := keys[0]
			keys = keys[1:]
			return k, at(tt.to), nil
		})
		if n != tt.to || err != nil {
			t.Errorf("%+v: chose %d, %v", tt, n, err)
		}
		if drawn != 2 {
			t.Errorf("%+v: the menu was drawn %d times, want first and once more:\n%q", tt, drawn, out.String())
		}
	}
}
