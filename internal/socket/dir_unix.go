//go:build unix

package socket

import (
	"os"
	"syscall"
)

// noUnixSockets is what the system says where it has none.
const noUnixSockets = syscall.EAFNOSUPPORT

// owned reports whether the file is this user's.
func owned(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
