//go:build unix

package proc

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// pipe carries a command's output. The command has w.
type pipe struct{ r, w int }

// pipes are created and closed while a command runs: between two commands there is no time for
// it.
var pipes struct {
	mu    sync.Mutex
	spare []pipe
	used  []pipe
}

// sparePipes is how many are created in advance: a command has two outputs.
const sparePipes = 2

// takePipe returns a pipe whose reading end does not block, since another process may read the
// bytes.
func takePipe() (pipe, error) {
	pipes.mu.Lock()
	defer pipes.mu.Unlock()
	if n := len(pipes.spare); n > 0 {
		p := pipes.spare[n-1]
		pipes.spare = pipes.spare[:n-1]
		return p, nil
	}
	return makePipe()
}

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

// closeLater closes a pipe that nobody else has, when there is time.
func (p pipe) closeLater() {
	pipes.mu.Lock()
	pipes.used = append(pipes.used, p)
	pipes.mu.Unlock()
}

// changePipes closes the used pipes and creates the next ones. If none can be created, that is
// reported when they are needed.
func changePipes() {
	pipes.mu.Lock()
	defer pipes.mu.Unlock()
	closeAll(&pipes.used)
	for len(pipes.spare) < sparePipes {
		p, err := makePipe()
		if err != nil {
			return
		}
		pipes.spare = append(pipes.spare, p)
	}
}

func closePipes() {
	pipes.mu.Lock()
	defer pipes.mu.Unlock()
	closeAll(&pipes.used)
	closeAll(&pipes.spare)
}

func closeAll(list *[]pipe) {
	for _, p := range *list {
		p.close()
	}
	*list = (*list)[:0]
}
