package user

import (
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/tty"
)

// watch listens for signals while a prompt is on the screen. A signal that tells the process
// to end cancels the terminal's reads, so that the prompt returns and restores the terminal;
// other listeners receive the signal too. An ignored signal stays ignored.
type watch struct {
	signals chan os.Signal
	done    chan struct{}
	// end is closed when the process was told to end, and hungUp says that the signal was the
	// one of a terminal that was closed.
	end    chan struct{}
	hungUp bool
	// stopped reports that the process was stopped and has continued.
	stopped atomic.Bool
	// continued receives a value when the process continues.
	continued chan struct{}
}

func newWatch(t *tty.Terminal) *watch {
	w := &watch{
		signals: make(chan os.Signal, 8), continued: make(chan struct{}, 1),
		done: make(chan struct{}), end: make(chan struct{}),
	}
	heeded := slices.DeleteFunc(tty.Endings(), signal.Ignored)
	if all := append(slices.Clone(heeded), tty.Changes()...); len(all) > 0 {
		signal.Notify(w.signals, all...)
	}
	go func() {
		for {
			select {
			case s := <-w.signals:
				w.hear(t, s, slices.Contains(heeded, s))
			case <-w.done:
				return
			}
		}
	}()
	return w
}

func (w *watch) hear(t *tty.Terminal, s os.Signal, ending bool) {
	switch {
	case ending:
		if !w.ended() {
			w.hungUp = s == syscall.SIGHUP
			close(w.end)
		}
		t.Cancel()
		return
	case tty.Continued(s):
		w.stopped.Store(true)
		t.Wake()
		select {
		case w.continued <- struct{}{}:
		default:
		}
		return
	}
	t.Wake()
}

// forgetContinued drops a value that was not received.
func (w *watch) forgetContinued() {
	select {
	case <-w.continued:
	default:
	}
}

// ended reports whether the process was told to end.
func (w *watch) ended() bool {
	select {
	case <-w.end:
		return true
	default:
		return false
	}
}

// err returns why the prompt is over after the process was told to end.
func (w *watch) err() error {
	if w.hungUp {
		return errGone
	}
	return core.ErrInterrupted
}

func (w *watch) stop() {
	signal.Stop(w.signals)
	close(w.done)
}
