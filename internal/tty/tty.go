package tty

import (
	"cmp"
	"errors"
	"sync"

	"golang.org/x/term"
)

// Path is the controlling terminal of the process.
const Path = "/dev/tty"

// ErrCancelled is returned by [Terminal.Read] and [Terminal.Write] once
// [Terminal.Cancel] was called.
var ErrCancelled = errors.New("terminal: cancelled")

// ErrWoken is returned by [Terminal.Read] after [Terminal.Wake].
var ErrWoken = errors.New("terminal: woken")

// Size is how many columns and lines a terminal shows, 80 and 24 where it does not say.
func Size(fd uintptr) (columns, rows int) {
	columns, rows, err := term.GetSize(int(fd))
	if err != nil {
		return 80, 24
	}
	return cmp.Or(columns, 80), cmp.Or(rows, 24)
}

// Size is that of the terminal.
func (t *Terminal) Size() (columns, rows int) { return Size(t.Fd()) }

// raw are the terminals whose state has to be put back.
var raw = struct {
	sync.Mutex
	all map[*Terminal]bool
}{all: map[*Terminal]bool{}}

func remember(t *Terminal) {
	raw.Lock()
	defer raw.Unlock()
	raw.all[t] = true
}

func forget(t *Terminal) {
	raw.Lock()
	defer raw.Unlock()
	delete(raw.all, t)
}

// RestoreAll puts every terminal of this process back into the state it had
// before [Terminal.Raw]. It is for a program about to end without returning
// from what it does: before it raises a signal on itself, or exits.
func RestoreAll() {
	raw.Lock()
	all := make([]*Terminal, 0, len(raw.all))
	for t := range raw.all {
		all = append(all, t)
	}
	raw.Unlock()
	for _, t := range all {
		t.Restore() //nolint:errcheck // there is nobody left to tell
	}
}
