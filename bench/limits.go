package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

const (
	recordSize = 300 // bytes, about that of a journal's record
	records    = 200
	copySize   = 256 << 20
)

// limits compares with work that no tool of this kind can avoid: creating the process, writing
// a record to disk, moving the output through memory.
func (b *bench) limits() error {
	spawn, err := b.compile("spawn")
	if err != nil {
		return err
	}
	program, err := exec.LookPath("false")
	if err != nil {
		return err
	}
	count := strconv.Itoa(iterations)
	all := []*candidate{
		{name: "posix_spawn", argv: []string{spawn, count, program}},
		{name: "looprun", argv: b.loops(iterations, "--", program), code: limit},
		{name: "looprun --sync each", argv: b.loops(iterations, "--sync", "each", "--", program), code: limit},
		{name: "output", argv: shell(quote(b.looprun) + ` -q --no-pty --non-interactive -- "$BENCH" child log ` + strconv.Itoa(logSize) + " > /dev/null")},
	}
	var syncs, copies []time.Duration
	for range rounds {
		if err := b.round(all); err != nil {
			return err
		}
		took, err := syncRecords(filepath.Join(b.dir, "records"))
		if err != nil {
			return err
		}
		syncs, copies = append(syncs, took), append(copies, copyMemory())
	}
	each := func(c *candidate) time.Duration { return c.time() / iterations }
	process, record := each(all[0]).Round(time.Microsecond), median(syncs).Round(time.Microsecond)
	iteration := each(all[1]).Round(time.Microsecond)
	added := (each(all[2]) - each(all[1])).Round(time.Microsecond)
	moved, copied := float64(logSize)/all[3].time().Seconds()/1e6, float64(copySize)/median(copies).Seconds()/1e6
	fmt.Printf("\nthe limits\n%-52s %12s %12s %8s\n", "", "limit", "looprun", "ratio")
	fmt.Printf("%-52s %12s %12s %8.2f\n", "create a process and wait for it", process, iteration, float64(iteration)/float64(process))
	fmt.Printf("%-52s %12s %12s %8.2f\n", "append a record and sync it; what --sync each adds", record, added, float64(added)/float64(record))
	fmt.Printf("%-52s %7.0f MB/s %7.0f MB/s %8.2f\n", "copy memory; pass output on", copied, moved, moved/copied)
	return nil
}

// syncRecords returns the time to append and sync one record.
func syncRecords(name string) (time.Duration, error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer os.Remove(name)
	defer f.Close()
	record := slices.Repeat([]byte{'r'}, recordSize)
	began := time.Now()
	for range records {
		if _, err := f.Write(record); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
	}
	return time.Since(began) / records, nil
}

// copyMemory returns the time to copy copySize bytes, once they are in memory.
func copyMemory() time.Duration {
	from, to := slices.Repeat([]byte{'r'}, copySize), make([]byte, copySize)
	copy(to, from) // the pages are there from now on
	began := time.Now()
	copy(to, from)
	return time.Since(began)
}
