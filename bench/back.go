package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
)

const (
	kept = 10_000 // runs in the state directory that is looked at
	long = 50_000 // iterations of the run that is looked at
)

// back measures what it takes to look back: over very many runs, and over one that is
// very long.
func (b *bench) back() error {
	full, err := b.full()
	if err != nil {
		return err
	}
	one, err := b.longest()
	if err != nil {
		return err
	}
	const felt, read = 150 * time.Millisecond, 500 * time.Millisecond
	for _, at := range []struct {
		what, state string
		limit       map[string]time.Duration
	}{
		{fmt.Sprintf("%d runs", kept), full, map[string]time.Duration{"stats rejections": time.Second}},
		{fmt.Sprintf("one run of %d iterations", long), one, map[string]time.Duration{"show": read, "show -n 0": read}},
	} {
		all := []*candidate{{name: "version", argv: []string{b.looprun, "version"}}}
		for _, words := range []string{"list", "list -n 0", "show", "show -n 0", "explain", "context", "stats rejections", "doctor", "prune --keep 20 --dry-run"} {
			argv := append([]string{"env", "LOOPRUN_STATE_DIR=" + at.state, b.looprun}, strings.Fields(words)...)
			all = append(all, &candidate{name: words, argv: argv})
		}
		if err := b.measure(all); err != nil {
			return err
		}
		fmt.Printf("\nlooking back over %s\n%-36s %10s %8s %10s %8s %10s\n", at.what, "", "time", "ratio", "processor", "spread", "peak")
		for i, c := range all {
			fmt.Printf("%-36s %10s %8.2f %10s %8s %10s\n", c.name, c.time().Round(100*time.Microsecond), ratio(c, all[0]), c.processor().Round(100*time.Microsecond), c.spread(), mib(c.rss()))
			if i > 0 {
				limit, other := at.limit[c.name]
				if !other {
					limit = felt
				}
				b.within(c.name+", "+at.what, c.time(), limit)
			}
		}
	}
	return nil
}

// longest is a state directory with one run. Most of it is recorded with the loop of the
// library, which is quick, and looprun itself goes on with it.
func (b *bench) longest() (string, error) {
	const last = 2500
	first, one := filepath.Join(b.dir, "first"), filepath.Join(b.dir, "long")
	if out, err := b.ends(limit, b.loops(1, "--state-dir", first, "--", "false")); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	dir, err := scratchpad.Find(first, "")
	if err != nil {
		return "", err
	}
	event, err := scratchpad.First(dir)
	if err != nil {
		return "", err
	}
	started, _ := event.Data.(core.RunStarted)
	started.Caps.Iterations = long
	run, _, err := recordAt(one, time.Now(), long-last, started)
	if err != nil {
		return "", err
	}
	if err := run.Close(); err != nil {
		return "", err
	}
	count := strconv.Itoa(long)
	if out, err := b.ends(limit, []string{b.looprun, "resume", "-q", "--non-interactive", "--state-dir", one, "--loop-threshold", "off", "--max-errors", "off", "--max-iterations", count, "--cap-iterations", count, run.ID}); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return one, nil
}

// ends runs a command that exits with the code.
func (b *bench) ends(code int, argv []string) (string, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), "CI=")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == code {
		err = nil
	}
	return string(out), err
}

// full is a state directory with so many runs of three iterations: one was started a
// minute.
func (b *bench) full() (string, error) {
	state := filepath.Join(b.dir, "many")
	if _, err := os.Stat(state); err == nil {
		return state, nil
	}
	began := time.Now().Add(-kept * time.Minute)
	for n := range kept {
		run, _, err := recordAt(state, began.Add(time.Duration(n)*time.Minute), 3, core.RunStarted{Command: []string{"waves"}})
		if err != nil {
			return "", err
		}
		if err := run.Close(); err != nil {
			return "", err
		}
	}
	return state, nil
}
