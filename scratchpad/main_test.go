package scratchpad

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// TestMain lets the test binary play the processes that the tests kill.
func TestMain(m *testing.M) {
	if role := os.Getenv("SCRATCHPAD_TEST_ROLE"); role != "" {
		os.Exit(play(role, os.Getenv("SCRATCHPAD_TEST_DIR")))
	}
	os.Exit(apart(m.Run))
}

// apart gives the tests a state folder of their own for the user's key.
func apart(run func() int) int {
	dir := must(os.MkdirTemp("", "looprun-test-state-"))
	defer os.RemoveAll(dir)
	_ = os.Setenv("XDG_STATE_HOME", dir)
	return run()
}

// day is when the runs of the tests start.
var day = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// made is when their directories are: it gives the id that the events have.
var made = day.Add(0x3f9a * idStep)

// numbered makes events of their data, as a run does.
func numbered(data ...core.Data) []core.Event {
	events := make([]core.Event, len(data))
	for i, d := range data {
		at := time.Duration(i) * 1234 * time.Millisecond
		events[i] = core.Event{Seq: int64(i + 1), Time: day.Add(at), Elapsed: at, Data: d}
	}
	return events
}

func started() core.RunStarted {
	limits := core.DefaultLimits()
	return core.RunStarted{
		RunID: "20260102-150405-3f9a", Name: "make the tests pass", Command: []string{"./fix.sh", "--all"},
		Limits: limits, Caps: core.DefaultCaps(limits), Version: "v1",
	}
}

// failing is iteration n with two failing tests.
func failing(n int) core.IterationFinished {
	return core.IterationFinished{
		Iteration: n, Outcome: core.OutcomeNotDone, ExitCode: 1, DurationMS: 1500,
		Signature: signature.Signature{
			Kind: signature.KindTestFail, Label: "test-fail:2-auth,login", Hash: 0xabc + signature.Hash(n), Loose: 7,
			Facts: []string{"fail:auth", "fail:login"}, Failing: 2, Passed: 3, Total: 5, Checks: []string{"auth", "login"},
			Errors: []string{"auth_test.go:31: got 401, want 200"},
		},
		Excerpt: "--- FAIL: TestLogin (0.02s)\n    auth_test.go:31: got 401, want 200\nFAIL", OutputBytes: 12345,
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// newRun makes a run in an empty state directory.
func newRun(t testing.TB, mode SyncMode) *Run {
	t.Helper()
	r, err := Create(filepath.Join(t.TempDir(), StateDirName), made, mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// appendAll appends the events and applies them to a state.
func appendAll(t testing.TB, r *Run, events []core.Event) *core.State {
	t.Helper()
	s := new(core.State)
	for _, e := range events {
		if err := r.Journal.Append(e); err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// written makes a closed run of the events and returns its directory.
func written(t testing.TB, events []core.Event) string {
	t.Helper()
	r := newRun(t, SyncOff)
	appendAll(t, r, events)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return r.Dir
}

// iterations is a run of n failing iterations.
func iterations(n int) []core.Event {
	data := []core.Data{started()}
	for i := 1; i <= n; i++ {
		data = append(data, core.IterationStarted{Iteration: i}, failing(i))
	}
	return numbered(data...)
}

// ending is the last record of a run that looprun itself ended.
func ending(seq int64, reason string) core.Event {
	return core.Event{Seq: seq, Time: day, Data: core.RunFinished{
		Ending: core.Ending{Status: core.StatusFailed, ExitCode: core.ExitFailed, Reason: reason},
	}}
}

// collect replays a run and returns its events as JSON.
func collect(dir string) (events []string, tail Tail, err error) {
	tail, err = Replay(dir, func(e core.Event) error {
		events = append(events, asJSON(e))
		return nil
	})
	return events, tail, err
}

// encoded is the line of an event without its break; its detail file is made.
func encoded(t testing.TB, dir string, e core.Event) []byte {
	t.Helper()
	object, detail, err := encode(e)
	if err == nil && detail != nil {
		err = (&Journal{dir: dir, mode: SyncOff}).writeDetail(e.Seq, detail)
	}
	if err != nil {
		t.Fatalf("%s: %v", e.Data.Type(), err)
	}
	line := seal(object, "")
	if n := len(line); n > pageSize || line[n-1] != '\n' {
		t.Errorf("%s: a line of %d bytes", e.Data.Type(), n)
	}
	return line[:len(line)-1]
}

func asJSON(v any) string { return string(must(json.Marshal(v))) }

func journalOf(dir string) string { return filepath.Join(dir, journalName) }

func readFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeFile(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// play is what the helper process does: one of the roles.
func play(role, dir string) int {
	var err error
	switch role {
	case "append":
		err = playAppend(dir)
	case "hold":
		err = playHold(dir)
	default:
		err = fmt.Errorf("no role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

// helper is this test binary in a role.
type helper struct {
	t      testing.TB
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

func startHelper(t testing.TB, role, dir string) *helper {
	t.Helper()
	h := &helper{t: t, cmd: exec.Command(must(os.Executable()))}
	h.cmd.Env = append(os.Environ(), "SCRATCHPAD_TEST_ROLE="+role, "SCRATCHPAD_TEST_DIR="+dir)
	h.cmd.Stderr = os.Stderr
	h.stdin = must(h.cmd.StdinPipe())
	h.stdout = bufio.NewReader(must(h.cmd.StdoutPipe()))
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.kill)
	return h
}

// line is the next line that the helper prints; empty when it has ended.
func (h *helper) line() string {
	line, err := h.stdout.ReadString('\n')
	if err != nil {
		return ""
	}
	return line[:len(line)-1]
}

// kill ends the helper as kill -9 does, and returns when it is gone.
func (h *helper) kill() {
	_ = h.cmd.Process.Kill()
	_, _ = h.cmd.Process.Wait()
}
