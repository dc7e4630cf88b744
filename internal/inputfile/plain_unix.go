//go:build unix

package inputfile

import (
	"errors"
	"os"
	"syscall"
)

// OpenPlain opens a file that the command may have put there: it follows no link and opens
// only regular files.
func OpenPlain(name string) (*os.File, error) { return openRegular(name, syscall.O_NOFOLLOW) }

// OpenRegular opens a file that a person named and that the command may have replaced. It
// opens only regular files, so that it does not block on a pipe.
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
