package scratchpad

import "os"

// keepReserve reserves disk space with a file of that name.
func keepReserve(name string, size int64) error {
	f, err := openPlain(name, os.O_WRONLY|os.O_CREATE|readFlags)
	if err != nil {
		return err
	}
	defer f.Close()
	return allocate(f, size)
}

// writeReserve fills the file, for systems where space cannot be allocated otherwise.
func writeReserve(f *os.File, size int64) error {
	_, err := f.Write(make([]byte, size))
	return err
}
