package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/scratchpad"
)

// rejectedRuns are n runs that were rejected, in a new state directory.
func rejectedRuns(tb testing.TB, n int) (state string) {
	tb.Helper()
	state = filepath.Join(tb.TempDir(), "state")
	limits := core.DefaultLimits()
	for i := range n {
		at := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
		r, err := scratchpad.Create(state, at, scratchpad.SyncOff)
		if err != nil {
			tb.Fatal(err)
		}
		for seq, d := range []core.Data{
			core.RunStarted{RunID: r.ID, Command: []string{"./work.sh"}, Limits: limits, Caps: core.DefaultCaps(limits)},
			core.IterationStarted{Iteration: 1},
			core.RejectionSubmitted{RejectionID: "rej-1", Rejection: rejection.Rejection{
				Task: fmt.Sprintf("task %d", i), ReasonType: "BLOCKER", Summary: "The registry is down.", BlockingFactor: "the registry answers 503",
			}},
			core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone, ExitCode: 1, Excerpt: "503"},
			core.RejectionDecided{RejectionID: "rej-1", Decision: rejection.Accept, Responder: "policy", Reason: "it is"},
			core.RunFinished{Ending: core.Ending{Status: core.StatusRejected}},
		} {
			if err := r.Journal.Append(core.Event{Seq: int64(seq + 1), Time: at, Data: d}); err != nil {
				tb.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return state
}

// Twice as many runs are twice the work: each is read once, and the state
// directory once for all.
func TestStatsTakeAsLongAsThereAreRuns(t *testing.T) {
	work := func(n int) int64 {
		state := rejectedRuns(t, n)
		objects, _ := allocated(func() { countRejections(t, state) })
		return objects
	}
	work(10) // what is made once
	a, b, c := work(50), work(100), work(200)
	t.Logf("50 runs take %d objects, 100 take %d, 200 take %d", a, b, c)
	if more, most := b-a, c-b; 2*most > 5*more {
		t.Errorf("50 runs more take %d objects, and 100 more %d", more, most)
	}
}

// countRejections runs the command, which has to find them all.
func countRejections(tb testing.TB, state string) {
	tb.Helper()
	out, err := os.CreateTemp(tb.TempDir(), "out")
	if err != nil {
		tb.Fatal(err)
	}
	defer out.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		tb.Fatal(err)
	}
	defer null.Close()
	if code, _ := execute([]string{"stats", "rejections", "--state-dir", state}, null, out, out); code != 0 {
		_, _ = out.Seek(0, io.SeekStart)
		b, _ := io.ReadAll(out)
		tb.Fatalf("ended with %d: %s", code, b)
	}
}

// BenchmarkStats10000 counts over as many runs as years of work leave.
func BenchmarkStats10000(b *testing.B) {
	state := rejectedRuns(b, 10_000)
	for b.Loop() {
		countRejections(b, state)
	}
}
