//go:build !unix

package inputfile

import (
	"errors"
	"os"
)

// OpenPlain opens a file that the command may have put there.
func OpenPlain(name string) (*os.File, error) {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is not a regular file"))
	}
	return os.Open(name)
}
