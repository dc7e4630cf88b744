package fleet

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
)

const (
	// idle is how long a loop may keep a slot without using it. Longer, and the loop was ended by
	// force, or is elsewhere.
	idle = 2 * time.Minute
	// sickAfter is how many loops in a row a worker fails to place before it takes none for rest.
	sickAfter = 3
	rest      = time.Minute
	// ending is how long commands that were told to end may take, and results to be reported.
	ending = 30 * time.Second
)

// slots are the slots of a worker: each is used by a poll for a loop, or held by a loop. They
// limit how many loops the worker takes from the queue that workers share.
type slots struct {
	used chan struct{} // as many as are in use

	mu     sync.Mutex
	kept   int // slots of polls that loops hold from now on
	failed int // placements in a row
	until  time.Time
}

// tuner gives the slots to the activities of a worker.
type tuner struct {
	worker.WorkerTuner
	*slots
}

func (t tuner) GetActivityTaskSlotSupplier() worker.SlotSupplier { return t.slots }

func newSlots(n int) *slots { return &slots{used: make(chan struct{}, n)} }

// ReserveSlot waits for a slot to poll with.
func (s *slots) ReserveSlot(ctx context.Context, _ worker.SlotReservationInfo) (*worker.SlotPermit, error) {
	for {
		s.mu.Lock()
		pause := time.Until(s.until)
		s.mu.Unlock()
		if pause <= 0 {
			return &worker.SlotPermit{}, s.take(ctx)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take waits for a slot.
func (s *slots) take(ctx context.Context) error {
	select {
	case s.used <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// give returns a slot.
func (s *slots) give() {
	select {
	case <-s.used:
	default: // the loop came without a poll
	}
}

// TryReserveSlot is for tasks that skip the queue: none does.
func (s *slots) TryReserveSlot(worker.SlotReservationInfo) *worker.SlotPermit { return nil }

// MarkSlotUsed does nothing: a poll uses a slot from its beginning.
func (s *slots) MarkSlotUsed(worker.SlotMarkUsedInfo) {}

// ReleaseSlot returns the slot of a poll, unless a loop holds it now.
func (s *slots) ReleaseSlot(worker.SlotReleaseInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept > 0 {
		s.kept--
		return
	}
	s.give()
}

// MaxSlots returns how many there are.
func (s *slots) MaxSlots() int { return cap(s.used) }

// keep makes the slot of the current poll the slot of a loop.
func (s *slots) keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept++
}

// placed notes whether the worker could place a loop. It returns true if too many in a row
// failed: then no loop is taken for a while.
func (s *slots) placed(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.failed = 0
		return false
	}
	if s.failed++; s.failed < sickAfter {
		return false
	}
	s.failed = 0
	if until := time.Now().Add(rest); until.After(s.until) { // a worker that stops takes none ever
		s.until = until
	}
	return true
}

// close ends the polls for loops.
func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Now().Add(forever)
}

// hold gives a loop a slot: that of the poll that brought it; or, for a loop that came without
// one, the next that is free within the wait.
func (w *Worker) hold(ctx context.Context, id string, wait time.Duration) error {
	w.mu.Lock()
	_, held := w.held[id]
	used := len(w.slots.used)
	polled := used == w.Slots && used > len(w.held) // a poll that has a slot takes the loop from the shared queue
	w.mu.Unlock()
	if held {
		return nil
	}
	if wait > 0 {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		defer context.AfterFunc(w.taking, cancel)()
		if wait == again && polled || w.slots.take(ctx) != nil {
			return temporal.NewNonRetryableApplicationError(fmt.Sprintf("worker %s has no free slot", w.Name), errGone, nil)
		}
	} else {
		w.slots.keep()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held[id] = time.Now()
	return nil
}

// unhold returns the slot of a loop, if it has one.
func (w *Worker) unhold(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, held := w.held[id]; held {
		delete(w.held, id)
		w.slots.give()
	}
}

// begin notes that something runs. It returns an error if the worker takes nothing any more.
func (w *Worker) begin() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taking.Err() != nil {
		return temporal.NewNonRetryableApplicationError("worker "+w.Name+" takes nothing more", errGone, nil)
	}
	w.work.Add(1)
	return nil
}

// drain lets what runs continue for as long as was granted, and then ends it. What was ended
// is run again by another worker.
func (w *Worker) drain() {
	w.slots.close()
	w.mu.Lock()
	w.leave()
	w.mu.Unlock()
	done := make(chan struct{})
	go func() {
		w.work.Wait()
		close(done)
	}()
	w.Log.Info("worker takes no more loops, and lets iterations continue", "for", w.Drain)
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
