package socket

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
)

// clientEnv makes the test binary a client: "MODE:PATH".
const clientEnv = "SOCKET_TEST_CLIENT"

func TestMain(m *testing.M) {
	if mode, path, ok := strings.Cut(os.Getenv(clientEnv), ":"); ok {
		if err := play(mode, path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// play is what a client process does.
func play(mode, path string) error {
	if uid, ok := strings.CutPrefix(mode, "uid="); ok {
		if err := become(uid); err != nil {
			return err
		}
		return Call(context.Background(), path, "echo", nil, nil)
	}
	if mode == "no files" {
		return withoutFiles()
	}
	nc, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	switch mode {
	case "wait":
		_, err = io.WriteString(nc, `{"type":"wait"}`+"\n")
	case "cut":
		_, err = io.WriteString(nc, `{"type":"wait","text":"half a mess`)
	case "huge":
		piece := bytes.Repeat([]byte("a"), 1<<20)
		_, err = io.WriteString(nc, `{"type":"echo","text":"`)
		for i := 0; i < 100 && err == nil; i++ {
			_, err = nc.Write(piece)
		}
		reply, _ := bufio.NewReader(nc).ReadString('\n')
		fmt.Print(reply)
		return nil
	}
	fmt.Println("sent")
	_, _ = io.Copy(io.Discard, nc) // until it is killed
	return err
}

// client starts the test binary as a client.
func client(t *testing.T, mode, path string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), clientEnv+"="+mode+":"+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewReader(out)
}

// fixture is a server whose handler knows a few messages, and what it told.
type fixture struct {
	*Server
	t        *testing.T
	waiting  chan Peer  // a handler waits
	ended    chan error // the cause of the end of the context of one that waited
	mu       sync.Mutex
	handled  []string
	sentence []string
}

func serve(t *testing.T, o Options) *fixture {
	t.Helper()
	f := &fixture{waiting: make(chan Peer, 1000), ended: make(chan error, 1000)}
	if o.Handle == nil {
		o.Handle = f.handle
	}
	o.Trouble = func(text string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.sentence = append(f.sentence, text)
	}
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	f.Server, f.t = s, t
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// Close fails the test where it would hang.
func (f *fixture) Close() error {
	f.t.Helper()
	over := make(chan error, 1)
	go func() { over <- f.Server.Close() }()
	return receive(f.t, over)
}

// patient ends when a reply has not come that must come.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Patience)
	t.Cleanup(cancel)
	return ctx
}

func (f *fixture) handle(ctx context.Context, peer Peer, kind string, body json.RawMessage) (any, error) {
	f.mu.Lock()
	f.handled = append(f.handled, kind)
	f.mu.Unlock()
	switch kind {
	case "echo":
		return body, nil
	case "big":
		return strings.Repeat("x", 1<<20), nil
	case "peer":
		return peer, nil
	case "wait", "cause":
		f.waiting <- peer
		<-ctx.Done()
		f.ended <- context.Cause(ctx)
		if kind == "cause" {
			return nil, context.Cause(ctx)
		}
		return nil, ctx.Err()
	case "cancelled":
		return nil, context.Canceled
	case "own":
		return nil, fmt.Errorf("wrapped: %w", &Error{"denied", "not now"})
	case "error":
		return nil, fmt.Errorf("no such thing")
	case "panic":
		panic("at the\x1b[31m disco")
	case "unencodable":
		return make(chan int), nil
	}
	return nil, &Error{"unknown", "unknown type " + kind}
}

func (f *fixture) troubles() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.sentence)
}

// told waits until the trouble with all these words is told.
func (f *fixture) told(t *testing.T, words ...string) {
	t.Helper()
	eventually.Holds(t, fmt.Sprintf("trouble with %q", words), func() bool {
		return slices.ContainsFunc(f.troubles(), func(text string) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
		})
	})
}

// alive checks that another client is served.
func (f *fixture) alive(t *testing.T) {
	t.Helper()
	var got struct{ Text string }
	if err := Call(patient(t), f.Path(), "echo", map[string]string{"text": "still here"}, &got); err != nil || got.Text != "still here" {
		t.Fatalf("another client got %+v, %v", got, err)
	}
}

// receive takes from a channel, within a time that only a failure needs.
func receive[T any](t *testing.T, from chan T) T {
	t.Helper()
	return eventually.Receive(t, "a value comes", from)
}

// raw is a client that writes and reads lines itself.
type raw struct {
	net.Conn
	*bufio.Reader
}

func (r raw) Read(p []byte) (int, error) { return r.Reader.Read(p) }

func connect(t *testing.T, path string) raw {
	t.Helper()
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(eventually.Patience))
	return raw{nc, bufio.NewReader(nc)}
}

func (r raw) send(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(r.Conn, text); err != nil {
		t.Fatal(err)
	}
}

// reply reads one line; its code is "" when it is ok.
func (r raw) reply(t *testing.T) (code string, reply json.RawMessage) {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("no reply: %v", err)
	}
	var got response
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		t.Fatal(err)
	}
	if got.Error != nil {
		if got.OK || got.Error.Text == "" {
			t.Errorf("%s", line)
		}
		return got.Error.Code, nil
	}
	if !got.OK {
		t.Errorf("%s", line)
	}
	return "", got.Reply
}

// ended checks that the server hung up.
func (r raw) ended(t *testing.T) {
	t.Helper()
	if n, err := r.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes came where the connection should have ended", n)
	} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
		t.Error("the connection goes on")
	}
}
