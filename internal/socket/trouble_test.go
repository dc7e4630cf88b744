package socket

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
)

// A line that is not a message is answered, told, and the connection goes on.
func TestGarbage(t *testing.T) {
	for name, line := range map[string]string{
		"empty":        "",
		"text":         "hello \x1b]0;title\x07there",
		"list":         `[1,2]`,
		"null":         `null`,
		"no type":      `{"kind":"echo"}`,
		"other case":   `{"Type":"echo"}`,
		"empty type":   `{"type":""}`,
		"null type":    `{"type":null}`,
		"number type":  `{"type":5}`,
		"two objects":  `{"type":"echo"} {"type":"echo"}`,
		"cut":          `{"type":"echo"`,
		"NUL":          "{\"type\":\"echo\"\x00}",
		"not UTF-8":    "{\"type\":\"echo\",\"x\":\"\xff\"}",
		"byte order":   "\ufeff{\"type\":\"echo\"}",
		"very deep":    strings.Repeat(`{"type":`, 100_000),
		"control char": "{\"type\":\"a\x01\"}",
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, Options{})
			r := connect(t, f.Path())
			r.send(t, line+"\n"+`{"type":"echo","n":1}`+"\n")
			if code, _ := r.reply(t); code != CodeMalformed {
				t.Errorf("code %q", code)
			}
			if code, reply := r.reply(t); code != "" || !strings.Contains(string(reply), `"n":1`) {
				t.Errorf("the next message got %q %s", code, reply)
			}
			f.told(t, "sent a line that is not a message")
			if got := strings.Join(f.troubles(), ""); strings.ContainsAny(got, "\x00\x1b\x07") || len(got) > 500 {
				t.Errorf("%q", got)
			}
		})
	}
}

// The limit holds to the byte; a longer line ends its connection only.
func TestLimit(t *testing.T) {
	const limit = 10_000
	f := serve(t, Options{MaxMessage: limit})
	line := func(n int) string {
		const frame = `{"type":"echo","x":""}`
		return `{"type":"echo","x":"` + strings.Repeat("x", n-len(frame)) + `"}` + "\n"
	}
	r := connect(t, f.Path())
	r.send(t, line(limit)+line(limit+1))
	if code, _ := r.reply(t); code != "" {
		t.Errorf("a message of the limit: %q", code)
	}
	if code, _ := r.reply(t); code != CodeTooLong {
		t.Errorf("a message above the limit: %q", code)
	}
	r.ended(t)
	f.told(t, "more than 10000 bytes")
	err := Call(patient(t), f.Path(), "echo", map[string]string{"x": strings.Repeat("x", 4<<20)}, nil)
	if own, _ := errors.AsType[*Error](err); own == nil || own.Code != CodeTooLong {
		t.Errorf("Call: %v", err)
	}
	f.alive(t)
}

// A client whose message is too long has not gone: it can send all of it, and what it sent before
// is handled to its end.
func TestLongAfterAMessage(t *testing.T) {
	hold := make(chan struct{})
	f := serve(t, Options{MaxMessage: 100, Handle: func(ctx context.Context, _ Peer, _ string, _ json.RawMessage) (any, error) {
		select {
		case <-hold:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}})
	r := connect(t, f.Path())
	r.send(t, `{"type":"x"}`+"\n"+strings.Repeat("x", 8<<20)) // more than a socket holds
	close(hold)
	for _, want := range []string{"", CodeTooLong} {
		if code, _ := r.reply(t); code != want {
			t.Errorf("it got %q, not %q", code, want)
		}
	}
	r.ended(t)
}

// A hundred mebibytes without a line break are not kept.
func TestHugeLine(t *testing.T) {
	f := serve(t, Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cmd, out := client(t, "huge", f.Path())
	reply, err := out.ReadString('\n')
	if err != nil || !strings.Contains(reply, CodeTooLong) {
		t.Errorf("%q, %v", reply, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	// All that was ever allocated meanwhile: the line doubled up to 1 MiB is 2 MiB.
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 5<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
	f.told(t, "more than 1048576 bytes")
	f.alive(t)
}

// A client that is killed while its handler waits is noticed at once.
func TestKilledWhileWaiting(t *testing.T) {
	f := serve(t, Options{})
	cmd, out := client(t, "wait", f.Path())
	if peer := receive(t, f.waiting); runtime.GOOS == "linux" && (peer.PID != cmd.Process.Pid || peer.UID != os.Geteuid()) {
		t.Errorf("%+v; the client has pid %d", peer, cmd.Process.Pid)
	}
	if text, err := out.ReadString('\n'); text != "sent\n" {
		t.Fatal(text, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if cause := receive(t, f.ended); !errors.Is(cause, ErrClientGone) {
		t.Error(cause)
	}
	f.told(t, "went away before it got the reply", `"wait"`)
	f.alive(t)
}

func TestKilledInAMessage(t *testing.T) {
	f := serve(t, Options{})
	cmd, out := client(t, "cut", f.Path())
	if text, err := out.ReadString('\n'); text != "sent\n" {
		t.Fatal(text, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	f.told(t, "in the middle of a message")
	f.alive(t)
	if got := f.troubles(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// A message holds although its client did not wait for the reply, with or
// without a line break.
func TestNobodyWaits(t *testing.T) {
	for text, told := range map[string]bool{
		`{"type":"echo"}`: true,
		// The reply can be on its way before the client goes.
		`{"type":"echo"}` + "\n":                            false,
		`{"type":"wait"}` + "\n" + `{"type":"echo"}` + "\n": true,
	} {
		f := serve(t, Options{})
		r := connect(t, f.Path())
		r.send(t, text)
		r.Close()
		eventually.Holds(t, "all messages are handled", func() bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			return len(f.handled) == strings.Count(text, "type")
		})
		if told {
			f.told(t, "went away before")
		}
		if got := f.troubles(); len(got) > 1 {
			t.Errorf("%q", got)
		}
	}
}

// A client that never reads loses its connection; nobody else waits for it.
func TestNeverReads(t *testing.T) {
	f := serve(t, Options{WriteTimeout: 300 * time.Millisecond})
	r := connect(t, f.Path())
	for range 8 {
		r.send(t, `{"type":"big"}`+"\n")
	}
	f.alive(t)
	f.told(t, "did not read the reply", "300ms", `"big"`)
	f.alive(t)
	got, err := io.Copy(io.Discard, r)
	if err == nil && got >= 8<<20 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes came after all: %v", got, err)
	}
}

// Another user, who was even let in to the directory, is refused.
func TestOtherUser(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	f := serve(t, Options{})
	for name, mode := range map[string]os.FileMode{filepath.Dir(f.Path()): 0o755, f.Path(): 0o666} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	_, out := client(t, "uid=65534", f.Path())
	text, _ := out.ReadString('\n')
	if !strings.Contains(text, "only processes of the user who started the run may connect") {
		t.Fatalf("the other user got %q", text)
	}
	f.told(t, "was refused", "user 65534")
	if len(f.handled) > 0 {
		t.Errorf("handled: %v", f.handled)
	}
	f.alive(t)
}

// noSocket is a connection of which the system says nothing.
type noSocket struct {
	net.Conn
	file *os.File
}

func (n noSocket) SyscallConn() (syscall.RawConn, error) { return n.file.SyscallConn() }

// A connection that the system does not know, or no more, has no credentials.
func TestUnknownConnection(t *testing.T) {
	if _, err := credentials(&net.UnixConn{}); err == nil && runtime.GOOS != "windows" {
		t.Error("it is none")
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // open, and closed
		if peer, err := credentials(noSocket{file: file}); peer != (Peer{UID: -1}) || (err == nil) != (runtime.GOOS == "windows") {
			t.Errorf("%+v, %v", peer, err)
		}
		file.Close()
	}
}

// Without credentials there is no connection, where the system has them.
func TestNoCredentials(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	peer, err := credentials(ours)
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd":
		if err == nil {
			t.Fatalf("%+v", peer)
		}
	default:
		if err != nil || peer.UID != -1 {
			t.Fatalf("%+v, %v", peer, err)
		}
		return
	}
	f := serve(t, Options{})
	go f.welcome(ours)
	var got response
	if err := json.NewDecoder(bufio.NewReader(theirs)).Decode(&got); err != nil || got.Error == nil || got.Error.Code != CodeRefused {
		t.Errorf("%+v, %v", got, err)
	}
}
