package courier

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"testing/synctest"
	"time"

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
