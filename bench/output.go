package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

const (
	logSize   = 1 << 30
	slowSize  = 32 << 20 // for what takes a thousand times as long
	lineCount = 400_000
)

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// shell returns a shell line as a command. $BENCH is this program.
func shell(line string) []string { return []string{"bash", "-c", line} }

// secret is in looprun's environment, so that it has something to redact.
const secret = "SAMPLE_TOKEN=mZ4vQ8sT1xK6wB3nR7"

// placement is which processors the writer and the reader of the log run on.
type placement struct {
	name           string
	writer, reader string // commands that are put in front
	needs          int    // so many processors
}

var placements = []placement{
	{name: "placed by the scheduler"},
	{"the writer on processor 0, all others on 1", "taskset -c 0 ", "taskset -c 1 ", 2},
	{"all on processor 0", "", "taskset -c 0 ", 1},
}

// output compares programs that pass a log on.
func (b *bench) output() error {
	through := secret + " " + quote(b.looprun) + " -q --no-pty --non-interactive -- "
	for _, at := range placements {
		log := func(size int) string { return at.writer + `"$BENCH" child log ` + strconv.Itoa(size) }
		for _, sink := range []string{" > /dev/null", " | cat > /dev/null"} {
			line := func(text string) []string { return shell(at.reader + "bash -c " + quote(text+sink)) }
			cat := &candidate{name: "cat", argv: line(log(logSize) + " | cat")}
			all := []*candidate{
				cat,
				{name: "looprun", argv: line(through + log(logSize))},
				{name: "tee FILE", argv: line(log(logSize) + " | tee log")},
				{name: "tee >(xxhsum)", argv: line(log(logSize) + " | tee >(xxhsum > sum)")},
				{name: "script", argv: line("script -qec " + quote(log(slowSize)) + " /dev/null"), size: slowSize},
				{name: "ts", argv: line(log(slowSize) + " | ts"), size: slowSize},
			}
			all[3].needs("xxhsum")
			all[4].needs("script")
			all[5].needs("ts")
			if at.needs > 0 && cat.needs("taskset").lacks || runtime.NumCPU() < at.needs {
				fmt.Printf("\n%s: this needs taskset and %d processors\n", at.name, at.needs)
				break
			}
			if err := b.measure(all); err != nil {
				return err
			}
			fmt.Printf("\nlog to%s, %s\n%-34s %12s %8s %8s %10s\n", strings.TrimPrefix(sink, " >"), at.name, "", "MB/s", "of cat", "spread", "peak")
			for _, c := range all {
				c.print(cat, logSize)
			}
		}
	}
	return nil
}

// print prints the candidate's row, comparing its speed with another's.
func (c *candidate) print(beside *candidate, size int) {
	if c.lacks {
		fmt.Printf("%-34s %12s\n", c.name, "not on this machine")
		return
	}
	speed := func(c *candidate) float64 {
		n := size
		if c.size > 0 {
			n = c.size
		}
		return float64(n) / 1e6 / c.time().Seconds()
	}
	fmt.Printf("%-34s %12.1f %8.3f %8s %10s\n", c.name, speed(c), speed(c)/speed(beside), c.spread(), mib(c.rss()))
}

// memory measures the memory of a run, however much is written and however long a line is.
func (b *bench) memory() error {
	argv := func(line string) []string {
		return []string{"env", secret, b.looprun, "-q", "--no-pty", "--non-interactive", "--", "sh", "-c", line}
	}
	all := []*candidate{
		{name: "nothing", argv: argv("true")},
		{name: "64 MiB of log", argv: argv(`"$BENCH" child log ` + strconv.Itoa(64<<20))},
		{name: "1 GiB of log", argv: argv(`"$BENCH" child log ` + strconv.Itoa(logSize))},
		{name: "256 MiB without a line break", argv: argv(`head -c 268435456 /dev/zero | tr '\0' x`)},
	}
	if err := b.measure(all); err != nil {
		return err
	}
	fmt.Printf("\npeak memory of looprun while the command prints\n")
	for _, c := range all {
		fmt.Printf("%-34s %10s %+10.1f MiB\n", c.name, mib(c.rss()), float64(c.rss()-all[0].rss())/(1<<20))
	}
	return nil
}

// lines compares how fast, and whether completely, the output of a program that writes each
// line separately reaches its reader, through pipes and on a terminal.
func (b *bench) lines() error {
	program := `"$BENCH" child lines ` + strconv.Itoa(lineCount)
	size := lineCount * len(testLine(0))
	looprun := "NO_COLOR=1 " + secret + " " + quote(b.looprun) + " -q --non-interactive -- "
	onTerminal := func(line string) []string { return shell("script -qec " + quote(line) + " /dev/null > /dev/null") }
	cat := &candidate{name: "cat", argv: shell(program + " | cat > /dev/null")}
	script := (&candidate{name: "script", argv: onTerminal(program)}).needs("script")
	all := []*candidate{
		cat,
		{name: "looprun", argv: shell(looprun + program + " > /dev/null")},
		script,
		(&candidate{name: "script, looprun within", argv: onTerminal(looprun + program)}).needs("script"),
		(&candidate{name: "script, script within", argv: onTerminal("script -qec " + quote(program) + " /dev/null")}).needs("script"),
	}
	if err := b.measure(all); err != nil {
		return err
	}
	fmt.Printf("\n%d lines, each written by itself; the last three on a terminal\n%-34s %12s %8s %8s %10s\n", lineCount, "", "MB/s", "of cat", "spread", "peak")
	for _, c := range all {
		c.print(cat, size)
	}
	return b.unchanged(program, looprun)
}

// unchanged compares the bytes of the output.
func (b *bench) unchanged(program, looprun string) error {
	ways := []struct{ name, line string }{
		{"pipe", looprun + program},
		{"terminal", "script -qec " + quote(looprun+program) + " /dev/null"},
	}
	for _, way := range ways {
		direct := program
		if way.name == "terminal" {
			direct = "script -qec " + quote(program) + " /dev/null"
		}
		var sums []string
		for _, line := range []string{direct, way.line} {
			// On a terminal looprun's own messages are among the output.
			cmd, clean, err := b.command(shell(line + ` | grep -av '^looprun: ' | "$BENCH" child sum -`))
			if err != nil {
				return err
			}
			out, err := cmd.Output()
			clean()
			if err != nil {
				return err
			}
			sums = append(sums, strings.TrimSpace(string(out)))
		}
		if sums[0] != sums[1] {
			return fmt.Errorf("on the %s looprun passes on %s, and without it it is %s", way.name, sums[1], sums[0])
		}
		fmt.Printf("%s: byte for byte the same (%s)\n", way.name, sums[0])
	}
	return nil
}

// sum prints the length and a hash of standard input.
func sum(string) error {
	h := xxhash.New()
	n, err := io.Copy(h, os.Stdin)
	fmt.Println(n, hex.EncodeToString(h.Sum(nil)))
	return err
}

func testLine(i int) string {
	return fmt.Sprintf("=== RUN   TestItems/case_%06d ok in 0.%02ds, worker-%02d, request id=%08x\n", i%1_000_000, i%100, i%16, uint32(i)*2654435761)
}

// writeLines writes each line with a separate system call.
func writeLines(w io.Writer, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for i := range n {
		if _, err := io.WriteString(w, testLine(i)); err != nil {
			return err
		}
	}
	return nil
}

// writeLog writes a test log of that many bytes, with realistic noise.
func writeLog(w io.Writer, size string) error {
	n, err := strconv.Atoi(size)
	if err != nil {
		return err
	}
	var block []byte
	for i := 0; len(block) < 1<<20; i++ {
		block = fmt.Appendf(block, "2026-03-%02dT%02d:%02d:%02d.%03dZ INFO worker-%d request id=%08x-1c2b-4d3e-8f90-%012x took %d.%dms status=200 path=/api/v1/items/%d\n",
			i%28+1, i%24, i%60, i*7%60, i%1000, i%16, uint32(i)*2654435761, i*40503, i%900, i%10, i%50)
		if i%9 == 0 {
			block = fmt.Appendf(block, "=== RUN   TestItems/case_%d\n--- PASS: TestItems/case_%d (0.%02ds)\n", i, i, i%100)
		}
	}
	out := bufio.NewWriterSize(w, 64<<10)
	for n > 0 {
		m, err := out.Write(block[:min(n, len(block))])
		if err != nil {
			return err
		}
		n -= m
	}
	return out.Flush()
}
