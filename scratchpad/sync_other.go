//go:build !linux

package scratchpad

import "os"

// datasync makes the content of the file survive a power loss.
func datasync(f *os.File) error { return f.Sync() }

// keepReserve reserves disk space with a file of that name.
func keepReserve(name string, size int64) error {
	f, err := openPlain(name, os.O_WRONLY|os.O_CREATE|readFlags)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeReserve(f, size)
}
