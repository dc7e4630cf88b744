package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"

	"github.com/looprun/looprun/internal/termsafe"
)

// conn is one connection. One goroutine reads ahead, in order to notice when the client goes;
// the other handles one message after another.
type conn struct {
	server *Server
	nc     net.Conn
	peer   Peer
	ctx    context.Context
	cancel context.CancelCauseFunc
	lines  chan received
	held   atomic.Int64  // bytes of the lines that wait
	room   chan struct{} // receives when fewer wait
	done   chan struct{} // closed when nobody handles lines any more
}

// received is a line that a client sent, or the rest of one and why no more will come.
type received struct {
	line []byte
	err  error
}

// readAhead is how many lines of a client may wait to be handled; Options.MaxMessage limits
// their bytes. While it is held back from sending more, nobody notices when it goes.
const readAhead = 1024

func newConn(s *Server, nc net.Conn, peer Peer) *conn {
	c := &conn{server: s, nc: nc, peer: peer, lines: make(chan received, readAhead), room: make(chan struct{}, 1), done: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	return c
}

// read reads lines until the client is gone or the connection is closed.
func (c *conn) read() {
	defer close(c.lines)
	defer c.cancel(ErrClientGone) // without effect when the server is closing
	lines := newLineReader(c.nc, c.server.options.MaxMessage)
	for {
		line, err := lines.next()
		long := errors.Is(err, errTooLong)
		if err != nil && !long {
			c.cancel(ErrClientGone)
		}
		c.keep(received{line, err})
		if long {
			_, _ = io.Copy(io.Discard, c.nc) // until the client goes or is hung up on
		}
		if err != nil {
			return
		}
	}
}

// keep leaves a line for serve once there is room, or drops it if nobody handles lines any more.
func (c *conn) keep(r received) {
	for c.held.Load() >= int64(c.server.options.MaxMessage) {
		select {
		case <-c.room:
		case <-c.done:
			return
		}
	}
	c.held.Add(int64(len(r.line)))
	select {
	case c.lines <- r:
	case <-c.done:
	}
}

// took makes room for more lines after n bytes of those that waited.
func (c *conn) took(n int) {
	c.held.Add(-int64(n))
	select {
	case c.room <- struct{}{}:
	default:
	}
}

// serve handles messages until there are no more.
func (c *conn) serve() {
	defer func() {
		c.cancel(ErrClientGone)
		close(c.done)
		_ = c.nc.Close()
		c.server.leave(c)
	}()
	gone := false
	for next := range c.lines {
		line, err := next.line, next.err
		c.took(len(line))
		switch {
		case c.server.ctx.Err() != nil:
			if err == nil {
				_ = c.write(failure(closed))
			}
			return
		case errors.Is(err, errTooLong):
			limit := c.server.options.MaxMessage
			c.trouble("long", "sent a message of more than %d bytes and was disconnected", limit)
			_ = c.write(failure(&Error{CodeTooLong, fmt.Sprintf("the message is longer than %d bytes; send less", limit)}))
			return
		case err != nil && len(line) == 0:
			return
		}
		kind, reply := c.answer(line, err != nil)
		if gone {
			continue // what it had sent before it went holds
		}
		if err := c.write(reply); err != nil {
			c.unanswered(kind, err)
			if gone = !errors.Is(err, os.ErrDeadlineExceeded); !gone {
				return
			}
		}
	}
}

// answer handles one line; cut says that the connection ended without a line
// break after it.
func (c *conn) answer(line []byte, cut bool) (kind string, reply []byte) {
	kind, err := messageType(line)
	if err == nil {
		return kind, c.handle(kind, line)
	}
	if cut {
		c.trouble("cut", "went away in the middle of a message")
	} else {
		c.trouble("malformed", "sent a line that is not a message: %v: %q", err, excerpt(string(line)))
	}
	return "", failure(&Error{CodeMalformed, "the line is not a message: " + err.Error()})
}

// handle calls the handler. If it panics, only this message fails, not the whole run.
func (c *conn) handle(kind string, body json.RawMessage) (reply []byte) {
	defer func() {
		if p := recover(); p != nil {
			c.trouble("panic", "sent %q, and looprun failed on it: %s", excerpt(kind), excerpt(fmt.Sprint(p)))
			reply = failure(&Error{CodeFailed, "looprun failed on this message and ignores it"})
		}
	}()
	value, err := c.server.options.Handle(c.ctx, c.peer, kind, body)
	if err == nil {
		if reply, err = success(value); err == nil {
			return reply
		}
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return failure(own)
	}
	if c.server.ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, ErrClosed)) {
		return failure(closed)
	}
	return failure(&Error{CodeFailed, err.Error()})
}

func (c *conn) write(line []byte) error {
	c.server.limitWrite(c)
	_, err := c.nc.Write(line)
	return err
}

// unanswered reports why a client did not get its reply. When the server closes, a client that
// has gone is not reported.
func (c *conn) unanswered(kind string, err error) {
	switch {
	case c.server.ctx.Err() != nil:
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.trouble("unread", "did not read the reply to %q within %s and was disconnected", excerpt(kind), c.server.options.WriteTimeout)
	case kind != "":
		c.trouble("gone", "went away before it got the reply to %q", excerpt(kind))
	}
}

func (c *conn) trouble(sort, format string, args ...any) {
	c.server.troubles.add(sort, subject(c.peer)+" "+fmt.Sprintf(format, args...)+".")
}

func subject(p Peer) string {
	if p.PID == 0 {
		return "A client of the run"
	}
	return fmt.Sprintf("A client of the run (pid %d)", p.PID)
}

// excerpt returns the beginning of a text that a client sent, safe to show.
func excerpt(text string) string {
	const longest = 80
	return termsafe.Short(text[:min(len(text), 4*longest)], longest)
}
