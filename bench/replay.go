package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
)

// replaySizes are the lengths of the replayed runs, in iterations.
var replaySizes = []int{1_000, 10_000, 100_000, 1_000_000}

// replayRounds is how often each of them is replayed: short ones more often, since they vary
// more.
var replayRounds = map[int]int{1: 41, 1_000: 41, 10_000: 15, 100_000: 5, 1_000_000: 3}

// replays measures whether an iteration costs the same however long the run is: first in the
// loop that records it, then in looprun replay. It compares processor time, which varies less
// than elapsed time on a shared machine, without that of starting the process.
func replays(looprun string) error {
	dir, err := os.MkdirTemp("", "looprun-replay-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{looprun: looprun, dir: dir}
	fmt.Printf("%s/%s, %d CPUs, %s; medians of interleaved rounds\n\nrecording\n%12s %14s %14s %14s\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), "iterations", "iterations/s", "journal", "heap")
	recorded := func(n int, name string) (*candidate, error) {
		state := filepath.Join(dir, fmt.Sprint(n))
		id, err := record(state, n, name == "")
		return &candidate{name: name, argv: []string{looprun, "replay", "--state-dir", state, "--run", id}}, err
	}
	// One iteration measures the cost of starting up.
	rest, err := recorded(1, "at rest")
	if err != nil {
		return err
	}
	all := []*candidate{rest}
	for _, n := range replaySizes {
		c, err := recorded(n, "")
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	for round := range replayRounds[1] {
		for i, c := range all {
			if i > 0 && round >= replayRounds[replaySizes[i-1]] {
				continue
			}
			s, err := b.once(c)
			if err != nil {
				return err
			}
			c.runs = append(c.runs, s)
		}
	}
	fmt.Printf("\nlooprun replay --run\n%12s %14s %14s %14s\n", "iterations", "iterations/s", "µs/iteration", "peak")
	for i, n := range replaySizes {
		took := all[i+1].processor() - rest.processor()
		fmt.Printf("%12d %14.0f %14.2f %14s\n", n, float64(n)/took.Seconds(), float64(took.Nanoseconds())/1e3/float64(n), mib(all[i+1].rss()))
	}
	fmt.Printf("%12s %14s %14s %14s\n", "at rest", "", "", mib(rest.rss()))
	return nil
}

// waves is a runner whose iterations each fail in a unique way: no guard trips, and nothing
// repeats.
type waves struct{}

func (waves) Run(_ context.Context, it core.Iteration) (core.IterationResult, error) {
	h := signature.Hash(uint64(it.Number) * 0x9e3779b97f4a7c15)
	name := fmt.Sprintf("wave%d", it.Number)
	return core.IterationResult{IterationFinished: core.IterationFinished{
		Outcome: core.OutcomeNotDone, ExitCode: 1, DurationMS: 1500, OutputBytes: 12345,
		Signature: signature.Signature{
			Kind: signature.KindTestFail, Label: "test-fail:2-" + name, Hash: h, Loose: h,
			Facts: []string{"fail:" + name, "fail:login"}, Failing: 2, Passed: 3, Total: 5, Checks: []string{name, "login"},
			Errors: []string{"auth_test.go:31: got 401, want 200"},
		},
		Excerpt: "--- FAIL: TestLogin (0.02s)\n    auth_test.go:31: got 401, want 200\nFAIL",
	}}, nil
}

// record runs n empty iterations through the loop, with its journal on disk, and returns the
// run's id.
func record(stateDir string, n int, report bool) (string, error) {
	began := time.Now()
	run, loop, err := recordAt(stateDir, began, n, core.RunStarted{Command: []string{"waves"}})
	took := time.Since(began)
	if err != nil {
		return "", err
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if err := run.Close(); err != nil {
		return "", err
	}
	if report {
		info, err := os.Stat(filepath.Join(run.Dir, "journal.jsonl"))
		if err != nil {
			return "", err
		}
		fmt.Printf("%12s %14.0f %14s %14s\n", strconv.Itoa(n), float64(n)/took.Seconds(), mib(info.Size()), mib(int64(m.HeapAlloc)))
	}
	runtime.KeepAlive(loop)
	return run.ID, nil
}

// recordAt records a run of n iterations that began at that time with that event, and leaves
// it open.
func recordAt(stateDir string, at time.Time, n int, started core.RunStarted) (*scratchpad.Run, *engine.Loop, error) {
	run, err := scratchpad.Create(stateDir, at, scratchpad.SyncOff)
	if err != nil {
		return nil, nil, err
	}
	loop := &engine.Loop{Guards: guards.Default(), Runner: waves{}, Journal: run.Journal}
	started.RunID, started.Limits = run.ID, core.Limits{Iterations: n, Runtime: core.Off, Loop: 3, Errors: 3}
	if err := loop.Start(started); err != nil {
		return nil, nil, err
	}
	result, err := loop.Run(context.Background())
	if err != nil {
		return nil, nil, err
	}
	if result.Guard != core.MaxIterations || result.Iterations != n {
		return nil, nil, fmt.Errorf("the recording ended by %s after %d iterations", result.Guard, result.Iterations)
	}
	result.RunID = run.ID
	return run, loop, errors.Join(run.Refresh(loop.State(), true), run.WriteResult(result, ""))
}
