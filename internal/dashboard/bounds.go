package dashboard

import (
	"compress/gzip"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// boundedListener keeps a bounded number of connections. One more closes the oldest that has
// not sent a token, so half-open connections keep nobody out.
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

// add counts a connection, and returns the one to close to make room for it: the new one
// itself if all others have sent a token.
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

// keep records that the connection has sent a token.
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

// compressed sends a reply in gzip, unless its length is known already or all writers are in use.
type compressed struct {
	http.ResponseWriter
	zip   *gzip.Writer // nil: it is sent as it is
	begun bool
}

// zips holds the writers that are not in use. There are few: once used, each has a megabyte of
// tables, and a stream keeps one until it ends.
var zips = sync.OnceValue(func() chan *gzip.Writer {
	all := make(chan *gzip.Writer, 8)
	for range cap(all) {
		z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
		all <- z
	}
	return all
})

// compressing lets a handler's replies be compressed for clients that accept that.
func compressing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			next.ServeHTTP(w, r)
			return
		}
		c := &compressed{ResponseWriter: w}
		defer func() {
			if c.zip != nil {
				_ = c.zip.Close() // the client may have left
				zips() <- c.zip
			}
		}()
		next.ServeHTTP(c, r)
	})
}

func (c *compressed) WriteHeader(code int) {
	if h := c.Header(); !c.begun && h.Get("Content-Length") == "" {
		select {
		case c.zip = <-zips():
			h.Set("Content-Encoding", "gzip")
			c.zip.Reset(c.ResponseWriter)
		default:
		}
	}
	c.begun = true
	c.ResponseWriter.WriteHeader(code)
}

func (c *compressed) Write(b []byte) (int, error) {
	if !c.begun {
		c.WriteHeader(http.StatusOK)
	}
	if c.zip == nil {
		return c.ResponseWriter.Write(b)
	}
	return c.zip.Write(b)
}

// FlushError sends what was written; [http.ResponseController] calls it.
func (c *compressed) FlushError() error {
	if c.zip != nil {
		if err := c.zip.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(c.ResponseWriter).Flush()
}

// Unwrap lets [http.ResponseController] set deadlines.
func (c *compressed) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// silent returns a logger that drops net/http's messages about misbehaving clients.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }

// bell notifies all waiters that something has changed.
type bell struct {
	mu   sync.Mutex
	rung chan struct{}
}

func newBell() *bell { return &bell{rung: make(chan struct{})} }

// next returns a channel that is closed when the bell next rings.
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

// tickets are addresses that work once, for a minute: the token cannot be passed to a new tab
// in a header.
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

// issue creates a ticket for a run; empty if there are too many.
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
	name := random()
	t.dirs[name] = ticket{dir, now.Add(ticketFor)}
	return name
}

// take uses up a ticket and returns its run; empty if there is no such ticket.
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
