package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const iterations = 1000

// byHand is what people write instead: capture, hash, compare, append a line.
const byHand = `last=; i=0
while [ $i -lt N ]; do
  i=$((i + 1))
  out=$(COMMAND 2>&1); code=$?
  hash=$(printf '%s' "$out" MASKS| cksum)
  [ "$hash" = "$last" ] && same=$((same + 1)) || same=0
  last=$hash
  printf '{"iteration":%d,"code":%d,"hash":"%s","same":%d}\n' "$i" "$code" "$hash" "$same" >> journal
done`

const masks = `| sed -E -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?/TIME/g' -e 's/0x[0-9a-f]+/ADDR/g' -e 's/[0-9.]+ ?m?s\b/DURATION/g' `

// limit is the exit code of a run that max_iterations ended.
const limit = 110

// loops returns the arguments of a run of n iterations that nothing else ends.
func (b *bench) loops(n int, more ...string) []string {
	count := strconv.Itoa(n)
	argv := []string{
		b.looprun, "-q", "--non-interactive", "--loop-threshold", "off", "--max-errors", "off", "--error-codes", "none",
		"--max-iterations", count, "--cap-iterations", count, "--keep-runs", "off", // it removes none of those at rest
	}
	return append(argv, more...)
}

// iteration compares with the least that a loop can do. The command fails, since success would
// end the loop: apart from its exit code it is /bin/true.
func (b *bench) iteration() error {
	spawn, err := b.compile("spawn")
	if err != nil {
		return err
	}
	tiny, err := b.compile("tiny", "-static")
	if err != nil {
		return err
	}
	program, err := exec.LookPath("false")
	if err != nil {
		return err
	}
	n := strconv.Itoa(iterations)
	script := func(masks string) []string {
		return []string{"bash", "-c", strings.NewReplacer("N", n, "COMMAND", program, "MASKS", masks).Replace(byHand)}
	}
	for _, program := range []string{program, tiny} {
		floor := &candidate{name: "posix_spawn and waitpid, in C", argv: []string{spawn, n, program}}
		all := []*candidate{
			floor,
			{name: "the same again", argv: floor.argv},
			{name: "looprun", argv: b.loops(iterations, "--", program), code: limit},
			{name: "looprun --sync each", argv: b.loops(iterations, "--sync", "each", "--", program), code: limit},
		}
		what := "a tiny static program"
		if program != tiny {
			what = program
			all = append(all,
				&candidate{name: "bash by hand", argv: script("")},
				&candidate{name: "bash by hand, with sed masks", argv: script(masks)})
		}
		if err := b.measure(all); err != nil {
			return err
		}
		fmt.Printf("\nper iteration (%d of %s)\n%-34s %10s %8s %8s %10s %10s\n", iterations, what, "", "time", "ratio", "spread", "processor", "peak")
		for _, c := range all {
			fmt.Printf("%-34s %10s %8.2f %8s %10s %10s\n", c.name, (c.time() / iterations).Round(time.Microsecond),
				float64(c.time())/float64(floor.time()), c.spread(), (c.processor() / iterations).Round(time.Microsecond), mib(c.rss()))
		}
		if program != tiny {
			b.goal("an iteration, of posix_spawn and waitpid", ratio(all[2], floor), 1.40, "")
			b.goal("the same with a sync at each", ratio(all[3], floor), 1.80, "")
			b.goal("looprun, of bash by hand", ratio(all[2], all[4]), 1/4.2, "")
		}
	}
	return nil
}
