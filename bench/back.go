package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
)

const (
	kept = 10_000 // runs in the state directory that is looked at
	long = 50_000 // iterations of the run that is looked at
)

// back measures the cost of looking back: over very many runs, and over one very long run.
func (b *bench) back() error {
	full, err := b.full()
	if err != nil {
		return err
	}
	one, err := b.longest()
	if err != nil {
		return err
	}
	const felt, all, replayed = 150 * time.Millisecond, 2 * time.Second, 5 * time.Second
	for _, at := range []struct {
		what, state string
		usual       time.Duration
		limit       map[string]time.Duration
	}{
		{fmt.Sprintf("%d runs", kept), full, felt, map[string]time.Duration{"list -n 0": all, "stats rejections": all, "prune --keep 20 --dry-run": all}},
		{fmt.Sprintf("one run of %d iterations", long), one, replayed, nil},
	} {
		commands := []*candidate{{name: "version", argv: []string{b.looprun, "version"}}}
		for _, words := range []string{"list", "list -n 0", "show", "show -n 0", "explain", "context", "stats rejections", "doctor", "prune --keep 20 --dry-run"} {
			argv := append([]string{"env", "LOOPRUN_STATE_DIR=" + at.state, b.looprun}, strings.Fields(words)...)
			commands = append(commands, &candidate{name: words, argv: argv})
		}
		if err := b.measure(commands); err != nil {
			return err
		}
		fmt.Printf("\nlooking back over %s\n%-36s %10s %8s %10s %8s %10s\n", at.what, "", "time", "ratio", "processor", "spread", "peak")
		for i, c := range commands {
			fmt.Printf("%-36s %10s %8.2f %10s %8s %10s\n", c.name, c.time().Round(100*time.Microsecond), ratio(c, commands[0]), c.processor().Round(100*time.Microsecond), c.spread(), mib(c.rss()))
			if i > 0 {
				limit, other := at.limit[c.name]
				if !other {
					limit = at.usual
				}
				b.within(c.name+", "+at.what, c.time(), limit)
			}
		}
	}
	return nil
}

// longest returns a state directory with one run.
func (b *bench) longest() (string, error) {
	state := filepath.Join(b.dir, "long")
	run, _, err := recordAt(state, time.Now(), long, core.RunStarted{Command: []string{"waves"}, Caps: core.Caps{Iterations: long}})
	if err != nil {
		return "", err
	}
	return state, run.Close()
}

// full returns a state directory with many runs of three iterations each, started one minute
// apart.
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
