//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
)

// worker stands in its iterations, each until its file is there, and fails. It writes down what
// it was told, and the way in which it is ended.
const worker = `cat "$LOOPRUN_GUIDANCE_FILE" >told.$LOOPRUN_ITERATION
trap 'touch interrupted; exit 1' INT
touch began.$LOOPRUN_ITERATION
while ! test -e go.$LOOPRUN_ITERATION; do sleep 0.02; done
echo Error: same
exit 1
`

func beginWorker(t *testing.T, args ...string) *started {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, dir, "work.sh", worker)
	s := begin(t, dir, append(append([]string{"--non-interactive", "--max-iterations", "9"}, args...), "--", "sh", "work.sh")...)
	until(t, "the first iteration", s.has("began.1"))
	return s
}

// says runs looprun in the folder of the run, and checks its exit code and what it says.
func (s *started) says(t *testing.T, code int, text string, args ...string) {
	t.Helper()
	a := begin(t, s.dir, args...)
	if got := a.ended(t); got != code || !strings.Contains(a.stderr.String(), text) {
		t.Errorf("looprun %s: ended with %d, not %d, or does not say %q: %s", strings.Join(args, " "), got, code, text, a.stderr.String())
	}
}

// recorded are the orders in the journal of the only run.
func (s *started) recorded(t *testing.T) (orders []core.OrderReceived) {
	t.Helper()
	_, err := scratchpad.Replay(onlyRun(t, s.dir), func(e core.Event) error {
		if d, ok := e.Data.(core.OrderReceived); ok {
			orders = append(orders, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return orders
}

// What is said to a run reaches its next iteration, once, and no counter starts over.
func TestSay(t *testing.T) {
	t.Parallel()
	s := beginWorker(t)
	s.says(t, 125, "there are no words", "say", "latest", " ")
	s.says(t, 125, "one word too many", "pause", "latest", "now")
	s.says(t, 0, "passes that on to its next iteration", "say", "latest", "the port is", "8081")
	s.letGo(t, "go.1")
	until(t, "the second iteration", s.has("began.2"))
	s.letGo(t, "go.2")
	until(t, "the third iteration", s.has("began.3"))
	s.letGo(t, "go.3")
	if got := s.ended(t); got != core.LoopDetected.ExitCode() {
		t.Errorf("ended with %d: three failures in a row are a loop, whatever was said meanwhile", got)
	}
	for n, want := range map[string]string{"1": "", "2": "the port is 8081", "3": ""} {
		if got, err := os.ReadFile(s.file("told." + n)); err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("iteration %s was told %q (%v), not %q", n, got, err, want)
		}
	}
	want := core.OrderReceived{Order: core.OrderSay, Words: "the port is 8081", Responder: core.RespondedByUser}
	if got := s.recorded(t); len(got) != 1 || got[0] != want {
		t.Errorf("on record is %+v", got)
	}
	if text := "user gives the next iteration: “the port is 8081”"; !strings.Contains(s.stderr.String(), text) {
		t.Errorf("the run does not say %q", text)
	}
	s.says(t, 125, "looprun resume", "say", "latest", "too late")
	s.says(t, 125, "there is nothing to stop", "stop", "latest")
}

// A run that is told to pause does so after its iteration, and hears words before it goes on.
func TestPause(t *testing.T) {
	t.Parallel()
	s := beginWorker(t)
	s.says(t, 0, "pauses after this iteration", "pause", "latest")
	s.says(t, 125, "it pauses already", "pause", "latest")
	s.says(t, 0, "passes that on", "say", "latest", "when you go on")
	s.letGo(t, "go.1")
	if got := s.ended(t); got != core.StatusPaused.ExitCode() || s.has("began.2")() {
		t.Errorf("ended with %d", got)
	}
	if end := s.state(t).Ending; end.Responder != core.RespondedByUser || end.Reason != "user ordered it to pause" {
		t.Errorf("it ended as %+v", end)
	}
	s.says(t, 125, "continues it, and then looprun say works", "say", "latest", "words")
	again := begin(t, s.dir, "resume", "--non-interactive")
	until(t, "the second iteration", s.has("began.2"))
	if got, err := os.ReadFile(s.file("told.2")); err != nil || strings.TrimSpace(string(got)) != "when you go on" {
		t.Errorf("the second iteration was told %q (%v)", got, err)
	}
	s.says(t, 0, "pauses", "pause", "latest")
	s.letGo(t, "go.2")
	if got := again.ended(t); got != core.StatusPaused.ExitCode() {
		t.Errorf("the second pause: ended with %d", got)
	}
}

// A run that waits between two iterations pauses at once.
func TestPauseEndsAWait(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), append([]string{"--non-interactive"}, limited...)...)
	until(t, "the wait", s.waits)
	s.says(t, 0, "pauses", "pause", "latest")
	if got := s.ended(t); got != core.StatusPaused.ExitCode() {
		t.Errorf("ended with %d", got)
	}
}

// A run that is told to stop ends its processes as Ctrl-C does, and is cancelled.
func TestStop(t *testing.T) {
	t.Parallel()
	s := beginWorker(t, "--name", "theirs")
	s.says(t, 0, "ends as cancelled", "stop", "latest")
	if got := s.ended(t); got != core.StatusCancelled.ExitCode() {
		t.Errorf("ended with %d", got)
	}
	if !s.has("interrupted")() {
		t.Error("the command was not interrupted")
	}
	state := s.state(t)
	if end := state.Ending; end.Status != core.StatusCancelled || end.Reason != "user ordered it to stop" || state.Iterations != 0 {
		t.Errorf("it ended as %+v after %d iterations", end, state.Iterations)
	}
	if got := s.recorded(t); len(got) != 1 || got[0].Order != core.OrderStop {
		t.Errorf("on record is %+v", got)
	}
	s.says(t, 125, "resume", "say", "latest", "more")
	s.says(t, 125, "--reopen", "stop", "latest")
}

// A run that asks at its terminal is stopped there too; it takes no other order.
func TestOrdersWhileItAsks(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, t.TempDir(), "--max-iterations", "1", "--", "sh", "-c", "echo Error: same; exit 1")
	until(t, "the question", s.shows("Cancel"))
	s.says(t, 125, "looprun answer", "say", "latest", "words")
	s.says(t, 125, "looprun answer", "pause", "latest")
	s.says(t, 0, "ends as cancelled", "stop", "latest")
	if got := s.ended(t); got != core.StatusCancelled.ExitCode() {
		t.Errorf("ended with %d", got)
	}
}

// What a run has started can tell it nothing, by whatever door.
func TestNoOrdersFromInside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir, "work.sh", `for order in "say latest words" "pause latest" "stop latest" "stop $LOOPRUN_RUN_ID --via mcp"; do order="$order --state-dir state"
  "$1" $order 2>>refused && touch obeyed
  env -u LOOPRUN -u LOOPRUN_DIR -u LOOPRUN_SOCKET -u LOOPRUN_RUN_ID setsid "$1" $order 2>>refused && touch obeyed
done
exit 0
`)
	s := begin(t, dir, "--non-interactive", "--max-iterations", "1", "--", "sh", "work.sh", file)
	if got := s.ended(t); got != 0 || s.has("obeyed")() {
		t.Errorf("ended with %d", got)
	}
	text, _ := os.ReadFile(s.file("refused"))
	if n := strings.Count(string(text), "own command cannot answer, guide or stop it"); n < 8 && strings.Count(string(text), "it is not known whether this comes from") == 0 {
		t.Errorf("%d of 8 were refused so:\n%s", n, text)
	}
	if got := s.recorded(t); len(got) != 0 {
		t.Errorf("on record is %+v", got)
	}
}
