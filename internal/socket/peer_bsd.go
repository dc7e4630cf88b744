//go:build darwin || freebsd

package socket

import (
	"net"

	"golang.org/x/sys/unix"
)

// credentials returns whose process connected, as it was at that moment.
func credentials(nc net.Conn) (Peer, error) {
	peer := Peer{UID: -1}
	err := control(nc, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err == nil {
			peer = Peer{PID: peerPID(fd), UID: int(cred.Uid)}
		}
		return err
	})
	return peer, err
}
