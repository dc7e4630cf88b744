//go:build !unix

package inputfile

import (
	"errors"
	"os"
)

// OpenPlain opens a file that the command may have put there.
func OpenPlain(name string) (*os.File, error) {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errNotRegular)
	}
	return os.Open(name)
}

// OpenRegular opens a file that a person named and that the command may have replaced.
func OpenRegular(name string) (*os.File, error) {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errNotRegular)
	}
	return os.Open(name)
}
