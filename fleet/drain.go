package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/looprun/looprun/internal/git"
)

// ending is how long commands that were told to end may take, and results to be reported.
const ending = 30 * time.Second

// check returns an error if this machine cannot run a loop.
func (w *Worker) check(ctx context.Context) error {
	if _, err := git.Run(ctx, w.Root, nil, "--version"); err != nil {
		return fmt.Errorf("this machine cannot run git: %w; install it, or fix the PATH of the worker", err)
	}
	f, err := os.CreateTemp(w.Root, ".check-")
	if err != nil {
		return fmt.Errorf("the worker's folder cannot be written: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// begin notes that something runs. It returns an error if the worker takes nothing any more.
func (w *Worker) begin() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.leaving {
		return w.stopped()
	}
	w.work.Add(1)
	return nil
}

// drain lets what runs continue for as long as was granted, and then ends it. What was ended
// is run again by another worker.
func (w *Worker) drain() {
	w.mu.Lock()
	w.leaving = true
	w.mu.Unlock()
	done := make(chan struct{})
	go func() {
		w.work.Wait()
		close(done)
	}()
	w.warn("worker %s takes no more loops, and lets iterations continue for %s", w.Name, w.Drain)
	select {
	case <-done:
		return
	case <-time.After(w.Drain):
	}
	w.cut(w.stopped())
	select {
	case <-done:
	case <-time.After(ending):
	}
}
