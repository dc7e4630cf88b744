package courier

import (
	"context"
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
