package scratchpad

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync makes the content of the file survive a power loss. The file may be closed
// concurrently.
func datasync(f *os.File) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var serr error
	err = c.Control(func(fd uintptr) {
		for serr = unix.EINTR; serr == unix.EINTR; {
			serr = unix.Fdatasync(int(fd))
		}
	})
	if err == nil && serr != nil {
		err = &os.PathError{Op: "sync", Path: f.Name(), Err: serr}
	}
	return err
}

// allocate makes the file that large.
func allocate(f *os.File, size int64) error {
	var err error
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Fallocate(int(f.Fd()), 0, 0, size)
	}
	if err == unix.EOPNOTSUPP || err == unix.ENOSYS {
		return writeReserve(f, size)
	}
	if err != nil {
		return &os.PathError{Op: "allocate", Path: f.Name(), Err: err}
	}
	return nil
}
