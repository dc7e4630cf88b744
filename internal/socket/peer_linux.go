package socket

import (
	"net"

	"golang.org/x/sys/unix"
)

// credentials returns whose process connected, as it was at that moment.
func credentials(nc net.Conn) (Peer, error) {
	peer := Peer{UID: -1}
	err := control(nc, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			peer = Peer{PID: int(cred.Pid), UID: int(cred.Uid)}
		}
		return err
	})
	return peer, err
}
