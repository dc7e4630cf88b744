package session

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/tty"
)

// enterEvery is how often looprun checks that this process still owns the terminal: it must
// not read from it in the background.
const enterEvery = 200 * time.Millisecond

// waitKey lets the person at the terminal end a wait early.
type waitKey struct {
	term   *tty.Terminal
	cancel context.CancelFunc
	done   chan struct{} // the terminal is not used any more
}

// goOnAt listens for the Enter key while the run waits for someone else's limit.
func (s *Session) goOnAt(e core.Event) {
	switch e.Data.(type) {
	case core.WaitStarted:
		s.waitKey.end()
		s.waitKey = s.listenForEnter()
	case core.RunAlive:
	default:
		s.waitKey.end()
		s.waitKey = nil
	}
}

// listenForEnter returns nil if there is no person at a terminal.
func (s *Session) listenForEnter() *waitKey {
	if s.opts.NonInteractive || s.opts.Interactive || !console.IsTerminal(s.app.Stderr) || !console.IsTerminal(s.app.Stdin) || os.Getenv("LOOPRUN") != "" {
		return nil
	}
	term, err := tty.Open(tty.Path)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	k := &waitKey{term: term, cancel: cancel, done: make(chan struct{})}
	_ = term.Discard() // what was typed before was for something else
	s.app.Say.News("press Enter to continue now")
	go func() {
		pressed := k.enter(ctx)
		close(k.done) // the end of the wait is awaited with it
		if pressed {
			_ = s.loop.GoOn(ctx) // what it may not cut short goes on
		}
	}()
	return k
}

// enter waits for an empty line.
func (k *waitKey) enter(ctx context.Context) bool {
	line := make([]byte, 256)
	for ctx.Err() == nil {
		if !k.term.Foreground() {
			select {
			case <-ctx.Done():
			case <-time.After(enterEvery):
			}
			continue
		}
		n, err := k.term.Read(line, time.Now().Add(enterEvery))
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, tty.ErrWoken):
		case err != nil:
			return false
		case strings.TrimSpace(string(line[:n])) == "":
			return true
		}
	}
	return false
}

func (k *waitKey) end() {
	if k == nil {
		return
	}
	k.cancel()
	k.term.Cancel()
	<-k.done
	_ = k.term.Close()
}
