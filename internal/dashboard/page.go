// Package dashboard shows runs in a browser on this machine, and takes answers there.
//
// The page is for the person who started the runs, and for nobody else: it listens on
// the loopback interface only, and every request carries a token that only who started
// it knows. A write from below a run is refused, whatever it carries. What a command printed, and what anybody wrote, is text on it. Nothing is
// loaded from elsewhere.
package dashboard

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/origin"
)

// Actions are what the page can do with a run beside showing it. Each is given the
// run's directory.
type Actions struct {
	// Answer answers a question as looprun answer does. The string says what became of
	// it.
	Answer func(ctx context.Context, dir string, a ask.ShortAnswer) (string, error)
	// Order tells a run that goes on something: words are those of [core.OrderSay].
	Order func(ctx context.Context, dir string, order core.Order, words string) (string, error)
	// Resume goes on with a run, in the background.
	Resume func(ctx context.Context, dir string) (string, error)
}

// Options say what a server shows.
type Options struct {
	// Port is the one to listen on; zero is a free one.
	Port int
	// Dirs are the state directories, looked up anew from time to time.
	Dirs func() []string
	// Explain says why a run ended as it did, as text. Nil: the page does not offer it.
	Explain func(dir string) (string, error)
	// Actions is nil for a page that can only be read: it then has no way to write.
	Actions *Actions
	// Every is how often the runs are looked at; zero is half a second.
	Every time.Duration
}

// Server is the page of some state directories.
type Server struct {
	o       Options
	token   string      // for who read the address, or has redeemed a ticket
	shown   string      // for who read it on the terminal, where no command can read it
	code    origin.Word // for which shown is given
	who     func(*http.Request) origin.Origin
	hosts   map[string]bool
	runs    *index
	views   views
	tails   tails
	reports tickets
	entries tickets // for the page itself
	entered func()  // is called when a ticket for the page has been redeemed
	streams semaphore
	within  within
	bell    *bell // rings when the list of runs has changed
	ln      net.Listener
}

// How much of anything there is at once. A browser has one stream a tab.
const (
	maxConnections = 256
	maxStreams     = 64
	maxHeader      = 16 << 10
	maxBody        = 64 << 10
)

// within is how long a client may take to send the head of a request, to send all of
// it, and to take what is written.
type within struct{ head, request, write time.Duration }

// Listen opens the port. Nobody is served before Serve.
func Listen(o Options) (*Server, error) {
	ln, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return nil, fmt.Errorf("port %d cannot be used: %w", o.Port, err)
	}
	if o.Every == 0 {
		o.Every = 500 * time.Millisecond
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	s := &Server{
		o: o, ln: &boundedListener{Listener: ln, most: maxConnections}, token: secret(), shown: secret(), who: clientOf, entered: func() {},
		hosts:   map[string]bool{"127.0.0.1:" + port: true, "localhost:" + port: true},
		runs:    newIndex(o.Dirs),
		views:   views{writable: o.Actions != nil, explains: o.Explain != nil},
		streams: newSemaphore(maxStreams),
		within:  within{5 * time.Second, 10 * time.Second, 10 * time.Second},
		bell:    newBell(),
	}
	return s, nil
}

// secret is 256 random bits, for an address.
func secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it ends the program where there is no randomness
	return base64.RawURLEncoding.EncodeToString(b)
}

// Address is where the page is, without its token.
func (s *Server) Address() string { return "http://" + s.ln.Addr().String() + "/" }

// URL is the address with a token, in the part of it that a browser sends nowhere. The token
// for an address on a terminal is good for a write whose origin is not known.
func (s *Server) URL(onTerminal bool) string {
	token := s.token
	if onTerminal {
		token = s.shown
	}
	return s.Address() + "#token=" + token
}

// Code makes the code by which a browser is let in whose origin is not known. It is for a
// terminal and for nothing that a command can read. Without this call there is none.
func (s *Server) Code() string { return s.code.Make() }

// Ticket is an address that gives a browser its token once, within a minute. It may be written
// to a file: a command below a run cannot redeem it. done is called when the ticket is of no
// use any more.
func (s *Server) Ticket(done func()) string {
	s.entered = sync.OnceFunc(done)
	time.AfterFunc(ticketFor, s.entered)
	return s.Address() + "#ticket=" + s.entries.issue("page", time.Now())
}

// Serve serves until the context ends. It closes the port.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: s.within.head, ReadTimeout: s.within.request,
		IdleTimeout: time.Minute, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connection{}, c) },
		ErrorLog:    silent(),
	}
	var watching sync.WaitGroup
	watching.Go(func() { s.watch(ctx) })
	defer watching.Wait()
	over := make(chan error, 1)
	go func() { over <- server.Serve(s.ln) }()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if server.Shutdown(closing) != nil {
		_ = server.Close()
	}
	if err := <-over; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// watch looks at the runs while somebody looks at the page, and before: who comes first
// need not wait.
func (s *Server) watch(ctx context.Context) {
	if s.runs.refresh(0) {
		s.bell.ring()
	}
	tick := time.NewTicker(s.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.streams.taken() > 0 && s.runs.refresh(0) {
			s.bell.ring()
		}
	}
}

// resumable reports whether a run needs no more than looprun resume.
func resumable(status core.Status, asks, alive bool) bool {
	return !alive && !asks && (status == core.StatusCrashed || status.Resumable())
}
