//go:build unix

package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// descriptorsNeeded is how many files this package and its program open at a time,
// and some more.
const descriptorsNeeded = 24

// Room says which limit leaves a program too little to run commands; nil: none does.
// It is for the beginning of main: where there is no room the Go runtime ends the
// program with a trace, in a moment that nobody chooses.
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
