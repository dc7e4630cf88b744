//go:build !linux

package scratchpad

import "os"

// datasync makes the content of the file survive a power loss.
func datasync(f *os.File) error { return f.Sync() }

// allocate makes the file that large.
func allocate(f *os.File, size int64) error { return writeReserve(f, size) }
