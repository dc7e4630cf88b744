//go:build unix

package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipe carries a command's output. The command has w.
type pipe struct{ r, w int }

// makePipe returns a pipe whose reading end does not block, since another process may read the
// bytes.
func makePipe() (pipe, error) {
	r, w, err := newPipe()
	if err != nil {
		return pipe{}, os.NewSyscallError("pipe", err)
	}
	if _, err := unix.FcntlInt(uintptr(r), unix.F_SETFL, unix.O_NONBLOCK); err != nil {
		pipe{r, w}.close()
		return pipe{}, os.NewSyscallError("fcntl", err)
	}
	return pipe{r, w}, nil
}

func (p pipe) close() {
	unix.Close(p.r)
	unix.Close(p.w)
}
