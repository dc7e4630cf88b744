//go:build unix && !netbsd && !openbsd && !solaris && !illumos && !aix

package many

import "golang.org/x/sys/unix"

// free returns the space on a folder's disk that an ordinary user can still use, in bytes.
func free(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // the types differ between systems
}
