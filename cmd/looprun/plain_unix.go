//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// openPlain opens a file that the command may have put there: no link is
// followed, and nothing but a regular file is read.
func openPlain(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), errors.New("it is no regular file"))
	}
	return f, nil
}
