package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// starts is how often each of the short commands is run.
const starts = 101

// start measures how long looprun takes to print its version, compared with a Go and a Python
// program that do nothing, and how much longer a run of one iteration takes than its command.
func (b *bench) start() error {
	bare := filepath.Join(b.dir, "bare")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bare, "github.com/looprun/looprun/bench/bare")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("bare: %w: %s", err, out)
	}
	bare, err := installed(bare, b.dir)
	if err != nil {
		return err
	}
	command, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	nothing := &candidate{name: "a Go program that does nothing", argv: []string{bare}}
	version := &candidate{name: "looprun --version", argv: []string{b.looprun, "--version"}}
	alone := &candidate{name: "true", argv: []string{command}}
	once := &candidate{name: "looprun -- true", argv: []string{b.looprun, "-q", "--", command}}
	all := []*candidate{nothing, version, alone, once}
	// A shim for python3 would be measured along with it.
	python := &candidate{name: "python3 -c pass"}
	if out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		python.argv = []string{strings.TrimSpace(string(out)), "-c", "pass"}
		all = append(all, python)
	}
	for range starts {
		if err := b.round(all); err != nil {
			return err
		}
	}
	fmt.Printf("\nstart and end (medians of %d)\n%-36s %10s %8s %8s\n", starts, "", "time", "ratio", "spread")
	for _, c := range all {
		fmt.Printf("%-36s %10s %8.2f %8s\n", c.name, c.time().Round(10*time.Microsecond), ratio(c, nothing), c.middle())
	}
	if python.argv != nil {
		fmt.Printf("looprun --version takes %.3f of what python3 -c pass takes\n", ratio(version, python))
	}
	if err := b.commands(version); err != nil {
		return err
	}
	above := once.time() - alone.time()
	fmt.Printf("a run of one iteration takes %s more than its command: %.1f times what a Go program takes to start\n",
		above.Round(10*time.Microsecond), float64(above)/float64(nothing.time()))
	b.goal("--version, of a bare Go program", ratio(version, nothing), 2.5, "")
	b.within("a run of one iteration, beyond its command", above, 8*time.Millisecond)
	return nil
}

func ratio(a, b *candidate) float64 { return float64(a.time()) / float64(b.time()) }

// words are the arguments with which each command does next to nothing.
var words = []string{
	"--help", "run --help", "list", "list --help", "ask x", "signal progress", "say x", "pause", "stop", "take x", "reject", "answer yes", "show", "context", "explain",
	"stats", "doctor", "prune", "report", "resume", "completion bash", "__complete -- list --", "policy --help", "template list",
	"schema", "config show", "man", "version", "help", "many --help", "diff", "restore", "signature", "replay --help",
	"hook stop", "hook status", "serve --help", "fleet", "agents", "init --help",
}

// commands measures each command when it does next to nothing, compared with looprun
// --version: in a folder without runs, and outside of any run.
func (b *bench) commands(version *candidate) error {
	names, err := exec.Command(b.looprun, "__complete", "--", "").Output()
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(names)) {
		name, _, described := strings.Cut(line, "\t")
		if described && !slices.ContainsFunc(words, func(w string) bool { return strings.Fields(w)[0] == name }) {
			return fmt.Errorf("looprun %s is not measured", name)
		}
	}
	var all []*candidate
	for _, words := range words {
		all = append(all, &candidate{name: "looprun " + words, argv: append([]string{b.looprun}, strings.Fields(words)...), code: 125})
	}
	for range starts {
		if err := b.round(append(all, version)); err != nil {
			return err
		}
	}
	within, above := 0, []string{}
	for _, c := range all {
		if ratio(c, version) <= 2 {
			within++
		} else {
			above = append(above, fmt.Sprintf("%s %.1f", c.name, ratio(c, version)))
		}
		fmt.Printf("%-36s %10s %8.2f %8s\n", c.name, c.time().Round(10*time.Microsecond), ratio(c, version), c.middle())
	}
	fmt.Printf("(each beside looprun --version; most of them have nothing to do there, and say so)\n%d of %d within twice its time; above: %s\n",
		within, len(all), strings.Join(above, ", "))
	b.goal("commands that take over 2 of --version to start", float64(len(above)), 0, "")
	return nil
}
