package scratchpad

import (
	"errors"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

// TestWhatIsSyncedWhen: each mode syncs, or plans to, what it promises.
func TestWhatIsSyncedWhen(t *testing.T) {
	for _, mode := range []SyncMode{SyncOff, SyncAsync, SyncEach} {
		r := newRun(t, mode)
		s := &core.State{}
		add := func(d core.Data) {
			t.Helper()
			e := core.Event{Seq: s.Seq + 1, Time: time.Unix(1, 0).UTC(), Data: d}
			if err := errors.Join(s.Apply(e), r.Journal.Append(e)); err != nil {
				t.Fatal(err)
			}
		}
		state := func() (planned, dirty bool) {
			r.Journal.mu.Lock()
			defer r.Journal.mu.Unlock()
			return r.Journal.timer != nil || r.Journal.busy, r.Journal.dirty
		}
		add(core.RunStarted{RunID: "r", Limits: core.DefaultLimits()})
		switch planned, dirty := state(); {
		case mode == SyncAsync && dirty && !planned: // it may be on the disk by now
			t.Error("no sync is planned")
		case mode == SyncOff && planned, mode != SyncAsync && !dirty:
			t.Errorf("%s: planned %v, unsynced %v", mode, planned, dirty)
		}
		add(core.IterationStarted{Iteration: 1})
		add(core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone})
		if _, dirty := state(); mode != SyncAsync && dirty == (mode == SyncEach) {
			t.Errorf("%s: after an iteration unsynced %v", mode, dirty)
		}
		if err := r.Journal.Sync(); err != nil {
			t.Error(err)
		}
		if _, dirty := state(); dirty != (mode == SyncOff) {
			t.Errorf("%s: after Sync unsynced %v", mode, dirty)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
