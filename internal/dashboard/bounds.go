package dashboard

import (
	"io"
	"log"
	"net"
	"slices"
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

// boundedListener keeps so many connections at once. One more ends the oldest that has not
// brought a token: half-open ones keep nobody out.
type boundedListener struct {
	net.Listener
	most int
	mu   sync.Mutex
	all  []*boundedConn // in the order in which they came
}

func (l *boundedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	b := &boundedConn{Conn: c, of: l}
	if old := l.add(b); old != nil {
		_ = old.Close()
	}
	return b, nil
}

// add counts a connection, and returns the one that has to make room for it: itself where all
// others have brought a token.
func (l *boundedListener) add(c *boundedConn) (old *boundedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, c)
	if len(l.all) <= l.most {
		return nil
	}
	return l.all[slices.IndexFunc(l.all, func(c *boundedConn) bool { return !c.kept })]
}

type boundedConn struct {
	net.Conn
	of   *boundedListener
	kept bool
}

// keep says that the connection has brought a token.
func (c *boundedConn) keep() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.kept = true
}

func (c *boundedConn) Close() error {
	c.of.mu.Lock()
	c.of.all = slices.DeleteFunc(c.of.all, func(other *boundedConn) bool { return other == c })
	c.of.mu.Unlock()
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
