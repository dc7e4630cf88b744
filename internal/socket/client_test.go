package socket

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCallWithoutServer(t *testing.T) {
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	stale := filepath.Join(dir, "stale")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	for name, path := range map[string]string{"no path": "", "missing": filepath.Join(dir, "missing"), "left behind": stale} {
		if err := Call(patient(t), path, "echo", nil, nil); !errors.Is(err, ErrNoServer) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Call(patient(t), strings.Repeat("x", 500), "echo", nil, nil); err == nil || errors.Is(err, ErrNoServer) {
		t.Errorf("a path that no socket can have: %v", err)
	}
}

func TestCallRequests(t *testing.T) {
	f := serve(t, Options{})
	for name, request := range map[string]any{"a list": []int{1}, "a number": 1, "no JSON": make(chan int), "nil pointer": (*Error)(nil)} {
		if err := Call(patient(t), f.Path(), "echo", request, nil); err == nil || !strings.Contains(err.Error(), "has to be a JSON object") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Call(patient(t), f.Path(), "", nil, nil); err == nil {
		t.Error("a message without a type was sent")
	}
	var number int
	if err := Call(patient(t), f.Path(), "echo", nil, &number); err == nil || !strings.Contains(err.Error(), "not what was expected") {
		t.Errorf("an object as a number: %v", err)
	}
}

// Cancelling ends the wait with its cause, and the server notices.
func TestCallCancelled(t *testing.T) {
	f := serve(t, Options{})
	cause := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-f.waiting
		cancel(cause)
	}()
	if err := Call(ctx, f.Path(), "wait", nil, nil); !errors.Is(err, cause) {
		t.Error(err)
	}
	if err := receive(t, f.ended); !errors.Is(err, ErrClientGone) {
		t.Error(err)
	}
	if err := Call(ctx, f.Path(), "echo", nil, nil); !errors.Is(err, cause) {
		t.Errorf("cancelled before: %v", err)
	}
}

// lapsed is a context whose end nobody waits for.
type lapsed struct{ context.Context }

func (lapsed) Err() error { return context.DeadlineExceeded }

// A reply that came before the end of the context was seen counts.
func TestCallIsAnsweredAtTheLastMoment(t *testing.T) {
	f := serve(t, Options{})
	if err := Call(lapsed{context.Background()}, f.Path(), "echo", nil, nil); err != nil {
		t.Error(err)
	}
}

// What a server that is not ours or is killed sends back.
func TestCallBadReplies(t *testing.T) {
	for name, c := range map[string]struct{ reply, want string }{
		"none":         {"", ErrNoReply.Error()},
		"half":         {`{"ok":tr`, ErrNoReply.Error()},
		"text":         {"hello\n", "something else than a reply"},
		"empty object": {"{}\n", "something else than a reply"},
		"no error":     {`{"ok":true,"error":5}` + "\n", "something else than a reply"},
		"too long":     {strings.Repeat("x", longestReply+1) + "\n", "longer than"},
		"exactly":      {`{"ok":true}` + strings.Repeat(" ", longestReply-11) + "\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := makeDir("", false)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			l, err := net.Listen("unix", filepath.Join(dir, socketName))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				nc, err := l.Accept()
				if err != nil {
					return
				}
				defer nc.Close()
				_, _ = bufio.NewReader(nc).ReadString('\n')
				_, _ = nc.Write([]byte(c.reply))
			}()
			err = Call(patient(t), l.Addr().String(), "echo", nil, nil)
			if (c.want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A server that goes without reading all of the message has not replied.
func TestCallOfAServerThatGoes(t *testing.T) {
	for _, size := range []int{10, 8 << 20} { // more than a socket holds
		dir, err := makeDir("", false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		l, err := net.Listen("unix", filepath.Join(dir, socketName))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = nc.Read(make([]byte, 1))
			_ = nc.Close()
		}()
		if err := Call(patient(t), l.Addr().String(), "echo", map[string]string{"text": strings.Repeat("x", size)}, nil); !errors.Is(err, ErrNoReply) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
