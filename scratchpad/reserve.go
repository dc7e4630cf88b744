package scratchpad

import "os"

// writeReserve fills the file, where space cannot be allocated without.
func writeReserve(f *os.File, size int64) error {
	_, err := f.Write(make([]byte, size))
	return err
}
