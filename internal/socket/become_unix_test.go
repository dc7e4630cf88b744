//go:build unix

package socket

import (
	"strconv"
	"syscall"
)

// become makes this process another user's.
func become(uid string) error {
	n, err := strconv.Atoi(uid)
	if err != nil {
		return err
	}
	return syscall.Setuid(n)
}
