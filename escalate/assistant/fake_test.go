package assistant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/proc"
)

// What the test binary reads when it plays an assistant: what it does, one part
// for each time it runs, the last for all further ones, and where it keeps the
// requests.
const (
	partsVariable = "ASSISTANT_TEST_PARTS"
	dirVariable   = "ASSISTANT_TEST_DIR"
)

func TestMain(m *testing.M) {
	if proc.IsGuardian() {
		os.Exit(proc.GuardianMain())
	}
	if parts := os.Getenv(partsVariable); parts != "" {
		var all []string
		if err := json.Unmarshal([]byte(parts), &all); err != nil {
			panic(err)
		}
		play(all)
	}
	os.Exit(m.Run())
}

// play does what the part for this run says: a verb, and what it prints.
func play(parts []string) {
	n := 0
	for ; ; n++ {
		f, err := os.OpenFile(requestFile(os.Getenv(dirVariable), n), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			continue
		}
		part := parts[min(n, len(parts)-1)]
		if !strings.HasPrefix(part, "blurt ") && !strings.HasPrefix(part, "closed ") {
			if _, err := io.Copy(f, os.Stdin); err != nil {
				panic(err)
			}
		}
		f.Close()
		perform(part)
	}
}

func perform(part string) {
	verb, text, _ := strings.Cut(part, " ")
	code := 0
	switch verb {
	case "closed":
		os.Stdin.Close()
	case "flood":
		fmt.Print(text)
		os.Stdout.Write(bytes.Repeat([]byte(" "), 10<<20))
	case "exit":
		number, rest, _ := strings.Cut(text, " ")
		code, _ = strconv.Atoi(number)
		text = rest
		fmt.Fprintln(os.Stderr, "no\x1b[31m luck")
	case "kill":
		fmt.Print(text)
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		block()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Print(text)
		fmt.Fprintln(os.Stderr, "ready")
		block()
	case "late":
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, "ready")
		<-told
	}
	fmt.Print(text)
	os.Exit(code)
}

// block returns never.
func block() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, os.Interrupt)
	<-never
}

func requestFile(dir string, n int) string {
	return filepath.Join(dir, "request-"+strconv.Itoa(n))
}

// fake is an assistant command that does these parts.
type fake struct {
	Options
	dir string
}

func newFake(t *testing.T, parts ...string) *fake {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return &fake{dir: dir, Options: Options{
		Command: `exec "$FAKE"`,
		// With the race detector a program takes a second to exit otherwise.
		Env:    append(os.Environ(), "GORACE=atexit_sleep_ms=0", "FAKE="+self, partsVariable+"="+string(text), dirVariable+"="+dir),
		Delays: []time.Duration{0, 0, 0}, KillAfter: 100 * time.Millisecond,
	}}
}

// runs is how often it has run.
func (f *fake) runs(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(f.dir, "request-*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// request is what it got the n-th time, from 0.
func (f *fake) request(t *testing.T, n int) Request {
	t.Helper()
	text, err := os.ReadFile(requestFile(f.dir, n))
	if err != nil {
		t.Fatal(err)
	}
	return decoded[Request](t, text)
}

// decoded reads JSON that has no keys but those of T.
func decoded[T any](t *testing.T, text []byte) T {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// trip is a question as a guard asks it.
func trip() core.Question {
	return core.Question{
		ID: "max_iterations-9", Guard: core.MaxIterations, Kind: core.KindSelect, Header: "Iteration limit",
		Text: "5 of 5 iterations are used.\nWhat should happen next?", Details: []string{"2 of 5 tests failing: auth, logout"},
		Default: "continue",
		Options: []core.Option{
			{ID: "continue", Label: "Continue +5", Action: core.ActionContinue, Extend: core.Extend{Iterations: 5}},
			{ID: "accept", Label: "Accept current", Description: "Keep what is there", Action: core.ActionAccept},
			{ID: "review", Label: "Review", Action: core.ActionReview},
			{ID: "cancel", Label: "Cancel", Action: core.ActionCancel},
		},
	}
}

// asked is a question as the command in the loop asks it.
func asked(kind core.Kind) core.Question {
	q := core.Question{ID: "ask-1", Kind: kind, Header: "Deploy", Text: "Deploy to production?"}
	if kind == core.KindSelect {
		q.Options = []core.Option{{ID: "blue", Label: "Blue"}, {ID: "cancel", Label: "Neither", Action: core.ActionCancel}}
	}
	return q
}

// stuck is a run whose iteration limit tripped.
func stuck() *core.State {
	limits := core.DefaultLimits()
	limits.Iterations = 5
	last := core.IterationFinished{Iteration: 5, Outcome: core.OutcomeNotDone, ExitCode: 1, Excerpt: "FAIL auth\nFAIL logout"}
	earlier := last
	earlier.Iteration, earlier.Excerpt = 4, "FAIL \x1b[31mlogin\x1b[0m"
	return &core.State{
		RunID: "20260102-1504-abcd", Name: "fix the tests", Command: []string{"./fix.sh"}, Check: []string{"go", "test", "./..."},
		Iterations: 5, Elapsed: 250 * time.Second, Limits: limits, Initial: limits, Caps: core.DefaultCaps(limits),
		Last: &last, Errors: []core.IterationFinished{earlier, last},
		Trip: &core.Trip{Guard: core.MaxIterations, Iteration: 5, Reason: "5 of 5 iterations are used.", Also: []core.GuardID{core.LoopDetected}},
		Decisions: []core.Decision{{Iteration: 3, ActionApplied: core.ActionApplied{
			Option: "new_approach", Action: core.ActionContinue, Guard: core.LoopDetected,
			Responder: core.RespondedByPolicy, Reason: "Fewer tests fail.",
		}}},
	}
}
