package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// replace renames temp to name. If name exists, the two files are swapped and the old one is
// removed: unlike a rename that replaces a file, that does not make any file system flush the
// new file immediately, which is what takes most of the time.
func replace(temp, name string) error {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return os.Rename(temp, name)
	}
	switch err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, name, unix.RENAME_EXCHANGE); err {
	case nil:
		return os.Remove(temp)
	case unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP, unix.ENOENT: // not every file system can; or it is gone by now
		return os.Rename(temp, name)
	default:
		return &os.LinkError{Op: "rename", Old: temp, New: name, Err: err}
	}
}
