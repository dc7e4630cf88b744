package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// What nobody reads never keeps a run from its end: a pipe whose reader stands
// still, or a terminal on which somebody has pressed Ctrl-S.
func TestNobodyReads(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for what nobody reads")
	}
	t.Parallel()
	const much = `touch here; i=0; while [ $i -lt 3000 ]; do echo $i the quick brown fox jumps over the lazy dog, and over the next one; i=$((i+1)); done; touch all; sleep 60`
	const policy = "version: 1\nrules:\n  - guard: max_runtime\n    answer: cancel\n    reason: Enough.\n"
	for name, c := range map[string]struct {
		flags  []string
		signal syscall.Signal
		work   string
		want   int
	}{
		"max_runtime":        {[]string{"--max-runtime", "1s"}, 0, much, 124},
		"a policy cancels":   {[]string{"--max-runtime", "1s", "--policy", "policy.yaml"}, 0, much, 101},
		"iteration timeout":  {[]string{"--iteration-timeout", "1s", "--max-iterations", "2"}, 0, much, 110},
		"SIGTERM":            {nil, syscall.SIGTERM, much, -int(syscall.SIGTERM)},
		"after the command":  {nil, syscall.SIGTERM, strings.TrimSuffix(much, "; sleep 60"), -int(syscall.SIGTERM)},
		"an assistant":       {[]string{"--max-iterations", "1", "--assistant", "yes complaint >&2", "--assistant-for", "guards", "--assistant-timeout", "1s"}, 0, "touch here; exit 1", 110},
		"on standard error":  {[]string{"--max-runtime", "1s"}, 0, "exec >&2; " + much, 124},
		"looprun's messages": {[]string{"--max-iterations", "2000", "--cap-iterations", "2000", "--delay", "0s", "--loop-threshold", "off"}, syscall.SIGINT, "touch here; exit 1", -int(syscall.SIGINT)},
	} {
		for _, where := range []string{"pipe", "terminal"} {
			t.Run(name+", "+where, func(t *testing.T) {
				t.Parallel()
				s := ready(t, t.TempDir(), append(append([]string{"--non-interactive", "--kill-after", "1s"}, c.flags...), "--", "sh", "-c", c.work)...)
				if err := os.WriteFile(s.file("policy.yaml"), []byte(policy), 0o600); err != nil {
					t.Fatal(err)
				}
				var r, w *os.File
				var err error
				if where == "pipe" {
					r, w, err = os.Pipe()
				} else if r, w, err = pty.Open(); err == nil {
					s.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
				}
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				s.Cmd.Stdout, s.Cmd.Stderr = w, w
				if err := s.Start(); err != nil {
					t.Fatal(err)
				}
				w.Close()
				until(t, "the command runs", s.has("here"))
				last, still := 0, 0
				until(t, "nothing more comes", func() bool {
					n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
					if still++; err != nil || n == 0 || n != last {
						still = 0
					}
					last = n
					return still > 100
				})
				if c.signal != 0 {
					if err := s.Process.Signal(c.signal); err != nil {
						t.Fatal(err)
					}
				}
				if got := s.ended(t); got != c.want {
					t.Errorf("ended with %d, want %d", got, c.want)
				}
			})
		}
	}
}
