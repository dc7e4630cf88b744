package hooks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/proc"
)

func TestMain(m *testing.M) {
	if proc.IsGuardian() {
		os.Exit(proc.GuardianMain())
	}
	os.Exit(m.Run())
}

// warnings keeps what the hooks report.
type warnings struct {
	mu  sync.Mutex
	all []string
}

func (w *warnings) warn(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}

func (w *warnings) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.all, "\n")
}

// bench is hooks in a folder of their own, with what they report.
type bench struct {
	*Hooks
	*warnings
}

// short is the limit of hooks that are to pass it; others of the same test have to
// end within it.
const short = 3 * time.Second

// newBench lets hooks have a minute, so that no test depends on being fast.
func newBench(t *testing.T) bench {
	t.Helper()
	w := new(warnings)
	h := &Hooks{Dir: t.TempDir(), Timeout: time.Minute, KillAfter: 100 * time.Millisecond, Warn: w.warn}
	t.Cleanup(func() { h.Close(t.Context()) })
	return bench{h, w}
}

func (b bench) file(name string) string { return filepath.Join(b.Dir, name) }

func (b bench) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(b.file(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	eventually.Holds(t, what, holds)
}

// drained waits until nothing is queued, without closing.
func (b bench) drained(t *testing.T) {
	t.Helper()
	until(t, "the hooks have run", func() bool {
		b.Hooks.mu.Lock()
		defer b.Hooks.mu.Unlock()
		return b.idle == nil
	})
}

const runID = "20260102-150405-3f9a"

// The events that have hooks, and the state after them.
var (
	asked = event(7, core.QuestionAsked{Question: core.Question{
		ID: "q", Guard: core.MaxIterations, Kind: core.KindSelect, Header: "Iteration limit", Text: "5 of 5 are used.\nHow to proceed?",
		Details: []string{"make test · /src/shop", "", "FAIL login"},
		Options: []core.Option{{ID: "continue", Label: "Continue +5", Action: core.ActionContinue}, {ID: "shell", Shell: true}},
	}})
	tripped = event(6, core.GuardTripped{Trip: core.Trip{Guard: core.MaxIterations, Reason: "5 of 5 iterations are used."}})
	over    = event(9, core.RunFinished{Ending: core.Ending{Status: core.StatusTripped, ExitCode: 110, Guard: core.MaxIterations}})
)

func event(seq int64, d core.Data) core.Event {
	return core.Event{Seq: seq, Time: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), Elapsed: 3 * time.Second, Data: d}
}

// state is a run in which that happened.
func state(e core.Event) *core.State {
	s := &core.State{RunID: runID, Name: "nightly", Dir: "/src/shop", Iterations: 5, Last: &core.IterationFinished{Iteration: 5, Outcome: core.OutcomeNotDone}}
	switch d := e.Data.(type) {
	case core.RunFinished:
		s.Ending = &d.Ending
	case core.RunPaused:
		s.Ending = &core.Ending{Status: core.StatusPaused, ExitCode: 102, Reason: d.Reason}
		if d.Pending {
			s.Question = &core.Question{ID: "q"}
		}
	}
	return s
}

func (b bench) observe(events ...core.Event) {
	for _, e := range events {
		b.Observe(e, state(e))
	}
}

// documents are the lines that a hook has kept of its input.
func documents(t *testing.T, text string) []Document {
	t.Helper()
	var all []Document
	for line := range strings.Lines(text) {
		var d Document
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&d); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, d)
	}
	return all
}

func names(all []Document) []string {
	var n []string
	for _, d := range all {
		n = append(n, d.Hook)
	}
	return slices.Clip(n)
}
