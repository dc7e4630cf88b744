package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// kept is how many runs are in the state directory that is listed.
const kept = 10_000

// listing measures what a state directory full of runs costs its reader.
func (b *bench) listing() error {
	state, err := b.full()
	if err != nil {
		return err
	}
	looprun := func(args ...string) []string { return append([]string{b.looprun}, args...) }
	floor := &candidate{name: "looprun version", argv: looprun("version")}
	all := []*candidate{
		floor,
		{name: "ls", argv: []string{"ls", state}},
		{name: "looprun list", argv: looprun("list", "--state-dir", state)},
		{name: "looprun list -n 0", argv: looprun("list", "-n", "0", "--state-dir", state)},
		{name: "looprun show", argv: looprun("show", "--state-dir", state)},
		{name: "looprun show RUN", argv: looprun("show", "--state-dir", state, runID(kept/2))},
	}
	if err := b.measure(all); err != nil {
		return err
	}
	fmt.Printf("\n%d runs in the state directory\n%-36s %10s %8s %8s %10s\n", kept, "", "time", "ratio", "spread", "peak")
	for _, c := range all {
		fmt.Printf("%-36s %10s %8.2f %8s %10s\n", c.name, c.time().Round(100*time.Microsecond), float64(c.time())/float64(floor.time()), c.spread(), mib(c.rss()))
	}
	return nil
}

// full is a state directory with so many runs.
func (b *bench) full() (string, error) {
	state := filepath.Join(b.dir, "many")
	if _, err := os.Stat(state); err == nil {
		return state, nil
	}
	return state, b.fill(state)
}

// fill puts copies of one run into a state directory.
func (b *bench) fill(state string) error {
	one := filepath.Join(b.dir, "one")
	cmd := exec.Command(b.looprun, "-q", "--non-interactive", "--state-dir", one, "--", "false")
	cmd.Env = append(os.Environ(), "CI=")
	if out, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 111 {
		return fmt.Errorf("%w: %s", err, out)
	}
	runs, err := filepath.Glob(filepath.Join(one, "*-*-*"))
	if err != nil || len(runs) != 1 {
		return fmt.Errorf("there are %d runs, %w", len(runs), err)
	}
	if err := os.Mkdir(state, 0o700); err != nil {
		return err
	}
	for n := range kept {
		if err := os.CopyFS(filepath.Join(state, runID(n)), os.DirFS(runs[0])); err != nil {
			return err
		}
	}
	return nil
}

// runID is the id of run n: one was started a minute.
func runID(n int) string {
	return time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC).Format("20060102-150405") + "-0000"
}
