package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
)

func TestMessages(t *testing.T) {
	f := serve(t, Options{})
	for _, c := range []struct{ kind, code, text string }{
		{"echo", "", ""},
		{"own", "denied", "not now"},
		{"error", CodeFailed, "no such thing"},
		{"cancelled", CodeFailed, "context canceled"},
		{"unencodable", CodeFailed, "cannot be encoded"},
		{"panic", CodeFailed, "looprun failed on this message"},
		{"nonsense", "unknown", "unknown type nonsense"},
	} {
		var got map[string]any
		err := Call(patient(t), f.Path(), c.kind, map[string]any{"n": 7, "type": "overwritten"}, &got)
		own, _ := errors.AsType[*Error](err)
		switch {
		case c.code == "" && (err != nil || got["n"] != 7.0 || got["type"] != c.kind):
			t.Errorf("%s: %v, %v", c.kind, got, err)
		case c.code != "" && (own == nil || own.Code != c.code || !strings.Contains(own.Text, c.text)):
			t.Errorf("%s: %v", c.kind, err)
		}
	}
	f.told(t, "A client of the run", `"panic"`, "at the disco")
	f.alive(t)
}

// The socket and its directory are this user's alone, and go with the server.
func TestFiles(t *testing.T) {
	f := serve(t, Options{})
	dir := filepath.Dir(f.Path())
	for name, want := range map[string]os.FileMode{f.Path(): 0o600, dir: 0o700} {
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", name, info.Mode().Perm())
		}
	}
	if len(f.Path()) > longestPath {
		t.Errorf("%s has %d bytes", f.Path(), len(f.Path()))
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	if err := Call(patient(t), f.Path(), "echo", nil, nil); !errors.Is(err, ErrNoServer) {
		t.Error(err)
	}
	if _, err := Listen(Options{}); err == nil {
		t.Error("a server without a handler")
	}
}

// Closing fails where something else is in the folder, which then stays, and not where the folder
// is gone already.
func TestFilesThatOthersChange(t *testing.T) {
	gone := serve(t, Options{})
	if err := os.RemoveAll(filepath.Dir(gone.Path())); err != nil {
		t.Skip(err)
	}
	if err := gone.Close(); err != nil {
		t.Errorf("a folder that is gone: %v", err)
	}
	f, err := Listen(Options{Handle: gone.handle})
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(f.Path()), "other")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err == nil {
		t.Error("it is removed with what is not the run's, it says")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Dir(other)); err != nil {
		t.Error(err)
	}
}

// Requests on one connection are answered in their order, also when they are
// sent ahead.
func TestOrder(t *testing.T) {
	f := serve(t, Options{})
	r := connect(t, f.Path())
	const n = 500
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"type":"echo","n":%d}`+"\r\n", i)
	}
	go func() { _, _ = r.Conn.Write([]byte(text.String())) }()
	for i := range n {
		code, reply := r.reply(t)
		var got struct{ N int }
		if err := json.Unmarshal(reply, &got); err != nil || code != "" || got.N != i {
			t.Fatalf("reply %d is %s (%s)", i, reply, code)
		}
	}
}

// A client that has sent a lot ahead of its replies and goes is noticed all the same.
func TestGoneAfterSendingAhead(t *testing.T) {
	f := serve(t, Options{})
	r := connect(t, f.Path())
	r.send(t, `{"type":"wait"}`+"\n"+strings.Repeat(`{"type":"echo"}`+"\n", 500))
	receive(t, f.waiting)
	r.Close()
	if cause := receive(t, f.ended); !errors.Is(cause, ErrClientGone) {
		t.Error(cause)
	}
}

// A client that sends far ahead is held back, not held in memory, and gets all
// its replies.
func TestAhead(t *testing.T) {
	const n, limit = 3000, 4096
	line := `{"type":"x","text":"` + strings.Repeat("y", 1000) + `"}` + "\n"
	release := make(chan struct{})
	var handled, most atomic.Int64
	var f *fixture
	f = serve(t, Options{MaxMessage: limit, Handle: func(context.Context, Peer, string, json.RawMessage) (any, error) {
		<-release
		handled.Add(1)
		most.Store(max(most.Load(), held(f.Server)))
		return nil, nil
	}})
	r := connect(t, f.Path())
	sent := make(chan error, 1)
	go func() {
		_, err := r.Conn.Write([]byte(strings.Repeat(line, n)))
		sent <- err
	}()
	eventually.Holds(t, "the client is held back", func() bool { return held(f.Server) >= limit })
	close(release)
	for range n {
		if code, _ := r.reply(t); code != "" {
			t.Fatal(code)
		}
	}
	if err := receive(t, sent); err != nil || handled.Load() != n {
		t.Errorf("%d handled, %v", handled.Load(), err)
	}
	if got := most.Load(); got > int64(limit+len(line)) {
		t.Errorf("%d bytes were held", got)
	}
}

// held is how many bytes of the only client wait.
func held(s *Server) (size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		size += c.held.Load()
	}
	return size
}

// Two hundred clients are served at once: each handler waits for all others.
func TestManyClients(t *testing.T) {
	const n = 200
	var arrived sync.WaitGroup
	arrived.Add(n)
	f := serve(t, Options{Handle: func(_ context.Context, _ Peer, _ string, body json.RawMessage) (any, error) {
		arrived.Done()
		arrived.Wait()
		return body, nil
	}})
	errs := make(chan error, n)
	for i := range n {
		go func() {
			var got struct{ N int }
			err := Call(patient(t), f.Path(), "meet", map[string]int{"n": i}, &got)
			if err == nil && got.N != i {
				err = fmt.Errorf("client %d got the reply of %d", i, got.N)
			}
			errs <- err
		}()
	}
	for range n {
		if err := receive(t, errs); err != nil {
			t.Error(err)
		}
	}
}

func TestTooManyClients(t *testing.T) {
	f := serve(t, Options{MaxClients: 2})
	first, second := connect(t, f.Path()), connect(t, f.Path())
	for _, r := range []raw{first, second} {
		r.send(t, `{"type":"echo"}`+"\n")
		if code, _ := r.reply(t); code != "" {
			t.Fatal(code)
		}
	}
	third := connect(t, f.Path())
	if code, _ := third.reply(t); code != CodeBusy {
		t.Errorf("the third got %q", code)
	}
	third.ended(t)
	f.told(t, "2 are connected already")
	first.Close()
	eventually.Holds(t, "there is room again", func() bool {
		return Call(patient(t), f.Path(), "echo", nil, nil) == nil
	})
}

// Close tells clients that wait, lets no goroutine stay and does not wait for
// clients that do nothing.
func TestClose(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	f := serve(t, Options{})
	idle := connect(t, f.Path())
	half := connect(t, f.Path())
	half.send(t, `{"type":"ec`)
	flood := connect(t, f.Path())
	for range 20 {
		flood.send(t, `{"type":"big"}`+"\n") // never reads
	}
	errs := make(chan error, 3)
	for i := range cap(errs) {
		go func() { errs <- Call(patient(t), f.Path(), []string{"wait", "cause"}[i%2], nil, nil) }()
		receive(t, f.waiting)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for range cap(errs) {
		if own, _ := errors.AsType[*Error](receive(t, errs)); own == nil || own.Code != CodeClosed {
			t.Errorf("a client that waited got %v", own)
		}
		if cause := receive(t, f.ended); !errors.Is(cause, ErrClosed) {
			t.Errorf("its handler ended with %v", cause)
		}
	}
	idle.ended(t)
	half.ended(t)
	eventually.Holds(t, "all goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines })
	if got := f.troubles(); len(got) > 0 {
		t.Errorf("Close is no trouble: %q", got)
	}
}

// Close answers what a client had sent ahead.
func TestCloseOfMessagesSentAhead(t *testing.T) {
	f := serve(t, Options{})
	r := connect(t, f.Path())
	r.send(t, `{"type":"wait"}`+"\n"+`{"type":"echo"}`+"\n")
	receive(t, f.waiting)
	eventually.Holds(t, "the second is read", func() bool { return held(f.Server) > 0 })
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if code, _ := r.reply(t); code != CodeClosed {
			t.Errorf("it got %q", code)
		}
	}
	r.ended(t)
}

// late is a listener that accepts its last connection when it is closed.
type late struct {
	net.Listener
	last   net.Conn
	closed chan struct{}
}

func (l *late) Accept() (net.Conn, error) {
	<-l.closed
	if last := l.last; last != nil {
		l.last = nil
		return last, nil
	}
	return nil, net.ErrClosed
}

func (l *late) Close() error {
	close(l.closed)
	return l.Listener.Close()
}

// A client that comes while the server closes is told so, and Close does not wait for it.
func TestLateClient(t *testing.T) {
	dir, err := makeDir("", false)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, socketName)
	inner, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	r := connect(t, path)
	ours, err := inner.Accept()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t}
	f.Server = start(Options{Handle: f.handle}, path, &late{inner, ours, make(chan struct{})})
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if code, _ := r.reply(t); code != CodeClosed {
		t.Errorf("it got %q", code)
	}
	r.ended(t)
}

// A server that cannot listen leaves nothing behind.
func TestNothingToListenOn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not limit the number of open files")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("XDG_RUNTIME_DIR", "")
	cmd, out := client(t, "no files", "")
	if text, err := io.ReadAll(out); err != nil || !strings.Contains(string(text), "the socket of the run cannot be made") {
		t.Errorf("%s, %v", text, err)
	}
	_ = cmd.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d are left, %v", len(left), err)
	}
}

// Close returns when the last handler has, however long that takes.
func TestCloseWaits(t *testing.T) {
	waiting := make(chan bool, 1)
	var returned atomic.Bool
	f := serve(t, Options{Handle: func(ctx context.Context, _ Peer, _ string, _ json.RawMessage) (any, error) {
		waiting <- true
		<-ctx.Done()
		time.Sleep(100 * time.Millisecond) // a slow one
		returned.Store(true)
		return nil, nil
	}})
	r := connect(t, f.Path())
	r.send(t, `{"type":"x"}`+"\n")
	receive(t, waiting)
	if err := f.Close(); err != nil || !returned.Load() {
		t.Errorf("Close has not waited: %v", err)
	}
}

// flaky is a listener that fails before it accepts.
type flaky struct {
	net.Listener
	failures atomic.Int32
}

func (l *flaky) Accept() (net.Conn, error) {
	if l.failures.Add(-1) >= 0 {
		return nil, errors.New("too many open files")
	}
	return l.Listener.Accept()
}

func TestAcceptFails(t *testing.T) {
	dir, err := makeDir("", false)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, socketName)
	inner, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l := &flaky{Listener: inner}
	l.failures.Store(3)
	told := make(chan string, shownPerSort) // Trouble must not block
	f := &fixture{t: t}
	f.Server = start(Options{Handle: f.handle, Trouble: func(text string) { told <- text }}, path, l)
	if err := Call(patient(t), path, "echo", nil, nil); err != nil {
		t.Error(err)
	}
	for range 3 {
		if text := receive(t, told); !strings.Contains(text, "too many open files") {
			t.Error(text)
		}
	}
	// Close ends a server that only fails, too. Nobody is served from here on: a
	// connection ends an Accept that may have begun before.
	l.failures.Store(1 << 30)
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	receive(t, told)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestTroublesAreBounded(t *testing.T) {
	var got []string
	tr := troubles{tell: func(text string) { got = append(got, text) }}
	for range 1000 {
		tr.add("a", "A.")
	}
	tr.add("b", "B.")
	if len(got) != shownPerSort+1 || got[shownPerSort-1] != "A. More of this sort is not reported." || got[shownPerSort-2] != "A." || got[shownPerSort] != "B." {
		t.Errorf("%d: %q", len(got), got)
	}
	(&troubles{}).add("a", "nobody listens")
}

// Where the directory is made: the first of the three that is safe and short.
func TestDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has neither XDG_RUNTIME_DIR nor modes")
	}
	base, err := os.MkdirTemp("/tmp", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	create := func(name string, mode os.FileMode) string {
		dir := filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	private, open, tmp := create("private", 0o700), create("open", 0o755), create("tmp", 0o700)
	// The longest parent that leaves room for "/looprun-4294967295/socket".
	room := longestPath - len("/looprun-4294967295/socket")
	fits := create(strings.Repeat("f", room-len(base)-1), 0o700)
	long := create(strings.Repeat("l", room-len(base)), 0o700)
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	type places struct{ runtime, temp, want string }
	cases := map[string]places{
		"private":          {private, tmp, private},
		"not set":          {"", tmp, tmp},
		"others can enter": {open, tmp, tmp},
		"relative":         {"private", tmp, tmp},
		"missing":          {base + "/missing", tmp, tmp},
		"a file":           {file, tmp, tmp},
		"just fits":        {fits, tmp, fits},
		"too long":         {long, tmp, tmp},
		"both too long":    {long, long, "/tmp"},
		"both missing":     {base + "/missing", base + "/missing", "/tmp"},
	}
	if theirs := create("theirs", 0o700); os.Chown(theirs, 12345, 12345) == nil { // as root alone
		cases["of another user"] = places{theirs, tmp, tmp}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(base)
			t.Setenv("XDG_RUNTIME_DIR", c.runtime)
			t.Setenv("TMPDIR", c.temp)
			f := serve(t, Options{})
			if got := filepath.Dir(filepath.Dir(f.Path())); got != c.want {
				t.Errorf("%s is in %s", f.Path(), got)
			}
			f.alive(t)
		})
	}
	t.Setenv("XDG_RUNTIME_DIR", private)
	for lasting, want := range map[bool]string{true: open, false: private} {
		if f := serve(t, Options{Dir: open, Lasting: lasting}); filepath.Dir(filepath.Dir(f.Path())) != want {
			t.Errorf("lasting %v: %s", lasting, f.Path())
		}
	}
}

func TestDefaults(t *testing.T) {
	got := serve(t, Options{}).options
	if got.MaxMessage != 1<<20 || got.WriteTimeout != 10*time.Second || got.MaxClients != 256 {
		t.Errorf("%+v", got)
	}
}
