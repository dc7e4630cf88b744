package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/signature"
)

// waves fail in a way of their own each, with all that an iteration can leave.
type waves struct{}

func (waves) Run(_ context.Context, it core.Iteration) (core.IterationResult, error) {
	h := signature.Hash(it.Number)
	return core.IterationResult{IterationFinished: core.IterationFinished{
		Outcome: core.OutcomeNotDone, ExitCode: 1, Tree: h, Content: h,
		Signature: signature.Signature{
			Label: fmt.Sprintf("test-fail:1-wave%d", it.Number), Hash: h, Loose: h, Failing: 1, Passed: 2, Total: 3,
			Checks: []string{fmt.Sprintf("wave%d", it.Number)},
		},
		Excerpt: fmt.Sprintf("Error: wave %d was lost", it.Number),
	}}, nil
}

// A loop of 50,000 iterations takes no more memory than one of 1,000: the state
// keeps the last iterations, and without a journal nothing keeps the others.
// Every limit that counts evidence is on, so that their windows are looked at.
func TestLongRunMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 50,000 iterations")
	}
	const short, long = 1_000, 51_000
	heap, state := map[int]uint64{}, map[int]int{}
	loop := &engine.Loop{Guards: guards.Default(), Runner: waves{}}
	loop.Observe = func(e core.Event, s *core.State) {
		if _, ends := e.Data.(core.IterationFinished); !ends || s.Iterations != short && s.Iterations != long {
			return
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Error(err)
		}
		state[s.Iterations] = len(b)
		b = nil
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap[s.Iterations] = m.HeapAlloc
	}
	limits := core.Limits{
		Iterations: long, Runtime: core.Off, Loop: long, Errors: long,
		Cost: 1, Tokens: 1, IdleIterations: long, WorkspaceCycles: long,
	}
	if err := loop.Start(core.RunStarted{Command: []string{"waves"}, Limits: limits}); err != nil {
		t.Fatal(err)
	}
	result, err := loop.Run(t.Context())
	if err != nil || result.Guard != core.MaxIterations || result.Iterations != long {
		t.Fatalf("it ended with %+v, %v", result, err)
	}
	// One word for each of the 50,000 iterations would be 400 kB.
	if grown := int64(heap[long]) - int64(heap[short]); grown > 256<<10 {
		t.Errorf("50,000 iterations more take %d bytes more", grown)
	}
	// Numbers get longer, and nothing else does.
	if state[long] > state[short]*11/10 {
		t.Errorf("the state grew from %d to %d bytes", state[short], state[long])
	}
	runtime.KeepAlive(loop)
}
