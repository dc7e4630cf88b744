//go:build !unix

package session

import "os"

// piled reports whether a file on standard input has something to read.
func piled(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}
