//go:build !unix

package main

import "os"

// waiting reports whether a file on standard input has something to read.
func waiting(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}
