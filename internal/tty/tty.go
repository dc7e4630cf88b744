package tty

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"

	"golang.org/x/term"
)

// Path is the controlling terminal of the process.
const Path = "/dev/tty"

// ErrCancelled is returned by [Terminal.Read] and [Terminal.Write] after [Terminal.Cancel].
var ErrCancelled = errors.New("terminal: cancelled")

// ErrWoken is returned by [Terminal.Read] after [Terminal.Wake].
var ErrWoken = errors.New("terminal: woken")

// Size returns how many columns and lines a terminal shows; 80 and 24 if unknown.
func Size(fd uintptr) (columns, rows int) {
	columns, rows, err := term.GetSize(int(fd))
	if err != nil {
		return 80, 24
	}
	return cmp.Or(columns, 80), cmp.Or(rows, 24)
}

// Size returns the terminal's size.
func (t *Terminal) Size() (columns, rows int) { return Size(t.Fd()) }

// raw holds the terminals whose state must be restored.
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

// RestoreAll restores every terminal of this process to its state before [Terminal.Raw]. It is
// for a program about to end abruptly: before it raises a signal on itself, or exits.
func RestoreAll() {
	raw.Lock()
	all := slices.Collect(maps.Keys(raw.all))
	raw.Unlock()
	for _, t := range all {
		t.Restore() //nolint:errcheck // there is nobody left to tell
	}
}
