// Package dashboard shows runs in a browser on this machine, and accepts answers there.
//
// The page is only for the person who started the runs: it listens on the loopback interface
// only, and every request needs a token that a browser gets for what only this person knows. A
// write from below a run is rejected even with a token. Command output, and anything that anybody
// wrote, is text on the page. Nothing is loaded from elsewhere.
package dashboard

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/origin"
)

// Actions are what the page can do with a run besides showing it. Each receives the run's
// directory.
type Actions struct {
	// Answer answers a question as looprun answer does. The string describes the outcome.
	Answer func(ctx context.Context, dir string, a ask.ShortAnswer) (string, error)
	// Order sends an order to an active run; words are those of [core.OrderSay].
	Order func(ctx context.Context, dir string, order core.Order, words string) (string, error)
	// Resume resumes a run, in the background.
	Resume func(ctx context.Context, dir string) (string, error)
}

// Options configure a server.
type Options struct {
	// Port is the port to listen on; zero means any free one.
	Port int
	// Hosts are further names of the server, as a browser sends them: those that a proxy or a
	// forwarded port has.
	Hosts []string
	// Devices is the directory with the paired devices; if empty, none is kept.
	Devices string
	// Say tells the person who started the server something. Terminal means that only a person
	// sees it, so it may be a code.
	Say      func(line string)
	Terminal bool
	// Dirs returns the state directories; it is called again from time to time.
	Dirs func() []string
	// Explain explains, as text, why a run ended as it did.
	Explain func(dir string) (string, error)
	// Diff returns what an iteration changed, as looprun diff prints it, or the beginning of
	// that.
	Diff func(ctx context.Context, dir string, iteration int) (text string, whole bool, err error)
	// Actions is nil for a read-only page, which then has no way to write.
	Actions *Actions
}

// Server serves the page of some state directories.
type Server struct {
	o       Options
	token   string // of the printed address
	shown   bool   // that address is on a terminal, where no command can read it
	code    pairing
	devices devices
	// secret makes the browsers' tokens, and their keys sign challenge.
	secret, challenge string

	who     func(*http.Request) origin.Origin
	hosts   map[string]bool
	runs    *index
	views   views
	tails   tails
	opens   tickets // for reports and logs
	entries tickets // for the page itself
	conns   connections
	streams chan struct{} // has one for each open stream
	within  within
	bell    *bell // rings when the list of runs has changed
	ln      net.Listener
}

// refreshEvery is how often the runs are checked.
const refreshEvery = 500 * time.Millisecond

// How many of each may exist at once. A browser has one stream a tab.
const (
	maxConnections = 256
	maxStreams     = 64
	maxHeader      = 16 << 10
	maxBody        = 64 << 10
)

// within is how long a client may take to send a request's headers, to send the whole request,
// to receive what is written, and to have its answer when the server ends.
type within struct{ head, request, write, end time.Duration }

// Listen opens the port. Requests are served only after Serve is called.
func Listen(o Options) (*Server, error) {
	ln, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return nil, fmt.Errorf("port %d cannot be used: %w", o.Port, err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	s := &Server{
		o: o, ln: ln, who: clientOf,
		token: random(), secret: random(), challenge: random(), devices: devices{dir: o.Devices},
		hosts:   map[string]bool{"127.0.0.1:" + port: true, "localhost:" + port: true},
		runs:    newIndex(o.Dirs),
		views:   views{writable: o.Actions != nil},
		tails:   tails{all: map[tailOf]keptTail{}},
		streams: make(chan struct{}, maxStreams),
		within:  within{5 * time.Second, 10 * time.Second, 10 * time.Second, time.Second},
		bell:    newBell(),
	}
	for _, name := range o.Hosts {
		if of, err := url.Parse("http://" + name); err != nil || of.Host != name || of.Hostname() == "" || strings.Contains(name, "*") {
			ln.Close()
			return nil, fmt.Errorf("--host %q: it must be a name, or NAME:PORT, as in the address that the browser shows", name)
		}
		s.hosts[strings.ToLower(name)] = true
	}
	return s, nil
}

// random returns 256 random bits, for an address.
func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it ends the program where there is no randomness
	return base64.RawURLEncoding.EncodeToString(b)
}

// Address returns the page's address, without a token.
func (s *Server) Address() string { return "http://" + s.ln.Addr().String() + "/" }

// URL returns the address with a token, in the part that browsers never send. On a terminal it
// also lets browsers of unknown origin in.
func (s *Server) URL(onTerminal bool) string {
	s.shown = onTerminal
	return s.Address() + "#token=" + s.token
}

// Ticket returns an address that lets one browser in, within a minute. It may be written to a
// file: a command below a run cannot redeem it. done is called when it is no longer valid.
func (s *Server) Ticket(done func()) string {
	done = sync.OnceFunc(done)
	time.AfterFunc(ticketFor, done)
	entered := func(http.ResponseWriter, *http.Request) { done() }
	return s.Address() + "#token=" + s.entries.issue(entered, time.Now())
}

// Serve serves requests until the context ends, then closes the port.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: s.within.head, ReadTimeout: s.within.request,
		IdleTimeout: time.Minute, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connection{}, c) },
		ConnState:   s.conns.turned,
		ErrorLog:    log.New(io.Discard, "", 0), // it tells of clients that misbehave
	}
	go s.watch(ctx)
	defer context.AfterFunc(ctx, func() { _ = s.ln.Close() })()
	if err := server.Serve(s.ln); ctx.Err() == nil {
		return err
	}
	time.AfterFunc(s.within.end, func() { _ = server.Close() })
	return server.Shutdown(context.WithoutCancel(ctx))
}

// watch refreshes the runs while somebody views the page, and once before, so that the first
// viewer need not wait.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		if (first || len(s.streams) > 0) && s.runs.refresh(0) {
			s.bell.ring()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
