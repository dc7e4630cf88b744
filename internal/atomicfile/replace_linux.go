package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// replace gives the file its name. Where another has it, the two change places
// and the old one goes: unlike a rename that replaces a file, that makes no file
// system write the new one out at once, which is what takes most of the time.
func replace(temp, name string) error {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return os.Rename(temp, name)
	}
	if err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, name, unix.RENAME_EXCHANGE); err != nil {
		return os.Rename(temp, name) // not every file system can, and it may be gone by now
	}
	return os.Remove(temp)
}
