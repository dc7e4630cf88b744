package outlet

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// again opens the file a second time, so that writing to it never blocks, without changing the
// original descriptor, which others share. It returns -1 if that is not possible.
func again(file *os.File) int {
	fd, err := unix.Open("/proc/self/fd/"+strconv.Itoa(int(file.Fd())), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	var a, b unix.Stat_t
	if unix.Fstat(fd, &a) != nil || unix.Fstat(int(file.Fd()), &b) != nil || a.Dev != b.Dev || a.Ino != b.Ino || a.Rdev != b.Rdev {
		unix.Close(fd)
		return -1
	}
	return fd
}

// offer writes what the file accepts immediately, and returns the rest. Errors are left to
// whoever writes the rest.
func (o *Outlet) offer(b []byte) []byte {
	for o.fd >= 0 && len(b) > 0 {
		n, err := unix.Write(o.fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		b = b[n:]
	}
	return b
}
