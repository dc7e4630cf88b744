//go:build linux || darwin || freebsd

package socket

import (
	"cmp"
	"fmt"
	"net"
	"syscall"
)

// control calls f with the descriptor of the connection.
func control(nc net.Conn, f func(fd int) error) error {
	var inner error
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return fmt.Errorf("a connection of the type %T has no credentials", nc)
	}
	raw, err := sc.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { inner = f(int(fd)) })
	}
	if err = cmp.Or(err, inner); err != nil {
		return fmt.Errorf("the system does not identify the sender: %w", err)
	}
	return nil
}
