//go:build unix

package socket

import (
	"context"
	"encoding/json"
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

// withoutFiles starts a server where no further file can be opened.
func withoutFiles() error {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{}); err != nil {
		return err
	}
	_, err := Listen(Options{Handle: func(context.Context, Peer, string, json.RawMessage) (any, error) { return nil, nil }})
	return err
}
