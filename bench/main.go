// Command bench measures what looprun costs, as ratios within one run: the
// machines it runs on are noisy, so only things measured side by side, in
// interleaved rounds, are compared. Times are never asserted anywhere.
//
//	go run ./bench LOOPRUN
//	go run ./bench replay LOOPRUN
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	rounds     = 5
	iterations = 2000
	logSize    = 1 << 30
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 2 && args[0] == "spawn":
		return spawn(args[1])
	case len(args) == 2 && args[0] == "log":
		return writeLog(os.Stdout, args[1])
	case len(args) == 2 && args[0] == "replay":
		return replays(args[1])
	case len(args) != 1:
		return fmt.Errorf("usage: bench [replay] LOOPRUN")
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
	b := &bench{looprun: args[0], self: self, dir: dir}
	fmt.Printf("%s/%s, %d CPUs, %s; medians of %d interleaved rounds\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), rounds)
	if err := b.perIteration(); err != nil {
		return err
	}
	return b.output()
}

type bench struct{ looprun, self, dir string }

// sample is what one round of one candidate took.
type sample struct {
	took      time.Duration
	processor time.Duration // user and system
	maxRSS    int64         // bytes
}

type candidate struct {
	name string
	argv []string
	runs []sample
}

// measure runs all candidates in turn, round after round.
func (b *bench) measure(cs []*candidate, codes ...int) error {
	for range rounds {
		for _, c := range cs {
			s, err := b.once(c.argv, codes)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.runs = append(c.runs, s)
		}
	}
	return nil
}

func (b *bench) once(argv []string, codes []int) (sample, error) {
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return sample{}, err
	}
	defer os.RemoveAll(state)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = state
	cmd.Env = append(os.Environ(), "LOOPRUN_STATE_DIR="+filepath.Join(state, "runs"), "CI=")
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if code := cmd.ProcessState.ExitCode(); err != nil && !slices.Contains(codes, code) {
		return sample{}, fmt.Errorf("exit code %d: %s", code, tail(string(out)))
	}
	return sample{took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak(cmd.ProcessState)}, nil
}

func tail(s string) string { return s[max(0, len(s)-500):] }

func median[T int64 | time.Duration](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

func (c *candidate) time() time.Duration {
	var all []time.Duration
	for _, s := range c.runs {
		all = append(all, s.took)
	}
	return median(all)
}

func (c *candidate) processor() time.Duration {
	var all []time.Duration
	for _, s := range c.runs {
		all = append(all, s.processor)
	}
	return median(all)
}

func (c *candidate) spread() string {
	var all []time.Duration
	for _, s := range c.runs {
		all = append(all, s.took)
	}
	return fmt.Sprintf("%.0f %%", 100*float64(slices.Max(all)-slices.Min(all))/float64(median(all)))
}

func (c *candidate) rss() int64 {
	var all []int64
	for _, s := range c.runs {
		all = append(all, s.maxRSS)
	}
	return median(all)
}

// byHand is what people write instead: capture, hash, compare, append a line.
const byHand = `last=; i=0
while [ $i -lt N ]; do
  i=$((i + 1))
  out=$(false 2>&1); code=$?
  hash=$(printf '%s' "$out" MASKS| cksum)
  [ "$hash" = "$last" ] && same=$((same + 1)) || same=0
  last=$hash
  printf '{"iteration":%d,"code":%d,"hash":"%s","same":%d}\n' "$i" "$code" "$hash" "$same" >> journal
done`

const masks = `| sed -E -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?/TIME/g' -e 's/0x[0-9a-f]+/ADDR/g' -e 's/[0-9.]+ ?m?s\b/DURATION/g' `

func (b *bench) perIteration() error {
	n := strconv.Itoa(iterations)
	script := func(masks string) string {
		return strings.NewReplacer("N", n, "MASKS", masks).Replace(byHand)
	}
	flags := []string{"-q", "--loop-threshold", "off", "--max-iterations", n, "--cap-iterations", n, "--max-errors", "off", "--error-codes", "none", "--non-interactive"}
	looprun := func(more ...string) []string {
		return append(append(append([]string{b.looprun}, flags...), more...), "--", "false")
	}
	floor := &candidate{name: "fork, exec and wait, nothing else", argv: []string{b.self, "spawn", n}}
	all := []*candidate{
		floor,
		{name: "looprun", argv: looprun()},
		{name: "looprun --sync each", argv: looprun("--sync", "each")},
		{name: "bash by hand", argv: []string{"bash", "-c", script("")}},
		{name: "bash by hand, with sed masks", argv: []string{"bash", "-c", script(masks)}},
	}
	if err := b.measure(all, 110); err != nil {
		return err
	}
	fmt.Printf("\nper iteration (%d iterations of false)\n%-36s %10s %8s %8s %10s\n", iterations, "", "time", "ratio", "spread", "peak")
	for _, c := range all {
		fmt.Printf("%-36s %10s %8.2f %8s %10s\n", c.name, (c.time() / iterations).Round(time.Microsecond),
			float64(c.time())/float64(floor.time()), c.spread(), mib(c.rss()))
	}
	return nil
}

func (b *bench) output() error {
	size := strconv.Itoa(logSize)
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	writer := quote(b.self) + " log " + size
	looprun := quote(b.looprun) + " -q --no-pty --non-interactive -- " + writer + " > /dev/null"
	cat := &candidate{name: "cat", argv: []string{"bash", "-c", writer + " | cat > /dev/null"}}
	all := []*candidate{
		cat,
		{name: "looprun", argv: []string{"bash", "-c", looprun}},
		{name: "tee FILE", argv: []string{"bash", "-c", writer + " | tee log > /dev/null"}},
	}
	rest := &candidate{name: "at rest", argv: []string{b.looprun, "-q", "--", "true"}}
	if err := b.measure(append(all, rest)); err != nil {
		return err
	}
	fmt.Printf("\n1 GiB of test log, to /dev/null\n%-36s %10s %8s %8s %10s\n", "", "speed", "of cat", "spread", "peak")
	for _, c := range all {
		gb := float64(logSize) / 1e9 / c.time().Seconds()
		fmt.Printf("%-36s %7.2f GB/s %5.2f %8s %10s\n", c.name, gb, float64(cat.time())/float64(c.time()), c.spread(), mib(c.rss()))
	}
	fmt.Printf("%-36s %13s %14s %10s\n", "looprun with a silent command", "", "", mib(rest.rss()))
	return nil
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
