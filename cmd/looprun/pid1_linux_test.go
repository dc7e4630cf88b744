package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// asInit is looprun as the first process of a container, and its process id
// outside of it.
func asInit(t *testing.T, args ...string) (s *started, pid int) {
	t.Helper()
	needs(t, "unshare")
	namespace := []string{"--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if out, err := exec.Command("unshare", append(namespace, "true")...).CombinedOutput(); err != nil {
		t.Skipf("this machine does not let a user make a namespace of processes: %s", out)
	}
	s = ready(t, t.TempDir(), args...)
	file := s.Path
	s.Path = ""
	s.Cmd.Args = append(append([]string{"unshare"}, append(namespace, file)...), args...)
	var err error
	if s.Path, err = exec.LookPath("unshare"); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the command runs", s.has("here"))
	children := childrenOf(s.Process.Pid)
	if len(children) != 1 {
		t.Fatalf("unshare has the children %d", children)
	}
	return s, children[0]
}

// In a container looprun may be the first process, which the kernel shields from
// its own signals.
func TestEndedAsInit(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s, pid := asInit(t, "--", "sh", "-c", "touch here; exec sleep 60")
			if err := syscall.Kill(pid, sig); err != nil {
				t.Fatal(err)
			}
			if got := s.ended(t); got != 128+int(sig) {
				t.Errorf("ended with %d, want %d", got, 128+int(sig))
			}
		})
	}
}

const ctrlZIgnored = "Ctrl-Z (SIGTSTP) is ignored"

// Where nobody could let it go on, Ctrl-Z does not stop the run for ever.
func TestCtrlZWithoutAShell(t *testing.T) {
	work := []string{"--", "sh", "-c", "touch here; while [ ! -e go ]; do sleep 0.02; done"}
	t.Run("the first process of a container", func(t *testing.T) {
		t.Parallel()
		s, pid := asInit(t, work...)
		if err := syscall.Kill(pid, syscall.SIGTSTP); err != nil {
			t.Fatal(err)
		}
		until(t, "looprun says so", func() bool { return strings.Contains(s.stderr.String(), ctrlZIgnored) })
		s.letGo(t, "go")
		if got := s.ended(t); got != 0 {
			t.Errorf("ended with %d", got)
		}
	})
	for name, flags := range map[string][]string{"interactive": {"-i"}, "output only": nil} {
		t.Run("the first process of a terminal, "+name, func(t *testing.T) {
			t.Parallel()
			s := onTerminal(t, t.TempDir(), append(flags, work...)...)
			until(t, "the command runs", s.has("here"))
			s.press(t, "\x1a", "looprun says so", s.shows(ctrlZIgnored))
			s.letGo(t, "go")
			if got := s.ended(t); got != 0 {
				t.Errorf("ended with %d", got)
			}
		})
	}
}
