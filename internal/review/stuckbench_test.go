package review

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
)

// Sequences of recordings are judged by a replay: 97 % of them
// have to trip exactly where they are labelled to, with the labelled period.
func TestStuckbenchReplay(t *testing.T) {
	for _, set := range []string{"stuckbench", "stuckbench-dev2", "stuckbench-around"} {
		t.Run(set, func(t *testing.T) {
			if testing.Short() && set != "stuckbench" {
				t.Skip("the set is large")
			}
			replayStuckbench(t, filepath.Join("..", "..", "testdata", set))
		})
	}
}

func replayStuckbench(t *testing.T, dir string) {
	codes := exitCodes(t, dir)
	f, err := os.Open(filepath.Join(dir, "sequences.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	right, all := 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var q struct {
			Tool, Name string
			Files      []string
			TripAt     int `json:"trip_at"`
			Cycle      int
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		if q.Tool == "agent-prose+go-test" { // no output of a tool; it is told apart
			continue
		}
		var args []string
		for _, file := range q.Files {
			args = append(args, fmt.Sprintf("%s=%d", filepath.Join(dir, file), codes[file]))
		}
		r := NewReplay(false)
		r.Rules = new(config.Signature)
		if err := r.Outputs(args); err != nil {
			t.Fatal(err)
		}
		all++
		for _, trip := range r.trips {
			if trip.Guard != core.LoopDetected {
				continue
			}
			if trip.At == q.TripAt && (trip.At == 0 || trip.Period == max(1, q.Cycle)) {
				right++
			} else {
				t.Logf("%s/%s: tripped at %d with period %d, want %d with %d", q.Tool, q.Name, trip.At, trip.Period, q.TripAt, max(1, q.Cycle))
			}
		}
	}
	t.Logf("%d of %d sequences right", right, all)
	if all == 0 || right*100 < all*97 {
		t.Errorf("%d of %d sequences right, want at least 97 %%", right, all)
	}
}

func exitCodes(t *testing.T, dir string) map[string]int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		File string
		Exit int `json:"exit_code"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	codes := map[string]int{}
	for _, r := range list {
		codes[r.File] = r.Exit
	}
	return codes
}
