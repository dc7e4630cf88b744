//go:build linux && torture

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A hosted runner kills a job some 7.5 s after it told it to end. Whatever does not want to end,
// looprun is gone within 7 on a quiet machine: it waits for nothing that takes a minute.
func TestTheEndInCI(t *testing.T) {
	for name, args := range map[string][]string{
		"the command":       {"--", "sh", "-c", stubborn},
		"what it started":   {"--", "sh", "-c", `setsid sh -c "` + `trap '' INT TERM HUP; echo \$\$ > pid; touch here; while :; do sleep 0.1; done` + `" & sleep 60`},
		"the check":         {"--no-precheck", "--check", stubborn, "--", "true"},
		"the background":    {"--keep-background", "--max-iterations", "2", "--loop-threshold", "off", "--", "sh", "-c", `if [ $LOOPRUN_ITERATION = 1 ]; then (trap '' INT TERM HUP; sleep 60) & exit 1; fi; ` + stubborn},
		"a hook at the end": {"--hook-on-end", "trap '' INT TERM; sleep 60", "--", "sh", "-c", stubborn},
		"a long kill-after": {"--kill-after", "60s", "--", "sh", "-c", stubborn},
		"a debug command":   {"--loop-threshold", "2", "--policy", "policy.yaml", "--debug", stubborn, "--", "false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(dir+"/policy.yaml", []byte("version: 1\nrules:\n  - guard: loop_detected\n    answer: debug\n    reason: Look.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			s := ready(t, dir, args...)
			s.Env = append(s.Env, "CI=true")
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			until(t, "the command runs", s.has("here"))
			began := time.Now()
			_ = s.Process.Signal(syscall.SIGTERM)
			code := s.ended(t)
			took := time.Since(began)
			t.Logf("gone after %s, with %d", took.Round(10*time.Millisecond), code)
			if took > 30*time.Second || code != -int(syscall.SIGTERM) {
				t.Errorf("ended with %d after %s", code, took)
			}
			if said := s.stderr.String(); strings.Contains(said, "the command has") && !strings.Contains(said, "the command has 5s to end") {
				t.Error("it names another time than the command has")
			}
			until(t, "the command is gone", func() bool { return !s.alive(t, "pid") })
		})
	}
}
