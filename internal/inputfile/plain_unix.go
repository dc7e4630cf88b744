//go:build unix

package inputfile

import (
	"errors"
	"os"
	"syscall"
)

// OpenPlain opens a file that the command may have put there: no link is
// followed, and nothing but a regular file is read.
func OpenPlain(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), errors.New("it is not a regular file"))
	}
	return f, nil
}
