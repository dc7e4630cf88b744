package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/socket"
	"github.com/looprun/looprun/scratchpad"
)

const runID = "20260102-030405-0001"

// elsewhere is a machine with one run.
type elsewhere struct {
	mu      sync.Mutex
	events  []core.Event
	answers []core.Answer
	hidden  bool // the list is late
}

// happens adds events to the run.
func (e *elsewhere) happens(data ...core.Data) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range data {
		e.events = append(e.events, core.Event{Seq: int64(len(e.events) + 1), Time: time.Unix(1e9, 0).UTC(), Data: d})
	}
}

func (e *elsewhere) Active(_ context.Context, each func(id, version string)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.events); !e.hidden && (n == 0 || e.events[n-1].Data.Type() != (core.RunFinished{}).Type()) {
		each(runID, string(rune('0'+n)))
	}
	return nil
}

func (e *elsewhere) Events(_ context.Context, _ string, each func(core.Event) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range e.events {
		if err := each(event); err != nil {
			return err
		}
	}
	return nil
}

func (e *elsewhere) Answer(_ context.Context, id, questionID string, a core.Answer) error {
	if id != runID || questionID != "q1" {
		return errors.New("no such question")
	}
	e.mu.Lock()
	e.answers = append(e.answers, a)
	e.mu.Unlock()
	e.happens(core.QuestionAnswered{QuestionID: questionID, Answer: a}, core.RunFinished{Ending: core.Ending{Status: core.StatusCancelled, ExitCode: 101, Reason: "cancelled"}})
	return nil
}

// follow follows the source until the test ends, and returns the directory of its run.
func follow(t *testing.T, source *elsewhere) (dir string, end func()) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	stateDir := filepath.Join(t.TempDir(), "here", ".looprun")
	ctx, cancel := context.WithCancel(t.Context())
	ended, ready := make(chan error, 1), make(chan struct{})
	var said bytes.Buffer
	say := &console.Observer{Messages: console.Messages{W: &said}}
	go func() { ended <- Follow(ctx, stateDir, source, say, func() { close(ready) }) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil || said.Len() > 0 {
			t.Errorf("it ended with %v and said %s", err, &said)
		}
	})
	t.Cleanup(end)
	<-ready
	return filepath.Join(stateDir, runID), end
}

// asks is how the run comes to ask.
var asks = []core.Data{
	core.GuardTripped{Trip: core.Trip{Guard: core.MaxRuntime}},
	core.QuestionAsked{Question: core.Question{
		ID: "q1", Guard: core.MaxRuntime, Header: "Stuck", Options: []core.Option{{ID: "cancel", Label: "Cancel", Action: core.ActionCancel}},
	}},
}

func TestARunOfAnotherMachineIsShownAndAnswered(t *testing.T) {
	source := new(elsewhere)
	source.happens(core.RunStarted{RunID: runID, Command: []string{"./fix.sh"}})
	dir, end := follow(t, source)
	if s := scratchpad.Summarize(dir); s.Status != core.StatusRunning || s.Command[0] != "./fix.sh" {
		t.Fatalf("it is shown as %+v", s)
	}
	order := session.Ordered{Order: core.OrderSay, Words: "look at the rights"}
	if err := (session.TrustFlag{}).Order(dir, order); err == nil || !strings.Contains(err.Error(), "on another machine") {
		t.Errorf("words to it gave %v", err)
	}
	source.happens(asks...)
	var w *session.Waiting
	eventually.Holds(t, "the question is here", func() bool {
		w, _ = session.Look(dir)
		return w != nil && w.Live && len(w.Questions) == 1
	})
	// A command of a run has a guardian above it; a process that has gone may have had one.
	body, _ := json.Marshal(session.Answered{QuestionID: "q1", Answer: core.Answer{Option: "cancel"}})
	inside := &follower{from: source}
	if err := inside.answer(t.Context(), runID, socket.Peer{PID: 1 << 30}, session.KindAnswer, body); err == nil || len(source.answers) > 0 {
		t.Errorf("an answer of nobody known gave %v, %v", err, source.answers)
	}
	say := &console.Observer{Messages: console.Messages{W: os.Stderr}}
	if told, err := (session.TrustFlag{}).Give(say, dir, session.Answered{QuestionID: "q2", Answer: core.Answer{Option: "cancel"}}); told || err == nil {
		t.Errorf("an answer to another question gave %v, %v", told, err)
	}
	told, err := (session.TrustFlag{}).Give(say, dir, session.Answered{QuestionID: "q1", Answer: core.Answer{Option: "cancel"}})
	if !told || err != nil || len(source.answers) != 1 || source.answers[0].Responder != core.RespondedByUser {
		t.Fatalf("the answer gave %v, %v; it arrived as %+v", told, err, source.answers)
	}
	eventually.Holds(t, "the end is here", func() bool {
		return scratchpad.Summarize(dir).Status == core.StatusCancelled && !scratchpad.Locked(dir)
	})
	if text, err := os.ReadFile(filepath.Join(dir, "result.json")); err != nil || !bytes.Contains(text, []byte(`"cancelled"`)) {
		t.Errorf("the verdict is %s, %v", text, err)
	}
	end()
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copies are still there: %v", err)
	}
}

// A list can be late: a run that is missing in it for a moment is followed on, one that comes
// back is followed again, and one that is not there any more is given up.
func TestARunIsMissingInTheList(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	source := new(elsewhere)
	source.happens(core.RunStarted{RunID: runID, Command: []string{"./fix.sh"}})
	f := &follower{filepath.Join(t.TempDir(), ".looprun"), source, &console.Observer{Messages: console.Messages{W: io.Discard}}, map[string]*followed{}, map[string]string{}, nil}
	look := func(want bool) {
		t.Helper()
		if err := f.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if live := scratchpad.Locked(filepath.Join(f.stateDir, runID)); live != want {
			t.Errorf("the copy is live: %v", live)
		}
	}
	look(true)
	source.hidden = true
	for range absent - 1 {
		look(true)
	}
	source.hidden = false
	look(true)
	source.hidden = true
	for range absent - 1 {
		look(true)
	}
	look(false)
	source.hidden = false
	look(true)
	for _, r := range f.runs {
		r.hangUp()
		_ = r.run.Close()
	}
}

// What is wrong is said once, and again when it was well in between.
func TestWhatIsWrongIsSaidOnce(t *testing.T) {
	var said bytes.Buffer
	f := &follower{say: &console.Observer{Messages: console.Messages{W: &said}}, told: map[string]string{}}
	gone := errors.New("its history is gone")
	for _, err := range []error{gone, gone, nil, gone} {
		f.warn(runID, err)
	}
	if n := bytes.Count(said.Bytes(), []byte("gone")); n != 2 {
		t.Errorf("it was said %d times", n)
	}
}

// A copy whose follower was killed looks like a run that was killed, but nobody can answer or
// resume it by mistake; the next follower replaces it.
func TestACopyIsNobodysRun(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	stateDir := filepath.Join(t.TempDir(), ".looprun")
	c, err := Create(stateDir, runID)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range append([]core.Data{core.RunStarted{RunID: runID, Command: []string{"./fix.sh"}}}, asks...) {
		if err := c.Add(core.Event{Seq: int64(i + 1), Time: time.Unix(1e9, 0).UTC(), Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.run.Close(); err != nil { // as a kill does
		t.Fatal(err)
	}
	say := &console.Observer{Messages: console.Messages{W: os.Stderr}}
	if _, err := (session.TrustFlag{}).Give(say, c.Dir, session.Answered{QuestionID: "q1", Answer: core.Answer{Option: "cancel"}}); err == nil || !strings.Contains(err.Error(), "is a copy") {
		t.Errorf("an answer to a copy that nobody follows gave %v", err)
	}
	if _, _, _, err := scratchpad.OpenTrusted(c.Dir, scratchpad.SyncOff); err == nil {
		t.Error("a copy was opened")
	}
}
