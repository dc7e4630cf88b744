//go:build unix

package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// descriptorsNeeded is how many files this package and its program have open at a time, plus
// some reserve.
const descriptorsNeeded = 24

// Room returns an error naming the limit that is too low for a program to run commands; nil if
// none is. Call it at the beginning of main: without enough room the Go runtime ends the
// program with a trace, at an unpredictable moment.
func Room() error {
	if err := roomInMemory(); err != nil {
		return err
	}
	var open []int
	defer func() {
		for _, fd := range open {
			unix.Close(fd)
		}
	}()
	for len(open) < descriptorsNeeded {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0) // the Go runtime sees that it is open
		if err != nil {
			return fmt.Errorf("only %d more files can be opened here, and %d are needed (%w): raise the limit, with ulimit -n 256 for instance",
				len(open), descriptorsNeeded, err)
		}
		open = append(open, fd)
	}
	return nil
}
