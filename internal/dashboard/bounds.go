package dashboard

import (
	"io"
	"log"
	"net"
	"sync"
	"time"
)

// semaphore bounds how many of something there are at once.
type semaphore chan struct{}

func newSemaphore(n int) semaphore { return make(semaphore, n) }

// try takes one; false: there is none.
func (s semaphore) try() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s semaphore) release() { <-s }

func (s semaphore) taken() int { return len(s) }

// boundedListener accepts so many connections at once; more wait in the system's queue.
type boundedListener struct {
	net.Listener
	free semaphore
}

func (l *boundedListener) Accept() (net.Conn, error) {
	l.free <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		l.free.release()
		return nil, err
	}
	return &boundedConn{Conn: c, release: sync.OnceFunc(l.free.release)}, nil
}

type boundedConn struct {
	net.Conn
	release func()
}

func (c *boundedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// silent is for what net/http says of clients that misbehave: nobody reads it.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }

// bell tells all who wait that something has changed.
type bell struct {
	mu   sync.Mutex
	rung chan struct{}
}

func newBell() *bell { return &bell{rung: make(chan struct{})} }

// next is closed when it rings the next time.
func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.rung)
	b.rung = make(chan struct{})
}

// tickets are addresses that work once, for a minute: a new tab cannot be given the
// token in a header.
type tickets struct {
	mu   sync.Mutex
	dirs map[string]ticket
}

type ticket struct {
	dir   string
	until time.Time
}

const (
	ticketFor  = time.Minute
	maxTickets = 100
)

// issue makes a ticket for a run; empty: there are too many.
func (t *tickets) issue(dir string, now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, old := range t.dirs {
		if now.After(old.until) {
			delete(t.dirs, name)
		}
	}
	if len(t.dirs) >= maxTickets {
		return ""
	}
	if t.dirs == nil {
		t.dirs = map[string]ticket{}
	}
	name := secret()
	t.dirs[name] = ticket{dir, now.Add(ticketFor)}
	return name
}

// take is the run of a ticket, which is used up; empty: there is no such ticket.
func (t *tickets) take(name string, now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.dirs[name]
	delete(t.dirs, name)
	if !ok || now.After(found.until) {
		return ""
	}
	return found.dir
}
