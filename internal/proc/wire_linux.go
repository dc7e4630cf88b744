package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Messages between a program and its guardian: each has a length of four bytes, a kind and a
// body. Both ends are the same executable.
const (
	// To the guardian.
	msgSpawn   = 's' // start a command; comes with three descriptors, or with two more for terminals
	msgEnd     = 'e' // signal and time until SIGKILL
	msgKill    = 'k'
	msgSuspend = 'z'
	msgResume  = 'c'
	msgNotify  = 'n' // a signal for the command's group
	msgSweep   = 'w' // end what was kept: time until SIGKILL

	// From the guardian.
	msgStarted = 'S' // process id
	msgFailed  = 'F' // errno
	msgExited  = 'X' // how the command ended
	msgGone    = 'G' // nothing is left: leftover, survivors
	msgHeard   = 'H' // it was told to end the command, or to kill it
	msgStopped = 'T' // the command was stopped from its terminal
)

const headerSize = 5

var (
	errBadMessage = errors.New("guardian: malformed message")
	errHungUp     = errors.New("guardian: connection closed")
)

// message is a message being written.
type message []byte

func newMessage(kind byte) message { return message{0, 0, 0, 0, kind} }

func (m message) num(n int64) message { return message(binary.LittleEndian.AppendUint64(m, uint64(n))) }

func (m message) text(s string) message {
	return append(binary.LittleEndian.AppendUint32(m, uint32(len(s))), s...)
}

func (m message) list(l []string) message {
	m = binary.LittleEndian.AppendUint32(m, uint32(len(l)))
	for _, s := range l {
		m = m.text(s)
	}
	return m
}

func (m message) seal() []byte {
	binary.LittleEndian.PutUint32(m, uint32(len(m)-headerSize))
	return m
}

// body is a message being read. Past its end everything reads as zero, and short is set.
type body struct {
	rest  string
	short bool
}

func (b *body) take(n int) string {
	if uint(n) > uint(len(b.rest)) {
		b.short = true
		b.rest = ""
		return ""
	}
	s := b.rest[:n]
	b.rest = b.rest[n:]
	return s
}

func (b *body) num() int64 {
	s := b.take(8)
	if b.short {
		return 0
	}
	return int64(binary.LittleEndian.Uint64([]byte(s)))
}

func (b *body) count() int {
	s := b.take(4)
	if b.short {
		return 0
	}
	return int(binary.LittleEndian.Uint32([]byte(s)))
}

func (b *body) text() string { return b.take(b.count()) }

func (b *body) list() []string {
	n := min(b.count(), len(b.rest)/4+1) // of so many, one is short
	l := make([]string, 0, n)
	for range n {
		l = append(l, b.text())
	}
	return l
}

// wire is one end of the connection.
type wire struct {
	fd    int
	in    []byte // received and not yet taken
	empty int    // receives in a row that brought nothing, though there was something
	fds   []int  // descriptors received and not yet taken
	space []byte // for one receive
}

func newWire(fd int) *wire { return &wire{fd: fd, space: make([]byte, 16<<10)} }

// send writes a message in full. Descriptors are sent with its first byte.
func (w *wire) send(b []byte, fds ...int) error {
	rights := unix.UnixRights(fds...)
	for len(b) > 0 {
		n, err := unix.SendmsgN(w.fd, b, rights, nil, unix.MSG_NOSIGNAL)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return fmt.Errorf("%w: %w", errHungUp, err)
		}
		b, rights = b[n:], nil
	}
	return nil
}

// emptyLimit is how many times in a row a connection that is reported as readable may turn out
// to be empty.
const emptyLimit = 1000

// receive reads what has arrived, after poll has reported that something has. It does not wait,
// and returns nil if there is nothing after all.
func (w *wire) receive() error {
	var oob [64]byte
	n, oobn, _, _, err := unix.Recvmsg(w.fd, w.space, oob[:], unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	switch {
	case err == unix.EAGAIN:
		if w.empty++; w.empty > emptyLimit {
			return err
		}
		return nil
	case err != nil || n == 0:
		return errHungUp
	}
	w.empty = 0
	w.in = append(w.in, w.space[:n]...)
	msgs, _ := unix.ParseSocketControlMessage(oob[:oobn]) // a request without its descriptors is malformed
	for i := range msgs {
		fds, _ := unix.ParseUnixRights(&msgs[i])
		w.fds = append(w.fds, fds...)
	}
	return nil
}

// next returns the next complete message that has been received.
func (w *wire) next() (kind byte, b body, ok bool) {
	if len(w.in) < headerSize {
		return 0, body{}, false
	}
	end := headerSize + int(binary.LittleEndian.Uint32(w.in))
	if len(w.in) < end {
		return 0, body{}, false
	}
	kind, b.rest = w.in[4], string(w.in[headerSize:end])
	w.in = append(w.in[:0], w.in[end:]...)
	return kind, b, true
}

// spawnMessage and readSpawn carry a request; its descriptors are sent alongside. The message
// is built in space if that is large enough.
func spawnMessage(space []byte, r *request) []byte {
	m := append(message(space[:0]), newMessage(msgSpawn)...)
	keep := int64(0)
	if r.keep {
		keep = 1
	}
	return m.num(int64(r.killAfter)).num(int64(r.foreign)).num(keep).text(r.path).text(r.dir).list(r.argv).list(r.env).seal()
}

func readSpawn(b body, fds []int) (r request, err error) {
	r.killAfter, r.foreign = time.Duration(b.num()), time.Duration(b.num())
	r.keep = b.num() != 0
	r.path, r.dir, r.argv, r.env = b.text(), b.text(), b.list(), b.list()
	n := len(r.files)
	if b.short || len(fds) != n && len(fds) != n+2 {
		return r, errBadMessage
	}
	if copy(r.files[:], fds); len(fds) > n {
		r.terminal = fds[n:]
	}
	return r, nil
}

func (e *ended) message(asked bool) message {
	told := int64(0)
	if asked {
		told = 1
	}
	return newMessage(msgExited).num(int64(e.code)).num(int64(e.signal)).num(told)
}

func (r *report) goneMessage() message {
	m := newMessage(msgGone).num(int64(r.leftover)).num(int64(len(r.survivors)))
	for _, s := range r.survivors {
		m = m.num(int64(s.Pid)).num(int64(s.User)).text(s.Name)
	}
	return m
}

// take updates the report with one message of the guardian. An unreadable message is an error,
// not an end with the code zero.
func (r *report) take(kind byte, b body) error {
	switch kind {
	case msgHeard:
	case msgStopped:
		r.stopped = true
	case msgExited:
		e := &ended{code: int(b.num()), signal: unix.Signal(b.num())}
		r.asked = b.num() != 0
		if !b.short {
			r.end = e
		}
	case msgGone:
		r.leftover = int(b.num())
		for range b.num() {
			s := Survivor{Pid: int(b.num()), User: int(b.num()), Name: b.text()}
			if b.short {
				break
			}
			r.survivors = append(r.survivors, s)
		}
		r.gone = !b.short
	default:
		return errBadMessage
	}
	if b.short {
		return errBadMessage
	}
	return nil
}
