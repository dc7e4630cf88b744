//go:build !unix

package main

import (
	"errors"
	"os"
)

// openPlain opens a file that the command may have put there.
func openPlain(name string) (*os.File, error) {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is no regular file"))
	}
	return os.Open(name)
}
