package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// failedWave is iteration n of a long run: each fails in a way of its own.
func failedWave(n int) core.IterationFinished {
	return core.IterationFinished{
		Outcome: core.OutcomeNotDone, ExitCode: 1, DurationMS: 1500,
		Signature: signature.Signature{Label: fmt.Sprintf("test-fail:1-wave%d", n), Hash: signature.Hash(n + 1), Failing: 1, Passed: 2, Total: 3},
	}
}

func newTestReplay(t *testing.T, w io.Writer, format string) *Replay {
	t.Helper()
	r := NewReplay(w, format)
	if err := r.begin(core.RunStarted{Limits: core.DefaultLimits()}); err != nil {
		t.Fatal(err)
	}
	return r
}

// The JSON is written piece by piece, and is what it would be in one piece.
func TestReplayJSONIsOneDocument(t *testing.T) {
	for _, n := range []int{0, 1, 2, 500} {
		var out bytes.Buffer
		r := newTestReplay(t, &out, "json")
		for i := range n {
			if err := r.add("<a&b>.log", failedWave(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
		whole := struct {
			Schema     string         `json:"schema"`
			Iterations []replayedStep `json:"iterations"`
			Trips      []replayedTrip `json:"trips"`
		}{}
		if err := json.Unmarshal(out.Bytes(), &whole); err != nil {
			t.Fatalf("%d iterations: %v\n%s", n, err, out.String())
		}
		if len(whole.Iterations) != n || whole.Schema != replaySchema || len(whole.Trips) != len(r.guards) {
			t.Errorf("%d iterations: %d, schema %q, %d guards", n, len(whole.Iterations), whole.Schema, len(whole.Trips))
		}
		if whole.Iterations == nil {
			t.Errorf("%d iterations: no list of them", n)
		}
		again, err := json.MarshalIndent(whole, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(out.String(), "\n"); got != string(again) {
			t.Errorf("%d iterations: written piece by piece\n%.300s\nin one piece\n%.300s", n, got, again)
		}
	}
}

// A replay that cannot go on leaves no document that reads as a whole one.
func TestReplayJSONCutIsNoDocument(t *testing.T) {
	var out bytes.Buffer
	r := newTestReplay(t, &out, "json")
	if err := errors.Join(r.add("a.log", failedWave(1)), r.Cut()); err != nil {
		t.Fatal(err)
	}
	if out.Len() == 0 || json.Valid(out.Bytes()) {
		t.Errorf("a replay that was cut off printed %q", out.String())
	}
}

// People get the first iterations and the number of the others.
func TestReplayTextListsSoMany(t *testing.T) {
	for _, c := range []struct{ n, lines, more int }{
		{replayLines, replayLines, 0},
		{replayLines + 1, replayLines, 1},
	} {
		var out bytes.Buffer
		r := newTestReplay(t, &out, "text")
		for i := range c.n {
			if err := r.add("", failedWave(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
		more := strings.Contains(out.String(), fmt.Sprintf("and %d more\n", c.more))
		if got := strings.Count(out.String(), "  exit "); got != c.lines || more != (c.more > 0) {
			t.Errorf("%d iterations: %d lines, more: %v", c.n, got, more)
		}
	}
}

// A replay of any length takes the same memory.
func TestReplayMemoryIsBounded(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		r := newTestReplay(t, io.Discard, format)
		i := 0
		upTo := func(n int) uint64 {
			for ; i < n; i++ {
				if err := r.add("", failedWave(i)); err != nil {
					t.Fatal(err)
				}
			}
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		short, long := upTo(1000), upTo(51_000)
		// One word for each of the 50,000 iterations would be 400 kB.
		if grown := int64(long) - int64(short); grown > 256<<10 {
			t.Errorf("%s: 50,000 iterations more take %d bytes more", format, grown)
		}
		runtime.KeepAlive(r)
	}
}
