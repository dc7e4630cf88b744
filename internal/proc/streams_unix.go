//go:build unix

package proc

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	readSize = 256 << 10
	// bigPipe is the capacity of a pipe once a command has shown that it writes much: readers
	// that read 256 KiB at a time then seldom wait for it. It is not set from the start, since
	// the total capacity of a user's pipes is limited.
	bigPipe = 1 << 20
	// drainLimit is more than a pipe can hold, so that everything written before the end is
	// read, but a process that could not be ended and keeps writing is not read forever.
	drainLimit = 2 * bigBuffer
	bigBuffer  = 1 << 20
)

var buffers = sync.Pool{New: func() any { b := make([]byte, readSize); return &b }}

// stream is the read end of one of a command's outputs.
type stream struct {
	fd   int // -1 for none
	to   func([]byte)
	open bool
	big  bool // the pipe has been grown, or cannot be
}

// streams are the two outputs of a command; on a pseudo terminal only the first is used.
type streams struct {
	outs     [2]stream
	terminal *terminal
	// pipes include the command's ends, open while it runs: that the command closes them, as
	// it does when it ends, is not reported.
	pipes []pipe
}

// open creates the pipes or the terminal and puts the command's ends into req.
func (p *Process) open(req *request) (*streams, error) {
	null, err := nullDevice()
	if err != nil {
		return nil, err
	}
	s := &streams{outs: [2]stream{{fd: -1}, {fd: -1}}}
	req.files = [3]int{null, null, null}
	if p.spec.Stdin != nil {
		req.files[0] = int(p.spec.Stdin.Fd())
	}
	if p.spec.terminal() {
		err = s.openTerminal(p, req)
	} else {
		err = s.openPipes(p, req)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *streams) openPipes(p *Process, req *request) error {
	for i, to := range [2]func([]byte){p.spec.Stdout, p.spec.Stderr} {
		if to == nil && p.spec.IdleTimeout == 0 {
			continue // straight to the null device
		}
		pipe, err := makePipe()
		if err != nil {
			return err
		}
		s.outs[i] = stream{fd: pipe.r, to: to, open: true}
		s.pipes = append(s.pipes, pipe)
		req.files[i+1] = pipe.w
	}
	return nil
}

func (s *streams) openTerminal(p *Process, req *request) error {
	t, err := newTerminal(p.spec.Interactive)
	if err != nil {
		return err
	}
	s.terminal, p.terminal = t, t
	s.outs[0] = stream{fd: t.master, to: p.spec.Stdout, open: true, big: true}
	req.files[1], req.files[2] = t.slave, t.slave
	if p.spec.Interactive {
		req.files[0], req.terminal = t.slave, []int{t.slave, t.outer.fd}
	}
	return nil
}

func (s *streams) close() {
	if s.terminal != nil {
		s.terminal.close()
	}
	for _, pipe := range s.pipes {
		pipe.close()
	}
}

// pump reads output and reports of the tree until the tree is gone, drains the pipes, and
// publishes the end.
func (p *Process) pump(s *streams, t watched) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	stop := p.attach(s)
	var r report
	t.known(&r) // what came with the news of the start wakes nobody
	p.heed(s, &r)
	fds := make([]unix.PollFd, 3, 5)
	var came pace
	for !r.gone {
		if s.terminal == nil { // which holds little, and would hold the command up
			came.rest()
		}
		fds = s.pollSet(fds[:0], t.fd())
		if _, err := unix.Poll(fds, p.terminal.patience()); err != nil && err != unix.EINTR {
			t.abandon(&r, fmt.Errorf("it could not be waited for: %w", err))
			break
		}
		var unread error
		for i := range s.outs {
			if fds[i].Revents&^unix.POLLOUT != 0 {
				n, err := p.read(&s.outs[i], *buf)
				came.read(n, time.Now())
				unread = cmp.Or(unread, err)
			}
		}
		if unread != nil {
			t.abandon(&r, unread)
			break
		}
		if fds[2].Revents != 0 {
			t.receive(&r)
			p.heed(s, &r)
		}
		if len(fds) > 3 {
			p.rejoin()
			p.keys(s.terminal, fds[3].Revents != 0)
		}
	}
	p.release()
	for i := range s.outs {
		if err := p.drain(&s.outs[i], *buf); err != nil {
			r.lose(err)
		}
	}
	stop()
	if len(r.survivors) > 0 {
		leftBefore.Store(true)
	}
	if p.spec.KeepBackground {
		discard(s)
	} else {
		s.close()
	}
	t.release(&r)
	yield()
	runtime.KeepAlive(p.spec.Stdin)
	p.finish(r)
}

// heed acts on what the tree has reported.
func (p *Process) heed(s *streams, r *report) {
	if r.end != nil && !p.over {
		p.commandEnded()
	}
	if r.stopped && r.end == nil && s.terminal != nil && s.terminal.outer != nil {
		p.stopWithCommand(s.terminal)
	}
	r.stopped = false
}

// pollSet returns what to wait for: both outputs, the tree, and the keys if the command is
// interactive. poll skips negative descriptors.
func (s *streams) pollSet(fds []unix.PollFd, tree int) []unix.PollFd {
	for i := range s.outs {
		fd := -1
		if s.outs[i].open {
			fd = s.outs[i].fd
		}
		fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	fds = append(fds, unix.PollFd{Fd: int32(tree), Events: unix.POLLIN})
	if s.terminal != nil && s.terminal.outer != nil {
		keys, master := s.terminal.outer.events()
		fds[0].Events = master
		fds = append(fds,
			unix.PollFd{Fd: int32(keys), Events: unix.POLLIN},
			unix.PollFd{Fd: int32(s.terminal.outer.wake[0]), Events: unix.POLLIN})
	}
	return fds
}

// read delivers the result of one read and returns its length. At the end of the output it
// closes the stream to further reads. The error means that there may be output that cannot be
// read, so its content is unknown.
func (p *Process) read(s *stream, buf []byte) (int, error) {
	n, err := unix.Read(s.fd, buf)
	for err == unix.EINTR {
		n, err = unix.Read(s.fd, buf)
	}
	switch {
	case err == unix.EAGAIN:
		return 0, nil
	case err == unix.EIO && p.spec.terminal(): // so a terminal ends
		s.open = false
		return 0, nil
	case err != nil:
		s.open = false
		return 0, fmt.Errorf("its output could not be read: %w", err)
	case n <= 0:
		s.open = false
		return 0, nil
	}
	if n >= Busy && !s.big {
		s.big = true
		growPipe(s.fd, bigPipe)
	}
	p.deliver(s.to, buf[:n])
	return n, nil
}

func (p *Process) drain(s *stream, buf []byte) error {
	for total := 0; s.open && total < drainLimit; {
		n, err := p.read(s, buf)
		if n == 0 || err != nil {
			return err
		}
		total += n
	}
	return nil
}

// discard reads the output of processes that are kept, so that they do not die or block at the
// next line they print.
func discard(s *streams) {
	for _, pipe := range s.pipes {
		unix.Close(pipe.w)
	}
	for i := range s.outs {
		if s.outs[i].fd < 0 {
			continue
		}
		go func(f *os.File) {
			defer f.Close()
			buf := make([]byte, 4096)
			for {
				if n, err := f.Read(buf); n <= 0 || err != nil {
					return
				}
			}
		}(os.NewFile(uintptr(s.outs[i].fd), "output"))
	}
	if s.terminal != nil {
		s.terminal.closeOuter()
		s.terminal.closeSlave()
	}
}
