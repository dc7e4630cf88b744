package socket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The defaults for zero [Options].
const (
	DefaultMaxMessage   = 1 << 20
	DefaultWriteTimeout = 10 * time.Second
	DefaultMaxClients   = 256
)

// lastWords is how long clients may take to read the last message when they are rejected, or
// when the server closes.
const lastWords = time.Second

// Peer is the process at the other end.
type Peer struct {
	PID int // 0 when the system does not say
	UID int // -1 when the system does not say
}

// Options configure a server. Only Handle is required.
type Options struct {
	// Handle handles a message: kind is its type, body the whole object. It is called from
	// many goroutines, but only one call per connection at a time. The reply is encoded as
	// JSON; an [*Error] reaches the client unchanged, any other error with [CodeFailed].
	//
	// ctx ends when the client is gone (cause [ErrClientGone]) or the server closes
	// ([ErrClosed]); Handle must return then. It can have ended before the call: a client need
	// not wait for the reply, and its message is valid all the same.
	Handle func(ctx context.Context, peer Peer, kind string, body json.RawMessage) (reply any, err error)
	// Trouble is called with a sentence, for a person, when something goes wrong with a
	// client; with only the first 20 troubles of each sort. Calls do not overlap. It must not
	// block: clients and [Server.Close] wait until it returns. Nil means no call.
	Trouble func(text string)
	// Dir is where the socket goes if no temporary directory is suitable: a directory that
	// only this user can enter. Empty means nowhere.
	Dir string
	// Lasting means that the socket goes into Dir if the path is short enough: the system
	// removes temporary directories, some at logout.
	Lasting bool
	// MaxMessage is the longest line a client may send, in bytes without the line break. A
	// client can be that far ahead of its replies, and 1,024 lines; then nothing more is read
	// from it until some are done. Zero means 1 MiB.
	MaxMessage int
	// WriteTimeout is how long a client may take to read a reply. Zero means 10 s.
	WriteTimeout time.Duration
	// MaxClients is how many clients may be connected at once. Zero means 256.
	MaxClients int
}

// Server listens until it is closed. Create it with [Listen].
type Server struct {
	options  Options
	path     string
	listener net.Listener
	troubles troubles

	ctx    context.Context // ends when the server closes
	cancel context.CancelCauseFunc
	work   sync.WaitGroup // every goroutine of the server

	closing sync.Once
	failure error // of Close

	mu    sync.Mutex // guards conns and the deadlines of their writes
	conns map[*conn]bool
}

// Listen starts a server on a new socket, in a new directory below $XDG_RUNTIME_DIR (if that
// is a directory of this user with mode 0700), the directory for temporary files, or /tmp: the
// first one in which the path is short enough for a socket. Close the server when the run
// ends.
func Listen(o Options) (*Server, error) {
	if o.Handle == nil {
		return nil, errors.New("socket: Options.Handle is required")
	}
	dir, err := makeDir(o.Dir, o.Lasting)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, socketName)
	listener, err := net.Listen("unix", path)
	if err == nil {
		// Until this, nobody else can reach into the directory.
		if err = os.Chmod(path, 0o600); err != nil {
			listener.Close()
		}
	}
	if err != nil {
		os.Remove(dir)
		return nil, fmt.Errorf("the socket of the run cannot be made: %w", err)
	}
	return start(o, path, listener), nil
}

func start(o Options, path string, listener net.Listener) *Server {
	o.MaxMessage, o.MaxClients = cmp.Or(o.MaxMessage, DefaultMaxMessage), cmp.Or(o.MaxClients, DefaultMaxClients)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, DefaultWriteTimeout)
	s := &Server{
		options: o, path: path, listener: listener,
		troubles: troubles{tell: o.Trouble}, conns: map[*conn]bool{},
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.work.Go(s.accept)
	return s
}

// Path returns the path to which clients connect. It has at most 103 bytes.
func (s *Server) Path() string { return s.path }

// Close ends all connections, waits until no handler is running, and removes the socket and
// its directory. Clients that wait for a reply receive the one that the handler returns within
// a second. Close can be called again, from anywhere but a handler.
func (s *Server) Close() error {
	s.closing.Do(func() {
		s.cancel(ErrClosed)
		err := s.listener.Close() // removes the socket too
		s.mu.Lock()
		for c := range s.conns {
			_ = c.nc.SetReadDeadline(time.Now())
			_ = c.nc.SetWriteDeadline(time.Now().Add(lastWords))
		}
		s.mu.Unlock()
		s.work.Wait()
		if err == nil {
			err = os.Remove(filepath.Dir(s.path))
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			s.failure = fmt.Errorf("the socket of the run cannot be removed: %w", err)
		}
	})
	return s.failure
}

// accept accepts connections until the server closes. A system error, such as too many open
// files, is temporary: accept reports it and retries.
func (s *Server) accept() {
	const shortest, longest = 5 * time.Millisecond, time.Second
	pause := shortest
	for {
		nc, err := s.listener.Accept()
		switch {
		case err == nil:
			pause = shortest
			s.welcome(nc)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			s.troubles.add("accept", fmt.Sprintf("A client could not connect to the socket of the run: %v. It is tried again.", err))
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(pause):
			}
			pause = min(2*pause, longest)
		}
	}
}

// welcome starts serving a client, or rejects it.
func (s *Server) welcome(nc net.Conn) {
	peer, err := credentials(nc)
	if peer.UID >= 0 && peer.UID != os.Geteuid() {
		err = fmt.Errorf("it belongs to user %d", peer.UID)
	}
	if err != nil {
		s.troubles.add("refused", fmt.Sprintf("%s was refused: %v.", subject(peer), err))
		refuse(nc, &Error{CodeRefused, "only processes of the user who started the run may connect"})
		return
	}
	c := newConn(s, nc, peer)
	s.mu.Lock()
	full, closing := len(s.conns) >= s.options.MaxClients, s.ctx.Err() != nil
	if !full && !closing {
		s.conns[c] = true
	}
	s.mu.Unlock()
	switch {
	case closing:
		c.cancel(ErrClosed)
		refuse(nc, closed)
	case full:
		c.cancel(ErrClientGone)
		s.troubles.add("busy", fmt.Sprintf("%s was refused: %d are connected already.", subject(peer), s.options.MaxClients))
		refuse(nc, &Error{CodeBusy, fmt.Sprintf("%d clients are connected already; try again later", s.options.MaxClients)})
	default:
		s.work.Go(c.read)
		s.work.Go(c.serve)
	}
}

// refuse sends the reason and closes the connection. The line fits into the socket's buffer,
// so it does not wait for the client.
func refuse(nc net.Conn, why *Error) {
	_ = nc.SetWriteDeadline(time.Now().Add(lastWords))
	_, _ = nc.Write(failure(why))
	_ = nc.Close()
}

// leave forgets a connection that has ended.
func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// limitWrite sets the time that the next reply to c may take.
func (s *Server) limitWrite(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	timeout := s.options.WriteTimeout
	if s.ctx.Err() != nil {
		timeout = min(timeout, lastWords)
	}
	_ = c.nc.SetWriteDeadline(time.Now().Add(timeout))
}
