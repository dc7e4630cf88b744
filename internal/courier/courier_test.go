package courier

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/origin"
	"github.com/looprun/looprun/internal/socket"
)

// The courier waits for a run's first question as long as the run is live, and ends when nobody
// needs it.
func TestTheCourierStaysForALiveRun(t *testing.T) {
	if origin.Admit(os.Getpid()) != nil {
		t.Skip("this test runs in a run")
	}
	synctest.Test(t, func(t *testing.T) {
		c := &Courier{done: make(chan struct{})}
		c.stop = func() { close(c.done) }
		ended := func() bool {
			synctest.Wait()
			select {
			case <-c.done:
				return true
			default:
				return false
			}
		}
		go c.watch()
		ctx, end := context.WithCancel(t.Context())
		go func() { _, _ = c.handle(ctx, socket.Peer{PID: os.Getpid()}, kindStay, nil) }()
		time.Sleep(10 * lingers)
		if ended() {
			t.Fatal("the courier has ended, and a run is live")
		}
		end()
		time.Sleep(lingers)
		if ended() {
			t.Error("the courier has ended at once")
		}
		time.Sleep(2 * lookEvery)
		if !ended() {
			t.Error("the courier has not ended")
		}
	})
}

// The run that continues is answered from afar as before, also if a run of an older looprun,
// which does not say that its services bring answers, was the one that asked.
func TestTheContinuedRunIsAnsweredFromAfar(t *testing.T) {
	var q Question
	if err := json.Unmarshal([]byte(`{"services": [{"url": "ntfy://host/topic", "exclusive": false}]}`), &q); err != nil {
		t.Fatal(err)
	}
	if got, want := q.again(), `LOOPRUN_NOTIFY=[{"url":"ntfy://host/topic","answers":true}]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A looprun-notify that prints a line that is too long is ended: it is started again then.
func TestALineThatIsTooLong(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it needs a shell")
	}
	dir := t.TempDir()
	const script = "#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' a\nexec cat\n"
	if err := os.WriteFile(filepath.Join(dir, "looprun-notify"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	c := &Courier{done: make(chan struct{}), links: map[string]*link{}}
	over := make(chan error, 1)
	go func() { over <- c.connect(&link{url: "matrix://host", send: make(chan outgoing)}) }()
	select {
	case err := <-over:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(eventually.Patience):
		t.Error("it waits for ever")
	}
}

// Without a list nobody may answer, except over ntfy, which names nobody.
func TestWhoMayAnswer(t *testing.T) {
	for _, c := range []struct {
		s    Service
		from string
		want bool
	}{
		{Service{URL: "ntfy://host/topic"}, "", true},
		{Service{URL: "matrix://:t@host/?rooms=r"}, "@a:host", false},
		{Service{URL: "telegram://1:t@telegram?chats=1"}, "", false},
		{Service{URL: "matrix://:t@host/?rooms=r", From: []string{"@a:host"}}, "@a:host", true},
		{Service{URL: "matrix://:t@host/?rooms=r", From: []string{"@a:host"}}, "@b:host", false},
	} {
		if got := c.s.allows(c.from); got != c.want {
			t.Errorf("%+v %q: %v", c.s, c.from, got)
		}
	}
}
