//go:build !unix

package socket

import (
	"os"
	"syscall"
)

// noUnixSockets is what Windows says where it has none (WSAEAFNOSUPPORT).
const noUnixSockets = syscall.Errno(10047)

// owned is never true: XDG_RUNTIME_DIR is not a custom of these systems.
func owned(os.FileInfo) bool { return false }
