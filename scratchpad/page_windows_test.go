package scratchpad

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

// A page that somebody has open is no error, and is replaced by a later call.
func TestAPageInUseIsReplacedLater(t *testing.T) {
	dir, err := os.MkdirTemp("", "looprun-test-") // Wine before 10 cannot remove it
	if err != nil {
		t.Fatal(err)
	}
	run, err := Create(dir, time.Now(), SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	state := &core.State{RunID: run.ID, Name: "the old name"}
	if err := run.Refresh(state, true); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(run.PageFile())
	if err != nil {
		t.Fatal(err)
	}
	state.Name = "the new name"
	if err := run.Refresh(state, true); err != nil {
		t.Errorf("with a reader: %v", err)
	}
	reader.Close()
	if err := run.Refresh(state, false); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(run.PageFile()); err != nil || !strings.Contains(string(text), state.Name) {
		t.Errorf("the page is %q, %v; want it to have %q", text, err, state.Name)
	}
}
