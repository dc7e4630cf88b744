package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/inputfile"
)

// bounded is a looprun that a shell starts after the line.
func bounded(t *testing.T, line string, args ...string) *started {
	t.Helper()
	s := ready(t, t.TempDir(), args...)
	s.Args = append([]string{"sh", "-c", line + ` && exec "$0" "$@"`, s.Path}, s.Args[1:]...)
	s.Path = "/bin/sh"
	return s
}

// A limit that leaves looprun too little is said before anything runs, with 125: the
// Go runtime would end it with a trace, wherever it stands.
func TestTooLittleRoom(t *testing.T) {
	t.Parallel()
	limits := map[string]string{"ulimit -v 900000": "of address space are allowed", "ulimit -d 120000": "of data are allowed"}
	for n := 4; n < 27; n++ {
		limits[fmt.Sprintf("ulimit -n %d", n)] = "more files can be opened here"
	}
	for limit, want := range limits {
		s := bounded(t, limit, "--max-iterations", "1", "--", "false")
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		if code := s.ended(t); code != core.ExitFailed || !strings.Contains(s.stderr.String(), want) || !strings.Contains(s.stderr.String(), "raise the limit") {
			t.Errorf("%s: it ended with %d", limit, code)
		}
		if _, err := os.Stat(s.file("state")); err == nil {
			t.Errorf("%s: a run was begun", limit)
		}
	}
	enough := bounded(t, "ulimit -n 32", "--max-iterations", "2", "--check", "false", "--", "false")
	if err := enough.Start(); err != nil {
		t.Fatal(err)
	}
	if code := enough.ended(t); code != 110 {
		t.Errorf("with as many as are asked for it ended with %d", code)
	}
}

// Without the /proc of its own PID namespace looprun finds nothing that a command
// leaves, and would take other processes for it: nothing runs then.
func TestForeignProc(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line string
		attr       syscall.SysProcAttr
		code       int
		want       string
	}{
		{"of another namespace", "true", syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}, core.ExitFailed, "/proc is that of another PID namespace"},
		{"none", "umount -l /proc", syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}, core.ExitFailed, "/proc is not mounted"},
		{"its own", "mount -t proc proc /proc", syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}, 110, "max_iterations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := bounded(t, c.line, "--max-iterations", "1", "-c", "touch ran; exit 1")
			s.SysProcAttr = &c.attr
			if os.Getuid() != 0 {
				s.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
				s.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
			}
			if err := s.Start(); err != nil {
				t.Skipf("there are no namespaces here: %v", err)
			}
			code := s.ended(t)
			if said := s.stderr.String(); strings.Contains(said, "mount: ") {
				t.Skipf("nothing can be mounted here: %s", said)
			}
			if code != c.code || !strings.Contains(s.stderr.String(), c.want) || s.has("ran")() != (c.code == 110) {
				t.Errorf("it ended with %d", code)
			}
		})
	}
}

// A guardian that its command has stopped keeps no run from its end: not the timeouts,
// not a signal, and when looprun is killed nothing is left.
func TestStoppedGuardian(t *testing.T) {
	t.Parallel()
	const work = "echo $$ >pid; kill -STOP $PPID; touch begun; exec sleep 1000"
	for _, c := range []struct {
		name   string
		args   []string
		signal syscall.Signal
		code   int
	}{
		{"iteration timeout", []string{"--iteration-timeout", "300ms"}, 0, 110},
		{"max runtime", []string{"--max-runtime", "300ms"}, 0, 124},
		{"SIGTERM", nil, syscall.SIGTERM, 143},
		{"SIGKILL", nil, syscall.SIGKILL, -9},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := ready(t, t.TempDir(), append(c.args, "--max-iterations", "1", "--kill-after", "1s", "-c", work)...)
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			if c.signal != 0 {
				until(t, "the command goes on", s.has("begun"))
				if err := s.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
			}
			if code := s.ended(t); code != c.code && code != -(c.code-128) {
				t.Errorf("it ended with %d, want %d", code, c.code)
			}
			if s.has("begun")() {
				until(t, "nothing is left", func() bool { return !s.alive(t, "pid") })
			}
		})
	}
}

// A command of which the guardian was killed is neither done nor not done, whatever
// codes count as done: nobody has seen how it ended.
func TestLostGuardian(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), "--max-iterations", "2", "--done-codes", "0,137", "--error-codes", "99", "--check", "true", "--no-precheck", "-c", "kill -9 $PPID; sleep 1000")
	if code := s.ended(t); code != 110 {
		t.Errorf("it ended with %d", code)
	}
	for _, d := range s.state(t).History {
		if d.Outcome != core.OutcomeError || d.ExitCode != 137 || d.Cause != core.CauseLost || d.Detail != "the guardian was lost" {
			t.Errorf("iteration %d: %s, exit %d, %s: %s", d.Iteration, d.Outcome, d.ExitCode, d.Cause, d.Detail)
		}
	}
}

// Processes that could not be ended are named: at once, and in result.json.
func TestSurvivorsAreNamed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become another user")
	}
	place := publicDir(t)
	copySetuid(t, place+"/rootsleep") // by itself: a file that is written while another test forks is busy
	t.Parallel()
	own := place + "/own"
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	s := ready(t, own, "-q", "--result", "verdict.json", "--max-iterations", "2", "--kill-after", "1000h", "-c",
		place+"/rootsleep & while kill -0 $! 2>/dev/null; do :; done; exit 1")
	s.asOrdinaryUser(t, place, own)
	s.Env = append(s.Env, rootSleep+"="+place+"/over", "XDG_STATE_HOME="+own, "HOME="+own)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	code := s.ended(t)
	if err := os.WriteFile(place+"/over", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(own + "/verdict.json")
	if err != nil {
		t.Fatal(err)
	}
	var verdict struct{ Warnings []string }
	if err := json.Unmarshal(text, &verdict); err != nil {
		t.Fatal(err)
	}
	if code != 110 || len(verdict.Warnings) != 2 {
		t.Errorf("it ended with %d and warns of %q", code, verdict.Warnings)
	}
	for _, w := range verdict.Warnings {
		var pid int
		const form = "what the command left could not be ended: process %d (rootsleep) of root"
		if _, err := fmt.Sscanf(w, form, &pid); err != nil || !strings.Contains(s.stderr.String(), "warning: "+w) {
			t.Errorf("it warns: %s", w)
			continue
		}
		until(t, "it has ended", func() bool { return syscall.Kill(pid, 0) != nil })
	}
}

// rootSleep, in the environment, makes the test binary a process of root's that ends
// when that file is there.
const rootSleep = "TEST_ROOT_SLEEP"

func sleepAsRoot(over string) int {
	if err := syscall.Setresuid(0, 0, 0); err != nil {
		return 1
	}
	for end := time.Now().Add(eventually.Patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if inputfile.IsFile(over) {
			break
		}
	}
	return 0
}

func copySetuid(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, os.ModeSetuid|0o755); err != nil {
		t.Fatal(err)
	}
}

func init() { otherPrograms[rootSleep] = sleepAsRoot }
