//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/looprun/looprun/core"
)

// screen is a looprun on a terminal of its own, and what a person sees there.
type screen struct {
	started
	term vt10x.Terminal
	tty  *os.File
}

// onTerminal starts looprun as a shell would: leader of a session whose
// controlling terminal it has.
func onTerminal(t *testing.T, dir string, args ...string) *screen {
	t.Helper()
	return onTerminalWith(t, dir, "", args...)
}

// onTerminalWith has one more variable in its environment, NAME=VALUE.
func onTerminalWith(t *testing.T, dir, variable string, args ...string) *screen {
	t.Helper()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, args...)
	if variable != "" {
		cmd.Env = []string{variable}
	}
	return display(t, dir, cmd)
}

// display starts any program on a terminal of its own.
func display(t *testing.T, dir string, cmd *exec.Cmd) *screen {
	t.Helper()
	s := &screen{started: started{Cmd: cmd, dir: dir}}
	s.term = vt10x.New(vt10x.WithSize(100, 40), vt10x.WithWriter(replies{s}))
	s.Dir = dir
	s.Env = append(append(os.Environ(), cmd.Env...), "LOOPRUN_STATE_DIR="+filepath.Join(dir, "state"), "CI=", "TERM=xterm", "NO_COLOR=1")
	s.show(t, 100, 40)
	return s
}

// show starts the program on a terminal of that size, which is the controlling one unless the
// program's attributes say otherwise.
func (s *screen) show(t *testing.T, columns, rows int) {
	t.Helper()
	attributes := s.SysProcAttr
	if attributes == nil {
		attributes = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
	var err error
	if s.tty, err = pty.StartWithAttrs(s.Cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}, attributes); err != nil {
		t.Fatal(err)
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		b := make([]byte, 4096)
		for {
			n, err := s.tty.Read(b)
			_, _ = s.term.Write(b[:n])
			_, _ = s.stdout.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.Process.Kill() // it has ended, unless the test failed
		_ = s.tty.Close()
		<-copied
		if t.Failed() {
			t.Logf("screen:\n%s", s.term.String())
		}
	})
}

// replies sends what the terminal answers when it is asked, as typed keys.
type replies struct{ s *screen }

func (r replies) Write(b []byte) (int, error) { return r.s.tty.Write(b) }

// shows says that a text is on the screen. Where a line is full it goes on in the
// next one: how long it is can depend on how long something took.
func (s *screen) shows(text string) func() bool {
	return func() bool {
		return strings.Contains(s.term.String(), text) || strings.Contains(strings.ReplaceAll(s.term.String(), "\n", ""), text)
	}
}

func (s *screen) keys(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// press presses a key until something happens. A prompt that has just appeared
// takes no keys: they were meant for something else.
func (s *screen) press(t *testing.T, key, what string, happens func() bool) {
	t.Helper()
	for range 40 {
		s.keys(t, key)
		for range 100 {
			if happens() {
				return
			}
			time.Sleep(5 * time.Millisecond) // between two looks
		}
	}
	t.Fatalf("it did not happen: %s", what)
}

// closingLine is how what looprun prints of a run ends, for a person or a program.
var closingLine = regexp.MustCompile(`(looprun:(?:\x1b\[[0-9;]*m)? (?:\x1b\[[0-9;]*m)?|"message": ?")(done|tripped|paused|interrupted|stopped|accepted|cancelled|rejected|failed|already)( after |: |, | \(| passing)`)

// closed reports whether the run has said how it ended.
func (s *screen) closed() bool { return closingLine.MatchString(s.stdout.String()) }

// mark presses the letter of an option until the option is marked. Backspace removes a mark
// that came late. The row has to show the letter: while a frame is being drawn, the cursor can
// be seen in front of the text of the frame before.
func (s *screen) mark(t *testing.T, letter string) {
	t.Helper()
	row := regexp.MustCompile(`(?m)^> [1-9 ] ` + regexp.QuoteMeta(letter) + `  `)
	s.press(t, "\x7f"+letter, letter+" marks its option", func() bool { return row.MatchString(s.term.String()) })
}

// take marks an option and presses Enter until something happens.
func (s *screen) take(t *testing.T, letter, what string, happens func() bool) {
	t.Helper()
	s.mark(t, letter)
	s.press(t, "\r", what, happens)
}

// answer takes an option by its letter, or presses another key, until the run has ended,
// and returns how.
func (s *screen) answer(t *testing.T, key string) int {
	t.Helper()
	if len(key) == 1 && key >= "a" && key <= "z" {
		s.take(t, key, "the run ends", s.closed)
	} else {
		s.press(t, key, "the run ends", s.closed)
	}
	return s.ended(t)
}

const (
	stuckWork = "echo Error: same; exit 1"
	asked     = "How to proceed?"
	keyUp     = "\x1b[A"

	// The option that cancels, as a question shows it, and the key that marks it.
	cancelOption = "c  Cancel"
	cancelKey    = "c"
)

// On a terminal the command's output keeps its colours, and it has no terminal
// to read from, so that it cannot hang.
func TestTheCommandSeesATerminal(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, t.TempDir(), "--", "sh", "-c", "test -t 1 && test -t 2 && ! test -t 0 && printf '\\033[31mcolour\\033[0m\\n'")
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
	until(t, "the output is shown", func() bool { return strings.Contains(s.stdout.String(), "\x1b[31mcolour\x1b[0m") })
}

// A terminal shows what an agent says in place of its JSON; --show raw, and the output
// file, have the bytes.
func TestATerminalShowsTranscriptsAsText(t *testing.T) {
	t.Parallel()
	const line = `{"type":"result","subtype":"success","is_error":false,"result":"All tests pass.","session_id":"s"}`
	for _, c := range []struct {
		show string
		json bool
	}{{"text", false}, {"raw", true}} {
		dir := t.TempDir()
		s := onTerminal(t, dir, "--show", c.show, "--", "sh", "-c", "echo '"+line+"'; printf 'the end'")
		if got := s.ended(t); got != 0 {
			t.Errorf("%s: ended with %d", c.show, got)
		}
		until(t, "the output is shown", func() bool {
			text := s.stdout.String()
			return strings.Contains(text, "All tests pass.") && strings.Contains(text, "the end")
		})
		if got := strings.Contains(s.stdout.String(), `"is_error"`); got != c.json {
			t.Errorf("%s: JSON is shown: %t", c.show, got)
		}
		logs, err := filepath.Glob(filepath.Join(dir, "state", "*", "output", "*.log"))
		if err != nil || len(logs) != 1 {
			t.Fatalf("%s: %v, %v", c.show, logs, err)
		}
		if text, err := os.ReadFile(logs[0]); err != nil || !strings.Contains(string(text), line) {
			t.Errorf("%s: the file has %q, %v", c.show, text, err)
		}
	}
}

func TestNoPtyGivesPipes(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, t.TempDir(), "--no-pty", "--", "sh", "-c", "! test -t 1 && ! test -t 2")
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
}

// Enter alone answers nothing, and neither does the key of an option that ends the
// run: it takes both.
func TestEnterCancels(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, t.TempDir(), "--", "sh", "-c", stuckWork)
	until(t, "the question is asked", s.shows(cancelOption))
	s.press(t, "\r", "it says that nothing is marked", s.shows("nothing is marked"))
	s.mark(t, "c")
	until(t, "Cancel is marked", func() bool { return strings.HasPrefix(s.marked(), "Cancel") })
	if st := s.state(t); st.Ending != nil || len(st.Answered) != 0 || len(st.Answerable()) != 1 {
		t.Errorf("ended as %+v, answered %+v", st.Ending, st.Answered)
	}
	if got := s.answer(t, cancelKey); got != 101 {
		t.Errorf("ended with %d, want 101", got)
	}
	if st := s.state(t); st.Ending.Responder != "user" || st.Ending.Decision != "cancel" {
		t.Errorf("ended as %+v", st.Ending)
	}
}

// Whoever sits at a terminal on standard input is asked, although it is not the controlling
// one: the first process of a container or of a system has none. A terminal that belongs to
// another session is left to that one.
func TestTheTerminalOnStandardInputAsks(t *testing.T) {
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, "-c", stuckWork)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	s := display(t, t.TempDir(), cmd)
	until(t, "the question is asked", s.shows(cancelOption))
	if got := s.answer(t, cancelKey); got != 101 {
		t.Errorf("ended with %d, want 101", got)
	}

	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("there is no setsid to leave a session with")
	}
	s = display(t, t.TempDir(), exec.Command("sh", "-c", `setsid "$0" -c "$1"; echo "ended with $?"`, file, stuckWork))
	s.ended(t)
	until(t, "it is not asked", s.shows("ended with 111"))
	if s.shows(cancelOption)() {
		t.Error("somebody else's terminal asks")
	}
}

// A preset that tries or waits asks nobody, also where somebody is there.
func TestPresetsAskNobody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		want int
		says string
	}{
		{"retry", []string{"--retry", "2", "--", "false"}, 110, "nobody answered: --retry"},
		{"wait", []string{"--wait", "--max-runtime", "50ms", "--", "false"}, 124, "nobody answered: --wait"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := onTerminal(t, t.TempDir(), c.args...)
			asked := s.shows(cancelOption)
			until(t, "it says why nobody is asked", func() bool { return asked() || s.shows(c.says)() })
			if asked() {
				t.Fatal("somebody is asked")
			}
			if got := s.ended(t); got != c.want {
				t.Errorf("ended with %d, want %d", got, c.want)
			}
		})
		t.Run(c.name+" and ask", func(t *testing.T) {
			t.Parallel()
			s := onTerminal(t, t.TempDir(), append([]string{"--ask"}, c.args...)...)
			until(t, "the question is asked", s.shows(cancelOption))
			if got := s.answer(t, cancelKey); got != 101 {
				t.Errorf("ended with %d, want 101", got)
			}
		})
	}
}

// What a run asks nobody about can be asked when it is resumed.
func TestAskOnResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := onTerminal(t, dir, "--retry", "1", "--", "false").ended(t); got != 110 {
		t.Fatalf("ended with %d, want 110", got)
	}
	s := onTerminal(t, dir, "resume", "--ask")
	until(t, "the question is asked, or the run has ended", func() bool { return s.shows(cancelOption)() || s.closed() })
	if !s.shows(cancelOption)() {
		t.Fatalf("nobody is asked, and it ended with %d", s.ended(t))
	}
	if got := s.answer(t, cancelKey); got != 101 {
		t.Errorf("ended with %d, want 101", got)
	}
}

// Choosing to go on resets the count; the guidance reaches the next iteration.
func TestAPersonLetsItGoOn(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, t.TempDir(), "--", "sh", "-c", `test -n "$LOOPRUN_GUIDANCE" && exit 0; `+stuckWork)
	until(t, "the question is asked", s.shows(cancelOption))
	if got := s.answer(t, "t"); got != 0 {
		t.Errorf("ended with %d", got)
	}
	if st := s.state(t); st.Iterations != 4 || st.Continues != 1 {
		t.Errorf("%d iterations, %d continues", st.Iterations, st.Continues)
	}
}

// Ctrl-\ at the question interrupts the run as well.
func TestCtrlBackslashAtTheQuestion(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, t.TempDir(), "--", "sh", "-c", stuckWork)
	until(t, "the question is asked", s.shows(cancelOption))
	if got := s.answer(t, "\x1c"); got != -int(syscall.SIGQUIT) {
		t.Errorf("ended with %d, want SIGQUIT", got)
	}
	if st := s.state(t); st.Question == nil || st.Ending.Status != core.StatusInterrupted || st.Ending.ExitCode != 131 {
		t.Errorf("ended as %+v, question %v", st.Ending, st.Question)
	}
}

// Ctrl-C at the question interrupts the run; the question is kept, and resume
// asks it again.
func TestCtrlCAtTheQuestion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := onTerminal(t, dir, "--", "sh", "-c", stuckWork)
	until(t, "the question is asked", s.shows(cancelOption))
	if got := s.answer(t, "\x03"); got != -int(syscall.SIGINT) {
		t.Errorf("ended with %d, want SIGINT", got)
	}
	if st := s.state(t); st.Question == nil || st.Ending.Status != core.StatusInterrupted {
		t.Errorf("ended as %+v, question %v", st.Ending, st.Question)
	}
	again := onTerminal(t, dir, "resume")
	until(t, "the question is asked again", again.shows(cancelOption))
	if got := again.answer(t, cancelKey); got != 101 {
		t.Errorf("ended with %d, want 101", got)
	}
}

// A person who has read what the assistant recommended, and leaves to have a look, is
// asked again on resume, and the assistant is not.
func TestCtrlCAtWhatAnAssistantRejected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const flips = `cat >/dev/null; if [ -e said ]; then touch again; echo '{"reason": "Fine now.", "answer": "cancel"}'; exit; fi; touch said; echo '{"reason": "It is stuck.", "answer": "cancel"}'`
	const advice = "The assistant recommended rejecting this: “It is stuck.”"
	s := onTerminal(t, dir, "--assistant", flips, "--assistant-for", "ask,guards", "--assistant-escalation", "--", "sh", "-c", stuckWork)
	until(t, "the person reads the advice", s.shows(advice))
	until(t, "the question is asked", s.shows(cancelOption))
	if got := s.answer(t, "\x03"); got != -int(syscall.SIGINT) {
		t.Errorf("ended with %d, want SIGINT", got)
	}
	again := onTerminal(t, dir, "resume")
	until(t, "the person reads the advice again", again.shows(advice))
	until(t, "the question is asked again", again.shows(cancelOption))
	if got := again.answer(t, cancelKey); got != 101 {
		t.Errorf("ended with %d, want 101", got)
	}
	if st := again.state(t); st.Ending.Responder != core.RespondedByUser {
		t.Errorf("it was ended by %+v, want the person", st.Ending)
	}
	if _, err := os.Stat(filepath.Join(dir, "again")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the assistant was asked again: %v", err)
	}
}

// Ctrl-D ends nothing, in the menu and in the line prompt.
func TestCtrlDEndsNothing(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{"auto", "plain"} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()
			s := onTerminal(t, t.TempDir(), "--prompt", prompt, "--", "sh", "-c", stuckWork)
			until(t, "the question is asked", func() bool { return s.shows(cancelOption)() || s.shows("Answer:")() })
			s.press(t, "\x04", "it says what ends the run", s.shows("Ctrl-D does nothing"))
			if prompt == "plain" {
				if s.press(t, "c\n", "the run ends", s.closed); s.ended(t) != 101 {
					t.Error("it is not cancelled")
				}
			} else if got := s.answer(t, cancelKey); got != 101 {
				t.Errorf("ended with %d, want 101", got)
			}
		})
	}
}

// Keys typed while the command runs answer nothing.
func TestTypedAheadTextAnswersNothing(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, t.TempDir(), "--", "sh", "-c", "echo x >> ran; while [ ! -e typed ]; do sleep 0.01; done; "+stuckWork)
	until(t, "the command runs", s.has("ran"))
	s.keys(t, keyUp+keyUp+keyUp+keyUp+"\r\r1\rg\ra\r")
	if err := os.WriteFile(s.file("typed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the question is asked", s.shows(cancelOption))
	if got := s.answer(t, cancelKey); got != 101 {
		t.Errorf("ended with %d, want 101", got)
	}
}

// While a person is asked about an iteration that takes too long, it stands
// still; cancelling ends it.
func TestTheIterationStandsStillWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, t.TempDir(), "--max-runtime", "300ms", "--", "sh", "-c", "echo $$ > pid; sleep 60")
	until(t, "the question is asked", s.shows(cancelOption))
	until(t, "the command stands still", func() bool { return standsStill(t, s.pid(t, "pid")) })
	if got := s.answer(t, cancelKey); got != 101 {
		t.Errorf("ended with %d, want 101", got)
	}
	if s.alive(t, "pid") {
		t.Error("the command is still there")
	}
}

// Debug without a command gives a person a shell with the run's environment.
func TestDebugGivesAPersonAShell(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	s := onTerminal(t, t.TempDir(), "--", "sh", "-c", "test -e mended && exit 0; "+stuckWork)
	until(t, "the question is asked", s.shows(cancelOption))
	s.take(t, "d", "the shell begins", s.shows("exit 0 continues"))
	s.keys(t, "echo iteration-$LOOPRUN_ITERATION\r")
	until(t, "it has the run's environment", s.shows("iteration-3"))
	s.keys(t, "touch mended; exit 0\r")
	until(t, "it asks what was found", s.shows("what did you find?"))
	s.keys(t, "The lockfile is stale.\r")
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
	st := s.state(t)
	if st.Findings != "" || st.Elapsed > time.Minute {
		t.Errorf("findings %q, %s", st.Findings, st.Elapsed)
	}
	journal, err := os.ReadFile(filepath.Join(onlyRun(t, s.dir), "journal.jsonl"))
	if err != nil || !strings.Contains(string(journal), `"findings":"The lockfile is stale."`) {
		t.Errorf("%v: the finding is not on record", err)
	}
}

// A terminal that is closed while a question is open takes nobody's answer: the run pauses and
// keeps the question, whether the signal or the end of input comes first. Only an explicit deny
// ends the run.
func TestTheTerminalIsClosedAtAQuestion(t *testing.T) {
	t.Parallel()
	window := func(_ *testing.T, s *screen) { _ = s.tty.Close() }
	for _, tt := range []struct {
		name  string
		close func(*testing.T, *screen)
		args  []string
		code  int
	}{
		{"signal", hangUp, nil, core.StatusPaused.ExitCode()},
		{"window", window, nil, core.StatusPaused.ExitCode()},
		{"signal, plain", hangUp, []string{"-o", "prompt=plain"}, core.StatusPaused.ExitCode()},
		{"signal, deferred", hangUp, []string{"--detached", "defer"}, core.StatusPaused.ExitCode()},
		{"signal, denied", hangUp, []string{"--detached", "deny"}, 111},
		{"window, denied", window, []string{"--detached", "deny"}, 111},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := onTerminal(t, t.TempDir(), append(tt.args, "-q", "--loop-threshold", "2", "-c", "echo 'FAIL: TestX'; exit 1")...)
			until(t, "the question", s.shows("Cancel"))
			tt.close(t, s)
			if code := s.ended(t); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if kept := len(s.state(t).Pending()) == 1; kept != (tt.code == core.StatusPaused.ExitCode()) {
				t.Errorf("the question is kept: %v", kept)
			}
		})
	}
}

// A hang-up at a question is over with the question: the next one ends the run, whether somebody
// answered elsewhere or the question was dropped and the next iteration runs.
func TestAHangUpAfterTheQuestion(t *testing.T) {
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	asks := file + " ask 'Which way?' --id way --option a=Up --option b=Down; "
	for _, tt := range []struct {
		name, line, answer string
		args               []string
	}{
		{"of the run, answered", "test $LOOPRUN_ITERATION -lt 3 || WORKS; exit 1", "continue", []string{"--wait-answer", "1h"}},
		{"of its command, answered", asks + "WORKS", "a", []string{"--wait-answer", "1h"}},
		{"of its command, denied", "test $LOOPRUN_ITERATION -lt 2 || WORKS; " + asks + "exit 1", "", []string{"--detached", "deny"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			line := strings.ReplaceAll(tt.line, "WORKS", "{ : >works; exec sleep 600; }")
			s := onTerminal(t, t.TempDir(), append(tt.args, "--max-iterations", "2", "-c", line)...)
			until(t, "the question", func() bool { return s.shows("Cancel")() || s.shows("Down")() })
			hangUp(t, s)
			if tt.answer != "" {
				until(t, "it waits", s.shows("for an answer"))
				if s.says(t, 0, "", "answer", tt.answer, "--question", waitsFor(t, &s.started, "").ID); t.Failed() {
					t.FailNow()
				}
			}
			until(t, "the run goes on", s.has("works"))
			hangUp(t, s)
			if code := s.ended(t); code != -int(syscall.SIGHUP) {
				t.Errorf("ended with %d", code)
			}
		})
	}
}

func hangUp(t *testing.T, s *screen) {
	if err := s.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}
