//go:build unix

package proc

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestExit(t *testing.T) {
	for _, c := range []struct {
		script string
		code   int
		signal syscall.Signal
	}{
		{"exit 0", 0, 0},
		{"exit 3", 3, 0},
		{"exit 255", 255, 0},
		{"kill -TERM $$", 143, syscall.SIGTERM},
		{"kill -KILL $$", 137, syscall.SIGKILL},
	} {
		e := run(t, Spec{Argv: sh(c.script)})
		if e.Code != c.code || e.Signal != c.signal || e.Cause != Exited || e.StartErr != nil {
			t.Errorf("%s: %+v", c.script, e)
		}
	}
}

func TestStartFailures(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := []string{"PATH=" + dir}
	loop, other := filepath.Join(dir, "loop"), filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		spec Spec
		code int
		says string
	}{
		{"not on PATH", Spec{Argv: []string{"nowhere"}, Env: env}, 127, "nowhere: command not found"},
		{"in the directory", Spec{Argv: []string{filepath.Base(file("here", "#!/bin/sh\n", 0o700))}, Env: []string{"PATH=/none"}, Dir: dir}, 127, "here: command not found on PATH; write ./here"},
		{"no such file", Spec{Argv: []string{"./nowhere"}, Dir: dir}, 127, "no such file"},
		{"no such file anywhere", Spec{Argv: []string{dir + "/nowhere"}}, 127, "no such file"},
		{"below a file", Spec{Argv: []string{file("above", "", 0o700) + "/x"}}, 127, "no such file"},
		{"a link to itself", Spec{Argv: []string{loop}}, 126, "too many levels of symbolic links"},
		{"plain file", Spec{Argv: []string{file("plain", "", 0o600)}}, 126, "is not executable: permission denied; chmod +x makes it so"},
		{"plain file on PATH", Spec{Argv: []string{"plain"}, Env: env}, 126, dir + "/plain is not executable"},
		{"plain files on PATH", Spec{Argv: []string{"plain"}, Env: []string{"PATH=" + dir + ":" + filepath.Dir(other)}}, 126, dir + "/plain is not executable"},
		{"directory", Spec{Argv: []string{dir}}, 126, "is a directory"},
		{"format", Spec{Argv: []string{file("format", "echo", 0o700)}}, 126, "exec format error: neither a program"},
		{"plain interpreter", Spec{Argv: []string{file("by", "#!"+other+"\n", 0o700)}}, 126, "is not executable: permission denied"},
		{"interpreter", Spec{Argv: []string{file("script", "#!/no/such\n", 0o700)}}, 127, `"/no/such"`},
		{"working directory", Spec{Argv: sh("true"), Dir: dir + "/none"}, 126, "working directory"},
		{"working directory of a line", Spec{Argv: Shell("true"), Dir: dir + "/none"}, 126, "working directory"},
		{"working directory a file", Spec{Argv: sh("true"), Dir: file("f", "", 0o600)}, 126, "working directory: "},
		{"too long", Spec{Argv: []string{"/bin/sh", "-c", "true", strings.Repeat("x", 4<<20)}}, 126, "too long"},
		{"NUL", Spec{Argv: []string{"/bin/sh", "-c", "true\x00"}}, 126, "invalid argument"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := run(t, c.spec)
			if e.Code != c.code || e.Cause != StartFailed || e.StartErr == nil {
				t.Fatalf("%+v", e)
			}
			if !strings.Contains(e.StartErr.Error(), c.says) {
				t.Errorf("%q does not say %q", e.StartErr, c.says)
			}
			for _, only := range []string{"; write ./", "is not executable", "chmod", "neither", "directory"} {
				if got := e.StartErr.Error(); strings.Contains(got, only) && !strings.Contains(c.says, only) {
					t.Errorf("%q says more than %q", got, c.says)
				}
			}
		})
	}
	t.Setenv("PATH", dir)
	for argv0, says := range map[string]string{shell: "install a POSIX shell", "nowhere": "nowhere: command not found"} {
		if e := run(t, Spec{Argv: []string{argv0, "-c", "true"}}); e.Code != 127 || e.StartErr == nil || !strings.Contains(e.StartErr.Error(), says) {
			t.Errorf("without a shell on PATH, %s: %+v", argv0, e)
		}
	}
}

// The PATH that counts is the command's.
func TestLookup(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/bin", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/bin/tool", []byte("#!/bin/sh\necho \"$0\"; pwd\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/none:" + dir + "/bin", "bin"} {
		var out sink
		e := run(t, Spec{Argv: []string{"tool"}, Dir: dir, Env: []string{"PATH=" + path}, Stdout: out.write})
		if e.Code != 0 || !strings.Contains(out.String(), "bin/tool\n") {
			t.Errorf("PATH=%s: %+v %q", path, e, out.String())
		}
	}
	if e := run(t, Spec{Argv: []string{"sh", "-c", "exit 7"}, Env: []string{}}); e.Code != 7 {
		t.Errorf("without PATH: %+v", e)
	}
	if e := run(t, Spec{Argv: []string{"tool"}, Dir: dir + "/bin", Env: []string{"PATH=:/none"}}); e.Code != 0 {
		t.Errorf("the directory itself is on PATH: %+v", e)
	}
	if err := os.WriteFile(dir+"/tool", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/of/tool", 0o700); err != nil {
		t.Fatal(err)
	}
	if e := run(t, Spec{Argv: []string{"tool"}, Env: []string{"PATH=" + dir + ":" + dir + "/none:" + dir + "/of:" + dir + "/bin"}}); e.Code != 0 {
		t.Errorf("what cannot be executed comes first on PATH: %+v", e)
	}
}

func TestOutput(t *testing.T) {
	var out, errOut sink
	e := run(t, Spec{
		Argv:   sh(`printf 'out\n'; printf 'err\n' >&2; printf "$VALUE"; cat; pwd`),
		Env:    []string{"VALUE=value"},
		Dir:    "/",
		Stdout: out.write, Stderr: errOut.write,
	})
	if e.Code != 0 || out.String() != "out\nvalue/\n" || errOut.String() != "err\n" {
		t.Errorf("%+v out %q err %q", e, out.String(), errOut.String())
	}
}

// What a guardian has in its environment for itself no command gets.
func TestEnvironmentIsTheCallers(t *testing.T) {
	for _, value := range []string{"", "3"} {
		t.Setenv("GOMAXPROCS", value)
		var out sink
		if run(t, Spec{Argv: sh(`printf '<%s>' "$GOMAXPROCS"`), Stdout: out.write}); out.String() != "<"+value+">" {
			t.Errorf("%q: %s", value, out.String())
		}
	}
}

func TestStdin(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("from a file"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	var out sink
	run(t, Spec{Argv: []string{"cat"}, Stdin: f, Stdout: out.write})
	if out.String() != "from a file" {
		t.Errorf("%q", out.String())
	}
}

// Every byte arrives, in order, also where the reader is slower than the
// writer; and memory does not grow with the output.
func TestOutputIsComplete(t *testing.T) {
	const size = 32 << 20
	for _, terminal := range []bool{false, true} {
		var n, wrong int
		pattern := bytes.Repeat([]byte("0123456789abcde\n"), 4096)
		e := run(t, Spec{
			Argv: sh("yes 0123456789abcde | head -c " + itoa(size)),
			PTY:  terminal,
			Stdout: func(b []byte) {
				for len(b) > 0 {
					want := pattern[n%16:]
					want = want[:min(len(want), len(b))]
					if !bytes.Equal(b[:len(want)], want) {
						wrong++
					}
					b, n = b[len(want):], n+len(want)
				}
			},
		})
		if e.Code != 0 || n != size || wrong > 0 {
			t.Errorf("terminal %v: %+v, %d bytes, %d wrong", terminal, e, n, wrong)
		}
	}
}

// What is written just before the end is not lost, a hundred times.
func TestLastOutput(t *testing.T) {
	text := strings.Repeat("x", 3000)
	for i := range 100 {
		var out, errOut sink
		run(t, Spec{Argv: []string{"/bin/echo", text}, PTY: i%2 == 0, Stdout: out.write, Stderr: errOut.write})
		if out.String() != text+"\n" {
			t.Fatalf("run %d: %d bytes", i, len(out.String()))
		}
	}
}

// A `tee` that still holds output when the command ends gets to write it.
func TestTrailingTee(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("needs bash for process substitution")
	}
	log := filepath.Join(t.TempDir(), "log")
	var out sink
	e := run(t, Spec{
		Argv:   []string{"/bin/bash", "-c", `exec > >(tee "$0"); seq 20000`, log},
		Stdout: out.write,
	})
	if !strings.HasSuffix(out.String(), "\n20000\n") {
		t.Errorf("%+v: the end of %d bytes is missing", e, len(out.String()))
	}
}

func TestPseudoTerminal(t *testing.T) {
	var out sink
	e := run(t, Spec{
		Argv:   sh(`[ -t 1 ] && [ -t 2 ] && ! [ -t 0 ] && echo terminals; (: </dev/tty) 2>/dev/null || echo no controlling terminal; stty size <&1; echo err >&2; read -r x <&2 || echo no keys`),
		PTY:    true,
		Stdout: out.write,
	})
	for _, want := range []string{"terminals\n", "no controlling terminal\n", "24 80\n", "err\n", "no keys\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q (%+v)", want, out.String(), e)
		}
	}
	if strings.Contains(out.String(), "\r") {
		t.Errorf("changed bytes: %q", out.String())
	}
}

func TestTimeout(t *testing.T) {
	for _, c := range []struct {
		name  string
		spec  Spec
		cause Cause
		sig   syscall.Signal
	}{
		{"time", Spec{Argv: sh("sleep 1000"), Timeout: 50 * time.Millisecond}, Timeout, syscall.SIGTERM},
		{"idle", Spec{Argv: sh("echo x; sleep 1000"), IdleTimeout: 50 * time.Millisecond}, IdleTimeout, syscall.SIGTERM},
		{"time before idle", Spec{Argv: sh("sleep 1000"), Timeout: 50 * time.Millisecond, IdleTimeout: time.Hour}, Timeout, syscall.SIGTERM},
		{"idle before time", Spec{Argv: sh("sleep 1000"), Timeout: time.Hour, IdleTimeout: 50 * time.Millisecond}, IdleTimeout, syscall.SIGTERM},
		{"ignored", Spec{Argv: sh("trap '' TERM; sleep 1000; sleep 1000"), Timeout: 200 * time.Millisecond, KillAfter: 50 * time.Millisecond}, Timeout, syscall.SIGKILL},
		{"longer than it takes", Spec{Argv: sh("exit 0"), Timeout: time.Hour, IdleTimeout: time.Hour}, Exited, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := run(t, c.spec); e.Cause != c.cause || e.Signal != c.sig {
				t.Errorf("%+v", e)
			}
		})
	}
}

// A command that prints is not idle, nor is one whose output is held back.
func TestIdleIsNotBusy(t *testing.T) {
	lines := 0
	e := run(t, Spec{
		Argv:        sh("for i in 1 2 3 4 5 6; do echo; sleep 0.1; done"),
		IdleTimeout: 5 * time.Second,
		Stdout:      func(b []byte) { lines += len(b) },
	})
	if e.Cause != Exited || lines != 6 {
		t.Errorf("%+v, %d lines", e, lines)
	}
	var held *Process
	release := make(chan struct{})
	held = must(t, Spec{
		Argv: sh("echo; exec sleep 1000"), IdleTimeout: 20 * time.Millisecond,
		Stdout: func([]byte) { <-release },
	})
	for range 5 { // several times the limit passes
		time.Sleep(10 * time.Millisecond)
		select {
		case <-held.Done():
			t.Fatal("ended while its output was held back")
		default:
		}
	}
	close(release)
	if e := await(t, held); e.Cause != IdleTimeout {
		t.Errorf("%+v", e)
	}
}

func TestStop(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // as under nohup: commands inherit that
		}
		p := must(t, Spec{Argv: []string{"sleep", "1000"}})
		p.Stop(sig)
		if e := await(t, p); e.Cause != Stopped || e.Signal != sig || e.Code != 128+int(sig) {
			t.Errorf("%v: %+v", sig, e)
		}
		p.Stop(sig) // of nothing
	}
}

// The command may end as it likes when it is asked to; that it was asked is
// still the cause.
func TestStopIsHandled(t *testing.T) {
	var out sink
	p := must(t, Spec{Argv: sh("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done"), Stdout: out.write})
	eventually.Holds(t, "ready", out.has("ready"))
	p.Stop(0)
	if e := await(t, p); e.Cause != Stopped || e.Code != 0 || !strings.HasSuffix(out.String(), "bye\n") {
		t.Errorf("%+v %q", e, out.String())
	}
}

func TestSecondStopKills(t *testing.T) {
	var out sink
	p := must(t, Spec{Argv: sh("trap '' TERM; echo ready; while :; do sleep 0.01; done"), Stdout: out.write, KillAfter: time.Hour})
	eventually.Holds(t, "ready", out.has("ready"))
	p.Stop(0)
	p.Stop(0)
	if e := await(t, p); e.Cause != Stopped || e.Signal != syscall.SIGKILL {
		t.Errorf("%+v", e)
	}
}

// A reader that does not return cannot keep the command from being ended.
func TestStopWhileOutputIsHeld(t *testing.T) {
	release := make(chan struct{})
	n := 0
	held := make(chan struct{})
	p := must(t, Spec{Argv: sh("yes"), KillAfter: time.Hour, Timeout: time.Hour, Stdout: func(b []byte) {
		if n == 0 {
			close(held)
		}
		n++
		<-release
	}})
	<-held
	p.Stop(0)
	eventually.Holds(t, "the command ended", func() bool { return syscall.Kill(p.Pid(), 0) != nil || zombie(p.Pid()) })
	close(release)
	if e := await(t, p); e.Cause != Stopped {
		t.Errorf("%+v", e)
	}
}

// Time stands still while a tree is suspended, and Stop reaches it.
func TestSuspend(t *testing.T) {
	var out sink
	p := must(t, Spec{Argv: sh("while :; do echo .; sleep 0.01; done"), Stdout: out.write, Timeout: time.Hour, IdleTimeout: time.Second})
	eventually.Holds(t, "output", out.has("."))
	if err := p.Suspend(); err != nil {
		t.Fatal(err)
	}
	if err := p.Suspend(); err != nil {
		t.Errorf("twice: %v", err)
	}
	eventually.Holds(t, "stopped", func() bool { return stopped(p.Pid()) })
	time.Sleep(1200 * time.Millisecond) // more than the idle limit
	select {
	case <-p.Done():
		t.Fatalf("ended while it was suspended: %+v", p.Wait())
	default:
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	n := len(out.String())
	eventually.Holds(t, "more output", func() bool { return len(out.String()) > n })
	if err := p.Suspend(); err != nil {
		t.Fatal(err)
	}
	p.Stop(0)
	if err := p.Suspend(); err != ErrEnding && err != nil {
		t.Errorf("while it ends: %v", err)
	}
	if e := await(t, p); e.Cause != Stopped || e.Signal != syscall.SIGTERM {
		t.Errorf("%+v", e)
	}
	if p.Suspend() != nil || p.Resume() != nil {
		t.Error("of nothing: an error")
	}
}

func TestCauses(t *testing.T) {
	for c := Exited; c <= StartFailed; c++ {
		if strings.HasPrefix(c.String(), "Cause") {
			t.Errorf("%d has no name", c)
		}
	}
	if Cause(99).String() != "Cause(99)" {
		t.Error(Cause(99))
	}
}

// A command that ignores its end is killed after KillAfter, and until then cannot be suspended:
// it would stand still for ever.
func TestWhatIsEndingIsNotSuspended(t *testing.T) {
	for _, killAfter := range []time.Duration{time.Hour, 50 * time.Millisecond} {
		var out sink
		p := must(t, Spec{Argv: sh("trap '' TERM; echo up; while :; do sleep 0.01; done"), Stdout: out.write, KillAfter: killAfter})
		eventually.Holds(t, "it ignores its end", out.has("up"))
		p.Stop(0)
		if killAfter == time.Hour {
			if err := p.Suspend(); !errors.Is(err, ErrEnding) {
				t.Errorf("suspended: %v", err)
			}
			p.Stop(0)
		}
		if e := await(t, p); e.Code != 137 || e.Cause != Stopped || e.Lost != nil {
			t.Errorf("%+v", e)
		}
	}
}

// A command that was killed while it stood still is gone, and a limit holds again once it has
// gone on.
func TestAfterASuspension(t *testing.T) {
	p := must(t, Spec{Argv: sh("exec sleep 1000")})
	if err := p.Suspend(); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(p.Pid(), syscall.SIGKILL)
	if e := await(t, p); e.Code != 137 || e.Cause != Exited {
		t.Errorf("%+v", e)
	}
	if err := p.Resume(); err != nil {
		t.Error(err)
	}
	if err := p.Suspend(); err != nil {
		t.Error(err)
	}

	p = must(t, Spec{Argv: sh("exit 0")})
	await(t, p)
	if err := errors.Join(p.Suspend(), p.Resume()); err != nil {
		t.Error(err)
	}

	p = must(t, Spec{Argv: sh("exec sleep 1000"), Timeout: time.Second})
	if err := errors.Join(p.Suspend(), p.Resume()); err != nil && !errors.Is(err, ErrEnding) { // it can be late
		t.Fatal(err)
	}
	if e := await(t, p); e.Cause != Timeout {
		t.Errorf("%+v", e)
	}
}

// counted is a tree that counts what is done to it.
type counted struct {
	tree
	suspends, resumes int
	beyond            error // it cannot be suspended
}

func (c *counted) pid() int { return 1 }

func (c *counted) suspend() error {
	if c.beyond == nil {
		c.suspends++
	}
	return c.beyond
}

func (c *counted) resume() error { c.resumes++; return nil }

// A tree is suspended once, if it can be, and goes on when nothing keeps it from going on.
func TestATreeGoesOnOnce(t *testing.T) {
	c := &counted{beyond: ErrEnding}
	p := &Process{}
	p.begin(c)
	if err := p.Suspend(); err != c.beyond || p.standsStill() {
		t.Errorf("what cannot be suspended stands still: %v", err)
	}
	c.beyond = nil
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Suspend(); err != nil {
			t.Fatal(err)
		}
	}
	p.stopped = true // from the terminal, meanwhile
	for range 2 {
		if err := p.Resume(); err != nil {
			t.Fatal(err)
		}
	}
	if c.suspends != 1 || c.resumes != 0 {
		t.Errorf("suspended %d times, resumed %d times before it may go on", c.suspends, c.resumes)
	}
	if err := p.goOn(&p.stopped); err != nil || c.resumes != 1 {
		t.Errorf("resumed %d times, %v", c.resumes, err)
	}
}

// Run follows a command to its end. One that cannot start has ended.
func TestRunFollowsACommand(t *testing.T) {
	var p *Process
	e := Run(Spec{Argv: sh("echo x; exit 3"), Stdout: func([]byte) {
		if p == nil {
			t.Error("its output comes before it is known")
		}
	}}, func(started *Process) { p = started })
	if e.Cause != Exited || e.Code != 3 || p == nil || p.Pid() == 0 {
		t.Errorf("%+v", e)
	}
	for _, c := range []struct {
		argv []string
		code int
	}{{nil, codeLacking}, {[]string{""}, codeLacking}, {[]string{"/no/such/command"}, 127}} {
		if e := Run(Spec{Argv: c.argv}, nil); e.Code != c.code || e.Cause != StartFailed || e.StartErr == nil {
			t.Errorf("%q: %+v", c.argv, e)
		}
	}
}
