// Command bench measures the cost of looprun, as ratios within one run: the machines it runs
// on are noisy, so it compares only things measured side by side, in interleaved rounds. Times
// are never asserted anywhere. make bench starts it in the repository's folder.
//
//	go run ./bench [SECTION…] LOOPRUN
package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// goal is a desired value and the measured one: less is better.
type goal struct {
	what, unit       string
	wanted, measured float64
}

func (b *bench) goal(what string, measured, wanted float64, unit string) {
	b.goals = append(b.goals, goal{what, unit, wanted, measured})
}

// within adds a goal in milliseconds.
func (b *bench) within(what string, measured, wanted time.Duration) {
	b.goal(what, float64(measured.Microseconds())/1e3, float64(wanted.Microseconds())/1e3, " ms")
}

// sayGoals prints which goals were reached.
func (b *bench) sayGoals() {
	if len(b.goals) == 0 {
		return
	}
	fmt.Printf("\n%-64s %12s %12s\n", "goals", "at most", "measured")
	for _, g := range b.goals {
		reached := "reached"
		if g.measured > g.wanted {
			reached = "NOT reached"
		}
		fmt.Printf("%-64s %12s %12s  %s\n", g.what, fmt.Sprintf("%.4g%s", g.wanted, g.unit), fmt.Sprintf("%.3g%s", g.measured, g.unit), reached)
	}
}

// rounds is how often each candidate runs.
const rounds = 5

// sections holds the available measurements; if none is named, all but replay are run.
var sections = map[string]func(*bench) error{
	"start":     (*bench).start,
	"iteration": (*bench).iteration,
	"output":    (*bench).output,
	"memory":    (*bench).memory,
	"lines":     (*bench).lines,
	"back":      (*bench).back,
	"many":      (*bench).many,
	"page":      (*bench).page,
	"screen":    (*bench).screen,
	"limits":    (*bench).limits,
	"replay":    func(b *bench) error { return replays(b.looprun) },
}

var usual = []string{"start", "iteration", "output", "memory", "lines", "back", "many", "page", "screen", "limits"}

// children are the roles that this program plays itself.
var children = map[string]func(arg string) error{
	"log":   func(size string) error { return writeLog(os.Stdout, size) },
	"lines": func(n string) error { return writeLines(os.Stdout, n) },
	"sum":   sum,
	"stamp": writeStamp,
	"flood": flood,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 3 && args[0] == "child" {
		return children[args[1]](args[2])
	}
	if len(args) == 0 {
		return fmt.Errorf("usage: bench [%s] LOOPRUN", strings.Join(slices.Sorted(maps.Keys(sections)), "|"))
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "looprun-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// This is for the key of the runs created here, and the list of their folders.
	if err := os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "home")); err != nil {
		return err
	}
	program, err := installed(args[len(args)-1], dir)
	if err != nil {
		return err
	}
	b := &bench{looprun: program, self: self, dir: dir}
	names := args[:len(args)-1]
	if len(names) == 0 {
		names = usual
	}
	fmt.Println(machine())
	for _, name := range names {
		measure, ok := sections[name]
		if !ok {
			return fmt.Errorf("there is no section %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(sections)), ", "))
		}
		if err := measure(b); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	b.sayGoals()
	return nil
}

// installed copies the program, and looprun-serve if it is next to it, as after an
// installation. A file written by a linker is scattered over small pieces of the system's
// memory, which adds an eighth to the processor time of a start.
func installed(program, dir string) (string, error) {
	dir, err := os.MkdirTemp(dir, "bin-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{program, filepath.Join(filepath.Dir(program), "looprun-serve")} {
		err := exec.Command("cp", name, dir).Run() // not in this process: its peak would be that of all that it starts
		if err != nil && name == program {
			return "", fmt.Errorf("cp %s %s: %w", name, dir, err)
		}
	}
	return filepath.Join(dir, filepath.Base(program)), nil
}

// machine describes the machine that is measured.
func machine() string {
	text := fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				text += ", " + strings.TrimSpace(model)
				break
			}
		}
	}
	if b, err := exec.Command("uname", "-sr").Output(); err == nil {
		text += ", " + strings.TrimSpace(string(b))
	}
	return text + fmt.Sprintf("; medians of %d interleaved rounds", rounds)
}
