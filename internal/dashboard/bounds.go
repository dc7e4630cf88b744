package dashboard

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// connections keeps a bounded number of connections. One more closes the oldest that has not sent
// a token, so half-open connections keep nobody out.
type connections struct {
	mu          sync.Mutex
	fresh, kept []net.Conn // those that have sent no token and those that have, in the order in which they came
}

// turned is told of each connection that begins or ends. The one that is closed to make room is the
// new one itself if all others have sent a token.
func (c *connections) turned(conn net.Conn, to http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch to {
	case http.StateNew:
		c.fresh = append(c.fresh, conn)
		if len(c.fresh)+len(c.kept) > maxConnections {
			_ = c.fresh[0].Close()
			c.fresh = c.fresh[1:]
		}
	case http.StateClosed:
		is := func(other net.Conn) bool { return other == conn }
		c.fresh, c.kept = slices.DeleteFunc(c.fresh, is), slices.DeleteFunc(c.kept, is)
	}
}

// keep records that a connection has sent a token.
func (c *connections) keep(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.fresh, conn); i >= 0 {
		c.fresh, c.kept = slices.Delete(c.fresh, i, i+1), append(c.kept, conn)
	}
}

// zips holds writers that are not in use: each has a megabyte of tables.
var zips = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return z
}}

// small is the size in bytes below which a document fits a packet, so it is not compressed.
const small = 1400

// send sends a document, in gzip to a client that reads that.
func send(w http.ResponseWriter, r *http.Request, kind string, b []byte) {
	w.Header().Set("Content-Type", kind)
	if len(b) >= small && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var zipped bytes.Buffer
		z := zips.Get().(*gzip.Writer)
		z.Reset(&zipped)
		_, wrong := z.Write(b)
		if cmp.Or(wrong, z.Close()) == nil {
			w.Header().Set("Content-Encoding", "gzip")
			b = zipped.Bytes()
		}
		zips.Put(z)
	}
	_, _ = w.Write(b) // the client may have left
}

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
	mu  sync.Mutex
	all map[string]ticket
}

type ticket struct {
	open  http.HandlerFunc // what is at the address
	until time.Time
}

const (
	ticketFor  = time.Minute
	maxTickets = 100
)

// issue creates a ticket; empty if there are too many.
func (t *tickets) issue(open http.HandlerFunc, now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.all, func(_ string, old ticket) bool { return now.After(old.until) })
	if len(t.all) >= maxTickets {
		return ""
	}
	if t.all == nil {
		t.all = map[string]ticket{}
	}
	name := random()
	t.all[name] = ticket{open, now.Add(ticketFor)}
	return name
}

// take uses up a ticket, and returns what is at its address; nil if there is no such ticket.
func (t *tickets) take(name string, now time.Time) http.HandlerFunc {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.all[name]
	delete(t.all, name)
	if now.After(found.until) {
		return nil
	}
	return found.open
}
