package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	processes = 200
	turns     = 10 // iterations of each
)

// chatty is the command that all of them run: 2,000 lines, and a failure.
const chatty = "seq -f 'line %g of what a command says' 2000; exit 1"

// many runs 200 loops at once: with looprun, and with a shell that keeps the output and
// nothing else.
func (b *bench) many() error {
	plain := "i=0; while [ $i -lt " + strconv.Itoa(turns) + " ]; do i=$((i + 1)); sh -c \"" + chatty + "\" > out-$i; done; true"
	ways := []*crowd{
		{name: "shell loops", argv: shell(plain)},
		{name: "looprun", argv: b.loops(turns, "--", "sh", "-c", chatty), code: limit, check: whole},
	}
	for range rounds {
		for _, w := range ways {
			if err := b.together(w); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	fmt.Printf("\n%d at once, %d iterations of 2,000 lines each\n%-34s %12s %8s %22s\n", processes, turns, "", "all done in", "ratio", "first and last done at")
	base := median(slices.Clone(ways[0].took))
	for _, w := range ways {
		took := median(w.took)
		fmt.Printf("%-34s %12s %8.2f %13.0f %% and 100 %%\n", w.name, took.Round(time.Millisecond), float64(took)/float64(base), 100*float64(median(w.first))/float64(took))
	}
	b.goal("200 loops with a chatty command, of plain shell loops", float64(median(ways[1].took))/float64(base), 1.6, "")
	fmt.Printf("every journal holds its %d iterations\n", turns)
	return b.trees()
}

// inTrees runs $2 loops of $3 iterations: with the looprun in $1, or with a shell.
const inTrees = `set -e
git init -q -b main r; cd r; seq 1000 > f; git add f
commit='git -c user.name=n -c user.email=e@example.com commit -q'
$commit -m one
export LAST=$3 commit work='seq -f "line %g" 2000; echo $LOOPRUN_ITERATION >> f; test $LOOPRUN_ITERATION = $LAST'
if test "$1" != shell; then
	exec "$1" many --for "seq $2" --jobs 4 --trees ../trees -q --loop-threshold off -- sh -c "$work"
fi
seq "$2" | xargs -P 4 -n 1 sh -c '
	flock ../lock git worktree add -q --detach "../$0"; cd "../$0"; LOOPRUN_ITERATION=0 over=1
	while test $over != 0; do
		export LOOPRUN_ITERATION=$((LOOPRUN_ITERATION + 1))
		over=0; sh -c "$work" > "../out-$0-$LOOPRUN_ITERATION" || over=1
		git add -A; $commit -m "$LOOPRUN_ITERATION"
	done
	git update-ref "refs/kept/$0" HEAD; cd ../r; flock ../lock git worktree remove --force "../$0"'
`

// trees runs loops in git work trees, each iteration with a commit of its own: with looprun
// many, and with a shell script that does the same.
func (b *bench) trees() error {
	const loops, steps = 20, 5
	script := filepath.Join(b.dir, "trees.sh")
	if err := os.WriteFile(script, []byte(inTrees), 0o600); err != nil {
		return err
	}
	ways := []*candidate{
		{name: "a shell, four at a time", argv: []string{"sh", script, "shell", strconv.Itoa(loops), strconv.Itoa(steps)}},
		{name: "looprun many --jobs 4", argv: []string{"sh", script, b.looprun, strconv.Itoa(loops), strconv.Itoa(steps)}},
	}
	for _, w := range ways {
		w.needs("git", "xargs", "flock")
	}
	if ways[0].lacks {
		return nil
	}
	if err := b.measure(ways); err != nil {
		return err
	}
	fmt.Printf("\n%d loops in git work trees, %d iterations of 2,000 lines with a commit each\n%-34s %12s %8s %16s %8s\n", loops, steps, "", "all done in", "ratio", "processor time", "ratio")
	for _, w := range ways {
		fmt.Printf("%-34s %12s %8.2f %16s %8.2f\n", w.name, w.time().Round(time.Millisecond), float64(w.time())/float64(ways[0].time()), w.processor().Round(time.Millisecond), float64(w.processor())/float64(ways[0].processor()))
	}
	return nil
}

// crowd is many processes of one kind.
type crowd struct {
	name        string
	argv        []string
	code        int
	check       func(dir string) error
	took, first []time.Duration
}

func (b *bench) together(w *crowd) error {
	var all sync.WaitGroup
	var mu sync.Mutex
	var wrong error
	first := time.Duration(0)
	began := time.Now()
	for range processes {
		cmd, clean, err := b.command(w.argv)
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		all.Go(func() {
			defer clean()
			_ = cmd.Wait()
			done := time.Since(began)
			err := error(nil)
			if code := cmd.ProcessState.ExitCode(); code != w.code {
				err = fmt.Errorf("one exited with %d, not %d", code, w.code)
			} else if w.check != nil {
				err = w.check(cmd.Dir)
			}
			mu.Lock()
			defer mu.Unlock()
			wrong = errors.Join(wrong, err)
			if first == 0 || done < first {
				first = done
			}
		})
	}
	all.Wait()
	w.took, w.first = append(w.took, time.Since(began)), append(w.first, first)
	return wrong
}

// whole checks that the run's journal contains each of its iterations.
func whole(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "runs", "*", "journal.jsonl"))
	if err != nil || len(names) != 1 {
		return fmt.Errorf("%d journals in %s: %w", len(names), dir, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		return err
	}
	if n := bytes.Count(text, []byte(`"type":"iteration.finished"`)); n != turns {
		return fmt.Errorf("a journal has %d iterations, not %d", n, turns)
	}
	return nil
}
