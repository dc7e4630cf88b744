//go:build unix

package inputfile

import (
	"errors"
	"os"
	"syscall"
)

// OpenPlain opens a file that the command may have put there: no link is
// followed, and nothing but a regular file is read.
func OpenPlain(name string) (*os.File, error) { return openRegular(name, syscall.O_NOFOLLOW) }

// OpenRegular opens a file that a person named and that the command may have replaced:
// nothing but a regular file is read, so that no pipe is waited for.
func OpenRegular(name string) (*os.File, error) { return openRegular(name, 0) }

func openRegular(name string, flags int) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|flags, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), errNotRegular)
	}
	return f, nil
}
