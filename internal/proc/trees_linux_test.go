package proc

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/internal/eventually"
)

// trees are the ways in which a process gets away from what started it. NONCE
// is what each sleeps for; wait keeps the command itself there.
var trees = []struct{ name, script string }{
	{"child", "exec sleep NONCE"},
	{"grandchild", "sleep NONCE & wait"},
	{"setsid", "setsid sleep NONCE & wait"},
	{"double fork", "(setsid sh -c 'sleep NONCE & exit' &) ; exec sleep NONCE"},
	{"hangup ignored", "nohup sleep NONCE >/dev/null 2>&1 & wait"},
	{"environment cleared", "(env -i setsid sleep NONCE &) ; exec sleep NONCE"},
}

// leaving are trees whose command ends and leaves something behind.
var leaving = []struct{ name, script string }{
	{"grandchild", "sleep NONCE & exit 3"},
	{"grandchild with the pipe", "(sleep NONCE; echo) & exit 3"},
	{"setsid", "setsid sleep NONCE & exit 3"},
	{"double fork", "(setsid sh -c 'sleep NONCE & exit' &) ; sleep 0.05; exit 3"},
	{"hangup ignored", "nohup sleep NONCE >/dev/null 2>&1 & exit 3"},
	{"environment cleared", "(env -i setsid sleep NONCE &) ; sleep 0.05; exit 3"},
}

// escapes skips a test of what leaves its process group where only groups are used.
func escapes(t *testing.T, script string) {
	t.Helper()
	if os.Getenv(groupOnly) != "" && strings.Contains(script, "setsid") {
		t.Skip("only a guardian finds it")
	}
}

func TestWhatIsLeftIsEnded(t *testing.T) {
	for _, tree := range leaving {
		t.Run(tree.name, func(t *testing.T) {
			escapes(t, tree.script)
			n := nonce()
			e := run(t, Spec{Argv: sh(strings.ReplaceAll(tree.script, "NONCE", n)), Stdout: func([]byte) {}, KillAfter: time.Hour})
			gone(t, n)
			if e.Code != 3 || e.Cause != Exited || e.Leftover == 0 || len(e.Survivors) != 0 {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestWhatIgnoresTheEndIsKilled(t *testing.T) {
	for _, script := range []string{
		"(trap '' TERM; setsid sleep NONCE) & exit 3",
		"(trap '' TERM HUP INT; sleep NONCE; echo) & exit 3",
	} {
		t.Run(script, func(t *testing.T) {
			escapes(t, script)
			n := nonce()
			e := run(t, Spec{Argv: sh(strings.ReplaceAll(script, "NONCE", n)), Stdout: func([]byte) {}, KillAfter: 50 * time.Millisecond})
			gone(t, n)
			if e.Code != 3 || e.Leftover == 0 || len(e.Survivors) != 0 {
				t.Errorf("%+v", e)
			}
		})
	}
}

// What is left has until KillAfter, and what was stopped is continued to take its end.
func TestWhatIsLeftHasTime(t *testing.T) {
	for script, want := range map[string]string{
		"(trap '' TERM; : >ready; sleep 0.3; echo last) & until test -e ready; do sleep 0.01; done; exit 3":                                                                          "last\n",
		"(trap 'echo told; exit' TERM; kill -STOP $(exec sh -c 'echo $PPID'); while :; do sleep 0.01; done) & until grep -q 'State:.T' /proc/$!/status; do sleep 0.01; done; exit 3": "told\n",
	} {
		var out sink
		if e := run(t, Spec{Argv: sh(script), Dir: t.TempDir(), Stdout: out.write, KillAfter: time.Hour}); e.Code != 3 || out.String() != want {
			t.Errorf("%+v, %q, want %q", e, out.String(), want)
		}
	}
}

// A first Stop does not wait for KillAfter when only the rest is left.
func TestStopEndsTheRest(t *testing.T) {
	for _, script := range []string{"(trap '' TERM; exec setsid sleep NONCE) & exit 3", "(trap '' TERM; exec sleep NONCE) & exit 3"} {
		t.Run(script, func(t *testing.T) {
			escapes(t, script)
			n := nonce()
			p := must(t, Spec{Argv: sh(strings.ReplaceAll(script, "NONCE", n)), KillAfter: time.Hour})
			eventually.Holds(t, "the command ended", func() bool {
				p.mu.Lock()
				defer p.mu.Unlock()
				if g, ok := p.tree.(*group); ok { // which notices it a moment after the command has gone
					g.mu.Lock()
					defer g.mu.Unlock()
					return g.over
				}
				return syscall.Kill(p.Pid(), 0) != nil
			})
			p.Stop(0)
			if e := await(t, p); e.Code != 3 || e.Cause != Exited {
				t.Errorf("%+v", e)
			}
			gone(t, n)
		})
	}
}

func TestTimeoutAndStop(t *testing.T) {
	for _, tree := range trees {
		t.Run(tree.name, func(t *testing.T) {
			escapes(t, tree.script)
			n := nonce()
			spec := Spec{Argv: sh(strings.ReplaceAll(tree.script, "NONCE", n)), Timeout: 100 * time.Millisecond}
			if e := run(t, spec); e.Cause != Timeout {
				t.Errorf("%+v", e)
			}
			gone(t, n)

			n = nonce()
			p := must(t, Spec{Argv: sh(strings.ReplaceAll(tree.script, "NONCE", n)), Stdout: func([]byte) {}})
			started(t, n, strings.Count(tree.script, "NONCE"))
			p.Stop(unix.SIGINT)
			if e := await(t, p); e.Cause != Stopped {
				t.Errorf("%+v", e)
			}
			gone(t, n)
		})
	}
}

func TestGuardianSuspendsTheTree(t *testing.T) {
	for _, tree := range trees {
		t.Run(tree.name, func(t *testing.T) {
			n := nonce()
			p := must(t, Spec{Argv: sh(strings.ReplaceAll(tree.script, "NONCE", n))})
			count := strings.Count(tree.script, "NONCE")
			started(t, n, count)
			all := func(want func(procStat) bool) func() bool {
				return func() bool {
					list := sleeping(n)
					for _, s := range list {
						if !want(s) {
							return false
						}
					}
					return len(list) == count
				}
			}
			isStopped := func(s procStat) bool { return s.state == 'T' }
			if err := p.Suspend(); err != nil {
				t.Fatal(err)
			}
			eventually.Holds(t, "all stopped", all(isStopped))
			if err := p.Resume(); err != nil {
				t.Fatal(err)
			}
			eventually.Holds(t, "none stopped", all(func(s procStat) bool { return !isStopped(s) }))
			if err := p.Suspend(); err != nil {
				t.Fatal(err)
			}
			eventually.Holds(t, "all stopped again", all(isStopped))
			p.Stop(0)
			if e := await(t, p); e.Cause != Stopped {
				t.Errorf("%+v", e)
			}
			gone(t, n)
		})
	}
}

// A process that forks and exits, over and over, is caught.
func TestGuardianCatchesARunner(t *testing.T) {
	n := nonce()
	script := `hop() { (sh -c 'exec sleep 0.002'; hop) & exit; }; hop ` + n
	for range kills {
		e := run(t, Spec{Argv: sh(script), KillAfter: 20 * time.Millisecond})
		if len(e.Survivors) != 0 {
			t.Errorf("%+v", e)
		}
	}
}

// Commands that run at the same time do not end each other.
func TestGuardiansAreApart(t *testing.T) {
	a, b := nonce(), nonce()
	long := must(t, Spec{Argv: sh("(setsid sh -c 'sleep " + a + " & exit' &) ; exec sleep " + a)})
	started(t, a, 2)
	run(t, Spec{Argv: sh("(setsid sh -c 'sleep " + b + " & exit' &) ; sleep 0.05")})
	gone(t, b)
	if len(sleeping(a)) != 2 {
		t.Error("another command's processes were ended")
	}
	long.Stop(0)
	await(t, long)
	gone(t, a)
}

func TestBackgroundIsKept(t *testing.T) {
	for _, start := range []string{"setsid sleep", "sleep"} {
		t.Run(start, func(t *testing.T) {
			escapes(t, start)
			n := nonce()
			spec := Spec{Argv: sh("(while echo; do sleep 0.01; done) & " + start + " " + n + " & echo up"), KeepBackground: true, Stdout: func([]byte) {}}
			for range 2 {
				if e := run(t, spec); e.Code != 0 || e.Leftover < 2 {
					t.Errorf("%+v", e)
				}
			}
			started(t, n, 2)
			run(t, Spec{Argv: sh("exit 0")})
			if len(sleeping(n)) != 2 {
				t.Errorf("%d are left after another command", len(sleeping(n)))
			}
			EndBackground(0)
			gone(t, n)

			spec.Argv = sh("(trap '' TERM; exec sleep " + n + ") & echo up") // it is killed in the end
			if e := run(t, spec); e.Code != 0 || e.Leftover == 0 {
				t.Errorf("%+v", e)
			}
			EndBackground(50 * time.Millisecond)
			gone(t, n)

			spec.Dir = t.TempDir() // it has time to end by itself
			spec.Argv = sh("(trap ': >told; exit' TERM; : >ready; while :; do sleep 0.01; done) & until test -e ready; do sleep 0.01; done")
			if e := run(t, spec); e.Code != 0 || e.Leftover == 0 {
				t.Errorf("%+v", e)
			}
			EndBackground(20 * time.Second)
			if _, err := os.Stat(filepath.Join(spec.Dir, "told")); err != nil {
				t.Error(err)
			}

			spec.Argv = sh("exit 4") // nothing is left
			if e := run(t, spec); e.Code != 4 || e.Leftover != 0 {
				t.Errorf("%+v", e)
			}

			spec.Timeout = 100 * time.Millisecond
			spec.Argv = sh(start + " " + n + " & sleep 1000")
			if e := run(t, spec); e.Cause != Timeout {
				t.Errorf("%+v", e)
			}
			gone(t, n) // ended commands keep nothing
			spec.KillAfter, spec.Argv = 50*time.Millisecond, sh("(trap '' TERM; exec sleep "+n+") & sleep 1000")
			if e := run(t, spec); e.Cause != Timeout {
				t.Errorf("%+v", e)
			}
			gone(t, n)
		})
	}
}

// Kill -9 of the guardian takes the tree with it, and the next command works.
func TestGuardianIsKilled(t *testing.T) {
	for _, tree := range trees {
		t.Run(tree.name, func(t *testing.T) {
			for range kills {
				n := nonce()
				p := must(t, Spec{Argv: sh(strings.ReplaceAll(tree.script, "NONCE", n)), Stdout: func([]byte) {}})
				started(t, n, strings.Count(tree.script, "NONCE"))
				s, ok := readStat(p.Pid(), make([]byte, 0, 1024))
				if !ok {
					t.Fatal("no such process")
				}
				_ = unix.Kill(s.parent, unix.SIGKILL)
				e := await(t, p)
				if e.Lost == nil || e.Code != 137 || e.Cause != Lost {
					t.Errorf("%+v", e)
				}
				gone(t, n)
			}
		})
	}
	guardians.mu.Lock()
	if slices.ContainsFunc(guardians.idle, func(g *guardian) bool { return g.over }) {
		t.Error("one whose connection is closed would get the next command: its number may be another's")
	}
	guardians.mu.Unlock()
	if e := run(t, Spec{Argv: sh("exit 4")}); e.Code != 4 {
		t.Errorf("afterwards: %+v", e)
	}
}

// One that is killed before it has said that the command was started takes with it what
// that has begun.
func TestGuardianIsKilledFirst(t *testing.T) {
	for range kills {
		n := nonce()
		e := run(t, Spec{Argv: sh("sleep " + n + " & kill -9 $PPID; sleep " + n), Stdout: func([]byte) {}})
		if e.Lost == nil || e.Code != 137 || e.Cause != Lost {
			t.Errorf("%+v", e)
		}
		gone(t, n)
	}
}

// A guardian that has died between two commands is replaced, and one that is dying
// perhaps.
func TestGuardianIsKilledIdle(t *testing.T) {
	for n := range 2 * kills {
		dead := n%2 == 0
		p := must(t, Spec{Argv: sh("read x; exit 4"), Stdout: func([]byte) {}})
		await(t, p)
		guardians.mu.Lock()
		idle := slices.Clone(guardians.idle)
		guardians.mu.Unlock()
		for _, g := range idle {
			_ = unix.Kill(g.pid, unix.SIGKILL)
			if dead {
				eventually.Holds(t, "all its threads are gone", func() bool {
					fds := []unix.PollFd{{Fd: int32(g.fd)}}
					_, _ = unix.Poll(fds, 0)
					return fds[0].Revents&unix.POLLHUP != 0
				})
			}
		}
		if e := run(t, Spec{Argv: sh("exit 4")}); e.Code != 4 && (dead || e.Lost == nil) {
			t.Errorf("%+v", e)
		}
	}
}

// Kill -9 of the program takes the tree with it.
func TestGuardianOutlivesTheProgram(t *testing.T) {
	killPrograms(t, nil)
}

func killPrograms(t *testing.T, cred *syscall.Credential) {
	binary := os.Args[0]
	if cred != nil {
		binary = publicCopy(t)
	}
	for _, tree := range trees {
		t.Run(tree.name, func(t *testing.T) {
			for i := range kills {
				n := nonce()
				cmd := exec.Command(binary)
				cmd.Dir = "/"
				cmd.Env = append(os.Environ(), runnerScript+"="+strings.ReplaceAll(tree.script, "NONCE", n))
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
				var errOut bytes.Buffer
				cmd.Stderr = &errOut
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				want := strings.Count(tree.script, "NONCE")
				if i%2 == 1 {
					want = 1 // in the middle of its start
				}
				started(t, n, want)
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				eventually.Holds(t, "nothing is left", func() bool { return len(sleeping(n)) == 0 })
				if errOut.Len() > 0 {
					t.Errorf("%s", errOut.String())
				}
			}
		})
	}
}

// The same as an ordinary user.
func TestGuardianOutlivesTheProgramAsUser(t *testing.T) {
	if !torture {
		t.Skip("the long form only: go test -tags torture")
	}
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user; the other tests have run as one")
	}
	killPrograms(t, &syscall.Credential{Uid: 65534, Gid: 65534})
}

// publicCopy is the test binary where every user can execute it.
func publicCopy(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "proc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/proc.test", b, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir + "/proc.test"
}

// What a command leaves is counted, and nothing else is.
func TestWhatIsLeftIsCounted(t *testing.T) {
	n := nonce()
	if e := run(t, Spec{Argv: sh("sleep " + n + " & sleep " + n + " & exit 3")}); e.Code != 3 || e.Leftover != 2 {
		t.Errorf("%+v", e)
	}
	gone(t, n)
}

// What is kept can go on printing.
func TestKeptOutputIsTaken(t *testing.T) {
	dir := t.TempDir()
	e := run(t, Spec{
		Argv: sh("(until test -e go; do sleep 0.01; done; echo x && echo y && : >printed) & exit 0"),
		Dir:  dir, KeepBackground: true, Stdout: func([]byte) {},
	})
	if e.Code != 0 || e.Leftover == 0 {
		t.Fatalf("%+v", e)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "it has printed", func() bool {
		_, err := os.Stat(filepath.Join(dir, "printed"))
		return err == nil
	})
	EndBackground(0)
}
