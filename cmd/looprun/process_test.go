//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
)

// Signals at every moment: in the work, in the check, in the precheck, in the
// delay. The run ends by the same signal, nothing is left, and it can go on.
func TestSignals(t *testing.T) {
	t.Parallel()
	const hang = "echo $$ > pid; touch here; sleep 60"
	for _, moment := range []struct {
		name string
		args []string
	}{
		{"work", []string{"--", "sh", "-c", hang}},
		{"check", []string{"--no-precheck", "--check", hang, "--", "true"}},
		{"precheck", []string{"--check", hang, "--", "true"}},
		{"delay", []string{"--delay", "60s", "--", "sh", "-c", "echo 0 > pid; (sleep 0.05; touch here) & exit 1"}},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			t.Run(moment.name+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				args := moment.args
				if moment.name == "delay" {
					args = []string{"--delay", "60s", "--keep-background", "--", "sh", "-c", "exit 1"}
				}
				s := begin(t, t.TempDir(), args...)
				if moment.name == "delay" {
					until(t, "iteration 1 ended", func() bool { return strings.Contains(s.stderr.String(), "iteration 1: not done") })
				} else {
					until(t, "the command runs", s.has("here"))
				}
				if err := s.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				if got := s.ended(t); got != -int(sig) {
					t.Errorf("ended with %d, want the signal %d", got, sig)
				}
				st := s.state(t)
				if !st.Ended || st.Ending.Status != core.StatusInterrupted || st.Ending.ExitCode != 128+int(sig) {
					t.Errorf("ended as %+v", st.Ending)
				}
				if moment.name != "delay" && s.alive(t, "pid") {
					t.Error("the command is still there")
				}
				if want := fmt.Sprintf("exit %d; next: looprun resume", 128+int(sig)); !strings.Contains(s.stderr.String(), want) {
					t.Errorf("the last line does not say %q", want)
				}
			})
		}
	}
}

func TestASecondInterruptKillsAtOnce(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), "--kill-after", "60s", "--", "sh", "-c", "trap '' INT TERM; echo $$ > pid; touch here; while :; do sleep 0.1; done")
	until(t, "the command runs", s.has("here"))
	_ = s.Process.Signal(syscall.SIGINT)
	until(t, "the first was received", func() bool { return strings.Contains(s.stderr.String(), "SIGINT received") })
	_ = s.Process.Signal(syscall.SIGINT)
	if got := s.ended(t); got != -int(syscall.SIGINT) {
		t.Errorf("ended with %d", got)
	}
	if s.alive(t, "pid") {
		t.Error("the command is still there")
	}
}

// A run that was killed goes on where it was: no iteration counts twice, none
// is lost, and nothing that it started is left.
func TestResumeAfterAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const work = `echo $LOOPRUN_ITERATION >> ran
if [ $LOOPRUN_ITERATION = 3 ] && [ ! -e here ]; then echo $$ > pid; touch here; sleep 60; fi
test $LOOPRUN_ITERATION -ge 4`
	s := begin(t, dir, "--loop-threshold", "off", "--", "sh", "-c", work)
	until(t, "iteration 3 runs", s.has("here"))
	_ = s.Process.Kill()
	if got := s.ended(t); got != -int(syscall.SIGKILL) {
		t.Fatalf("ended with %d", got)
	}
	until(t, "its command is gone", func() bool { return !s.alive(t, "pid") })
	before := s.state(t)
	if before.Iterations != 2 || !before.Running || before.Open != 3 {
		t.Fatalf("after the kill: %d iterations, running %v, open %d", before.Iterations, before.Running, before.Open)
	}
	list := begin(t, dir, "list")
	if list.ended(t) != 0 || !strings.Contains(list.stdout.String(), "crashed") {
		t.Error("the list does not say that it crashed")
	}
	again := begin(t, dir, "resume")
	if got := again.ended(t); got != 0 {
		t.Fatalf("the resumed run ended with %d", got)
	}
	st := again.state(t)
	if st.Iterations != 4 || st.Elapsed < before.Elapsed {
		t.Errorf("%d iterations, elapsed %s after %s", st.Iterations, st.Elapsed, before.Elapsed)
	}
	ran, err := os.ReadFile(again.file("ran"))
	if err != nil || string(ran) != "1\n2\n3\n3\n4\n" {
		t.Errorf("ran %q, %v", ran, err)
	}
}

func TestTwoProcessesNeverShareARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := begin(t, dir, "--", "sh", "-c", "touch here; sleep 60")
	until(t, "the command runs", s.has("here"))
	other := begin(t, dir, "resume")
	if got := other.ended(t); got != 125 {
		t.Errorf("ended with %d, want 125", got)
	}
	if !strings.Contains(other.stderr.String(), "another looprun has this run open") {
		t.Error("it does not say why")
	}
	_ = s.Process.Signal(syscall.SIGTERM)
	s.ended(t)
}

// A run that begins while another one is going on in the same work tree says so.
func TestASecondRunInTheSameWorkTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	looprun := func(args ...string) string {
		s := begin(t, dir, args...)
		if got := s.ended(t); got != 0 {
			t.Errorf("%q ended with %d", args, got)
		}
		return s.stderr.String()
	}
	const said = "another run is active here"
	if got := looprun("--", "true"); strings.Contains(got, said) {
		t.Errorf("the first says %q", got)
	}
	first := begin(t, dir, "--name", "first", "--", "sh", "-c", "touch here; sleep 60")
	until(t, "the command runs", first.has("here"))
	want := said + ": " + first.state(t).RunID + " (touch here; sleep 60);"
	if got := looprun("--", "true"); strings.Count(got, said) != 1 || !strings.Contains(got, want) {
		t.Errorf("the second says %q, want %q", got, want)
	}
	if got := looprun("-q", "--", "true"); strings.Contains(got, said) {
		t.Errorf("with -q it says %q", got)
	}
	second := begin(t, dir, "--", "sh", "-c", "touch there; sleep 60")
	until(t, "the command runs", second.has("there"))
	if got := looprun("--", "true"); !strings.Contains(got, " (touch there; sleep 60), and 1 more;") {
		t.Errorf("the third says %q", got)
	}
	for _, s := range []*started{first, second} {
		_ = s.Process.Signal(syscall.SIGTERM)
		s.ended(t)
	}
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	if got := looprun("--", file, "--", file, "--", file, "--", "true"); strings.Contains(got, said) {
		t.Errorf("a run inside others says %q", got)
	}
}

// Without a terminal a reader that went away ends the run, as it ends any program
// in a pipeline. Where somebody is at the terminal, or only standard error has lost
// its reader, it goes on.
func TestOutputThatNobodyReads(t *testing.T) {
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	const run = `"$0" --non-interactive --max-iterations 3 --loop-threshold off -- sh -c 'echo >>ran; seq 1 50000; exit 1' `
	for name, c := range map[string]struct {
		line string
		code int
		said string // on the terminal, or in the file stderr
	}{
		"no terminal":     {run + `2>stderr | head -n 1 >/dev/null`, 141, "the output is closed and there is no terminal, so the run ends"},
		"both streams":    {run + `2>&1 | head -n 1 >/dev/null`, 141, ""},
		"only stderr":     {strings.Replace(run, "50000;", "50000 >&2;", 1) + `2>&1 >/dev/null | head -n 1 >/dev/null`, 110, ""},
		"nothing printed": {strings.Replace(run, "seq 1 50000;", "", 1) + `2>&1 | true`, 110, ""},
		"at a terminal":   {run + `| head -n 1 >/dev/null`, 110, "the command's output can no longer be shown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("bash", "-c", c.line+`; echo "${PIPESTATUS[0]}" >code`, file)
			s := &started{Cmd: cmd, dir: t.TempDir()}
			if name == "at a terminal" {
				s = &display(t, s.dir, cmd).started
			} else {
				s.Dir = s.dir
				s.Env = append(os.Environ(), "LOOPRUN_STATE_DIR="+s.file("state"), "CI=")
				if err := s.Start(); err != nil {
					t.Fatal(err)
				}
			}
			s.ended(t)
			read := func(name string) string {
				b, _ := os.ReadFile(s.file(name))
				return string(b)
			}
			if got := read("code"); got != strconv.Itoa(c.code)+"\n" {
				t.Errorf("ended with %q, want %d", got, c.code)
			}
			if said := read("stderr") + s.stdout.String(); strings.Count(said, c.said) != 1 && c.said != "" {
				t.Errorf("it does not say once %q:\n%s", c.said, said)
			}
			if n, ended := len(read("ran")), s.state(t).Ending; (n == 3) != (c.code == 110) || ended == nil || (ended.Status == core.StatusInterrupted) != (c.code == 141) {
				t.Errorf("%d iterations, ended as %+v", n, ended)
			}
		})
	}
}

// Whatever an iteration leaves behind is gone before the next begins.
func TestNothingOutlivesAnIteration(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), "--max-iterations", "2", "--loop-threshold", "off", "--kill-after", "1s", "--", "sh", "-c",
		`if [ -e pid ] && kill -0 $(cat pid); then echo STILL THERE; fi; setsid sh -c 'trap "" HUP TERM; echo $$ > pid; sleep 60' & while [ ! -s pid ]; do sleep 0.01; done; exit 1`)
	if got := s.ended(t); got != 110 {
		t.Errorf("ended with %d", got)
	}
	if strings.Contains(s.stdout.String(), "STILL THERE") || s.alive(t, "pid") {
		t.Error("a background process outlived its iteration")
	}
}

// An iteration that max_runtime stops stands still until the policy answered.
func TestMaxRuntimeInTheMiddleOfAnIteration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte("version: 1\nrules:\n  - guard: max_runtime\n    answer: continue\n    reason: It takes its time.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := begin(t, dir, "--max-runtime", "300ms", "--policy", policy, "--", "sh", "-c", "echo began >> ran; sleep 1; echo ended >> ran")
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
	ran, err := os.ReadFile(s.file("ran"))
	if err != nil || string(ran) != "began\nended\n" {
		t.Errorf("ran %q, %v: it went on where it stood, and ran once", ran, err)
	}
	if st := s.state(t); st.Trips != 1 || st.Continues != 1 || st.Iterations != 1 {
		t.Errorf("%d trips, %d continues, %d iterations", st.Trips, st.Continues, st.Iterations)
	}
}

// Ctrl-Z stops the command together with looprun, and fg lets both go on.
func TestJobControl(t *testing.T) {
	t.Parallel()
	s := beginJob(t, t.TempDir(), "--", "sh", "-c", "echo $$ > pid; touch here; while [ ! -e go ]; do sleep 0.02; done")
	until(t, "the command runs", s.has("here"))
	for range 3 {
		_ = s.Process.Signal(syscall.SIGTSTP)
		until(t, "looprun stands still", func() bool { return standsStill(t, s.Process.Pid) })
		until(t, "the command stands still", func() bool { return standsStill(t, s.pid(t, "pid")) })
		_ = s.Process.Signal(syscall.SIGCONT)
		until(t, "the command goes on", func() bool { return !standsStill(t, s.pid(t, "pid")) })
	}
	s.letGo(t, "go")
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
}

// Ctrl-Z right after fg takes back the news that looprun goes on: the kernel drops
// a SIGCONT that has not been delivered when a stop is sent.
func TestStoppedAgainAtOnce(t *testing.T) {
	t.Parallel()
	s := beginJob(t, t.TempDir(), "--", "sh", "-c", "echo $$ > pid; touch here; while [ ! -e go ]; do sleep 0.02; done")
	until(t, "the command runs", s.has("here"))
	_ = s.Process.Signal(syscall.SIGTSTP)
	until(t, "looprun stands still", func() bool { return standsStill(t, s.Process.Pid) })
	for range 20 {
		_ = s.Process.Signal(syscall.SIGCONT)
		_ = s.Process.Signal(syscall.SIGTSTP)
		until(t, "looprun stands still again", func() bool { return standsStill(t, s.Process.Pid) })
		until(t, "the command stands still", func() bool { return standsStill(t, s.pid(t, "pid")) })
	}
	_ = s.Process.Signal(syscall.SIGCONT)
	until(t, "the command goes on", func() bool { return !standsStill(t, s.pid(t, "pid")) })
	s.letGo(t, "go")
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
}

// The page's notes are the command's; looprun never overwrites them.
func TestNotesAreKept(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), "--max-iterations", "3", "--loop-threshold", "off", "--", "sh", "-c", `sleep 0.03; echo "- tried $LOOPRUN_ITERATION" >> "$LOOPRUN_SCRATCHPAD"; exit 1`)
	if got := s.ended(t); got != 110 {
		t.Errorf("ended with %d", got)
	}
	dir, err := scratchpad.Find(s.file("state"), "")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "scratchpad.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(page), "\n")
	for _, want := range []string{"## Notes", "- tried 1", "- tried 2", "- tried 3"} {
		if !slices.Contains(lines, want) {
			t.Errorf("the page has no line %q:\n%s", want, page)
		}
	}
}

// Before a verify command runs, an iteration that stands still is ended: the
// command needs its files. The iteration runs again under its own number.
func TestVerifyEndsWhatStandsStill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policy := filepath.Join(dir, "policy.yaml")
	const text = `version: 1
rules:
  - guard: max_runtime
    answer: continue
    verify: test -z "$(ps -o pid= -p $(cat pid))"
    reason: It is gone, and may begin again.
`
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := begin(t, dir, "--max-runtime", "500ms", "--policy", policy, "--", "sh", "-c",
		`echo $LOOPRUN_ITERATION >> ran; if [ $(wc -l < ran) = 1 ]; then echo $$ > pid; sleep 60; fi`)
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
	ran, err := os.ReadFile(s.file("ran"))
	if err != nil || string(ran) != "1\n1\n" {
		t.Errorf("ran %q, %v; want iteration 1 twice", ran, err)
	}
	if st := s.state(t); st.Iterations != 1 || st.Continues != 1 {
		t.Errorf("%d iterations, %d continues", st.Iterations, st.Continues)
	}
}

// What looprun does before its run begins ends as any other program does, by the signal.
func TestASignalBeforeTheRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stub := filepath.Join(dir, "git")
	if err := os.WriteFile(stub, []byte("#!/bin/sh\necho > \""+dir+"/asked\"\nexec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := ready(t, dir, "--checkpoint", "--", "true")
	s.Env = append(s.Env, "PATH="+dir+":"+os.Getenv("PATH"))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "git is asked", s.has("asked"))
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := s.ended(t); got != -int(syscall.SIGTERM) {
		t.Errorf("ended with %d", got)
	}
}
