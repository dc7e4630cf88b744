package proc

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
)

// In the environment, these make the test binary a program that runs a command
// several times and prints how each ended, one that its user may not signal (it
// sleeps as root), and one that stops such a command and prints how that ended.
const (
	survivorScript = "PROC_TEST_SURVIVORS"
	rootSleep      = "PROC_TEST_ROOT_SLEEP"
	refuses        = "PROC_TEST_REFUSES"
)

func init() {
	otherPrograms[survivorScript] = survivorRunner
	otherPrograms[rootSleep] = sleepAsRoot
	otherPrograms[refuses] = refusingRunner
}

func survivorRunner(script string) int {
	var ends []Exit
	for range 3 {
		p := Start(Spec{Argv: sh(script), Stdout: func([]byte) {}, KillAfter: 1000 * time.Hour})
		ends = append(ends, p.Wait())
	}
	if json.NewEncoder(os.Stdout).Encode(ends) != nil {
		return 1
	}
	return 0
}

func refusingRunner(value string) int {
	setuid, until, _ := strings.Cut(value, ":")
	os.Unsetenv(refuses)
	p := Start(Spec{Argv: []string{setuid}, Env: append(os.Environ(), rootSleep+"="+until), KillAfter: 1000 * time.Hour})
	for syscall.Kill(p.Pid(), 0) != syscall.EPERM {
		time.Sleep(time.Millisecond)
	}
	p.Stop(0)
	e := p.Wait()
	e.Lost = nil // it has no form in JSON
	if json.NewEncoder(os.Stdout).Encode([]Exit{e}) != nil {
		return 1
	}
	return 0
}

func sleepAsRoot(until string) int {
	if err := syscall.Setresuid(0, 0, 0); err != nil {
		return 1
	}
	for end := time.Now().Add(eventually.Patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(until); err == nil {
			return 0
		}
	}
	return 0
}

// Processes of other users are named, and nobody waits for them as for one that
// could use the time: the command's KillAfter is no limit here that anybody sees.
func TestGuardianNamesSurvivors(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	t.Parallel()
	binary, setuid := publicCopy(t), publicCopy(t)
	if err := os.Chmod(setuid, os.ModeSetuid|0o755); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// The command ends when its child can no longer be signalled.
	script := "unset " + survivorScript + "; " + rootSleep + "=OVER " + setuid + ` & while kill -0 $! 2>/dev/null && [ "$(awk '/^Uid/{print $2}' /proc/$!/status)" != 0 ]; do :; done; exit 3`
	for _, c := range []struct {
		name, env string
		group     bool
		ends      int
		code      int
	}{
		{"what is left", survivorScript + "=" + script, false, 3, 3},
		{"what is left of a group", survivorScript + "=" + script, true, 3, 3},
		{"the command", refuses + "=" + setuid + ":OVER", false, 1, 137},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			over := filepath.Join(dir, strings.ReplaceAll(c.name, " ", "_"))
			ctx, cancel := context.WithTimeout(t.Context(), eventually.Patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, binary)
			cmd.Env = append(os.Environ(), strings.ReplaceAll(c.env, "OVER", over))
			if c.group {
				cmd.Env = append(cmd.Env, groupOnly+"=1")
			}
			cmd.Dir, cmd.Stderr = "/", os.Stderr
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			out, err := cmd.Output()
			if err := os.WriteFile(over, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			var ends []Exit
			if err := json.Unmarshal(out, &ends); err != nil || len(ends) != c.ends {
				t.Fatalf("%v: %s", err, out)
			}
			for _, e := range ends {
				eventually.Holds(t, "it has ended", func() bool {
					if len(e.Survivors) == 0 {
						return true
					}
					s, there := readStat(e.Survivors[0].Pid, make([]byte, 0, 1024))
					return !there || !s.alive() // nobody may reap it
				})
				if e.Code != c.code || len(e.Survivors) != 1 || e.Survivors[0].User != 0 || e.Survivors[0].Name != "proc.test" || e.Survivors[0].Pid == 0 {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// The first time processes that no signal reaches may take as long as others to end;
// from then on a command pays half a second for them.
func TestGuardianWaitsLessForSurvivors(t *testing.T) {
	at := time.Now()
	for _, c := range []struct {
		rest census
		want time.Duration
	}{{census{found: 2, refused: 2}, leftGrace}, {census{found: 2, refused: 1}, killGrace}, {census{found: 1}, killGrace}} {
		w := &warden{foreign: leftGrace, killedAt: at}
		if w.waitFor(c.rest); w.deadline.Sub(at) != c.want {
			t.Errorf("%+v are waited for %s, want %s", c.rest, w.deadline.Sub(at), c.want)
		}
	}
	if leftBefore.Load() {
		t.Fatal("something was left before")
	}
	defer leftBefore.Store(false)
	said := joined((&ended{}).message(false), (&report{survivors: []Survivor{{1, 2, "x"}, {User: -1}}}).goneMessage())
	if e := heard(t, said); !slices.Equal(e.Survivors, []Survivor{{1, 2, "x"}, {User: -1}}) || !leftBefore.Load() {
		t.Errorf("%+v", e)
	}
}

func TestSurvivor(t *testing.T) {
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	if s := survivor(os.Getpid()); s.Pid != os.Getpid() || s.User != os.Getuid() || s.Name != string(bytes.TrimSpace(name)) {
		t.Errorf("%+v", s)
	}
	if s := survivor(1 << 30); s != (Survivor{Pid: 1 << 30, User: -1}) {
		t.Errorf("%+v of process "+strconv.Itoa(1<<30), s)
	}
}
