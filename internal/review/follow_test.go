package review

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/scratchpad"
)

// What is shown of the past are its last iterations, and what came before the first
// with it.
func TestFollowShowsTheLast(t *testing.T) {
	run, err := scratchpad.Create(t.TempDir(), time.Now(), scratchpad.SyncAsync)
	if err != nil {
		t.Fatal(err)
	}
	_, err = looprun.Run(t.Context(), looprun.Config{
		RunID: run.ID, Work: engine.Func(func(context.Context, engine.Invocation) error { return errors.New("no") }),
		Limits: core.Limits{Iterations: 3, Runtime: core.Off, Loop: core.Off, Errors: core.Off}, Guards: guards.Default(), Journal: run.Journal,
	})
	if err := errors.Join(err, run.Close()); err != nil {
		t.Fatal(err)
	}
	for number, want := range map[int]string{0: "s123", 1: "3", 2: "23", 3: "s123", 9: "s123"} {
		var b bytes.Buffer
		f := Following{W: &b, Number: number, Say: &console.Observer{Messages: console.Messages{Flags: console.Flags{Verbose: true}}}}
		if killed, err := f.Follow(run.Dir); killed != "" || err != nil {
			t.Fatalf("killed %q, %v", killed, err)
		}
		got := ""
		if strings.Contains(b.String(), "run "+filepath.Base(run.Dir)) {
			got = "s"
		}
		for _, m := range regexp.MustCompile(`iteration (\d) of 3\n`).FindAllStringSubmatch(b.String(), -1) {
			got += m[1]
		}
		if got != want || !strings.Contains(b.String(), "max_iterations tripped") {
			t.Errorf("of the last %d: %q, want %q:\n%s", number, got, want, b.String())
		}
	}
}
