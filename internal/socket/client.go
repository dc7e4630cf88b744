package socket

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"
	"time"
)

var (
	// ErrNoServer is returned by [Call] if nothing listens at the path: the run has ended, or
	// the program was not started by one.
	ErrNoServer = errors.New("no run of looprun listens there; use it in a command that a live run has started")
	// ErrNoReply is returned by [Call] if the connection ends before the reply arrives: the
	// run was killed.
	ErrNoReply = errors.New("the run ended before it replied")
)

// Windows' equivalents of ECONNREFUSED and ECONNRESET.
const (
	winRefused = syscall.Errno(10061)
	winReset   = syscall.Errno(10054)
)

// longestReply is how much [Call] reads, in bytes.
const longestReply = 16 << 20

// Call connects to the socket, sends one message and waits for its reply, which is decoded
// into reply unless that is nil. The request is encoded as JSON; it must be an object, or nil,
// and gets kind as its "type". The error is [ErrNoServer], [ErrNoReply], an [*Error] from the
// other side, or the cause of the end of ctx, which also ends the connection.
func Call(ctx context.Context, path, kind string, request, reply any) error {
	line, err := message(kind, request)
	if err != nil {
		return err
	}
	nc, err := dial(ctx, path)
	if err != nil {
		return err
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })()
	// A server that rejects the message stops reading and replies with the reason, so the
	// reply takes precedence over the failure to send.
	_, sendErr := nc.Write(line)
	answer, err := newLineReader(nc, longestReply).next()
	switch {
	case err == nil:
		return decode(answer, reply)
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case errors.Is(err, errTooLong):
		return fmt.Errorf("the reply of the run is longer than %d bytes", longestReply)
	case sendErr != nil && !disconnected(sendErr):
		return fmt.Errorf("the message cannot be sent: %w", sendErr)
	case disconnected(err):
		return ErrNoReply
	}
	return fmt.Errorf("the reply cannot be read: %w", err)
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	if path == "" {
		return nil, ErrNoServer
	}
	var d net.Dialer
	nc, err := d.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return nc, nil
	case context.Cause(ctx) != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, winRefused):
		return nil, fmt.Errorf("%s: %w", path, ErrNoServer)
	}
	return nil, fmt.Errorf("the run cannot be reached: %w", err)
}

// disconnected reports whether the error means that the other side of the connection has gone.
func disconnected(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, winReset)
}

// message returns the line of a request.
func message(kind string, request any) ([]byte, error) {
	members := map[string]json.RawMessage{}
	data, err := json.Marshal(request)
	if request != nil { // without data after an error, it is an error too
		err = json.Unmarshal(data, &members)
	}
	if err != nil || members == nil {
		return nil, fmt.Errorf("a message of the type %q cannot be made of a %T: it has to be a JSON object", kind, request)
	}
	members["type"], _ = json.Marshal(kind) // a text always encodes
	data, err = json.Marshal(members)
	return append(data, '\n'), err
}

func decode(line []byte, reply any) error {
	var r response
	if err := json.Unmarshal(bytes.TrimSpace(line), &r); err != nil || (!r.OK && r.Error == nil) {
		return fmt.Errorf("the run replied with something else than a reply: %q", excerpt(string(line)))
	}
	if !r.OK {
		return r.Error
	}
	if reply == nil {
		return nil
	}
	if err := json.Unmarshal(r.Reply, reply); err != nil {
		return fmt.Errorf("the reply of the run is not what was expected: %w", err)
	}
	return nil
}
