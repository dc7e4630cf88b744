package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// bench is the environment of the measurements.
type bench struct {
	looprun, self, dir string
	goals              []goal
}

// sample is what one round of one candidate took.
type sample struct {
	took      time.Duration
	processor time.Duration // user and system
	maxRSS    int64         // bytes
}

// candidate is one of the commands being compared.
type candidate struct {
	name  string
	argv  []string
	code  int  // what it exits with
	size  int  // of what it writes, where it differs from the others'
	lacks bool // a program it needs is not on this machine
	runs  []sample
}

// needs excludes the candidate if the machine lacks a program.
func (c *candidate) needs(programs ...string) *candidate {
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			c.lacks = true
		}
	}
	return c
}

// measure runs all candidates in turn, round after round.
func (b *bench) measure(cs []*candidate) error {
	for range rounds {
		if err := b.round(cs); err != nil {
			return err
		}
	}
	return nil
}

// round runs each candidate once.
func (b *bench) round(cs []*candidate) error {
	for _, c := range cs {
		if c.lacks {
			continue
		}
		s, err := b.once(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		c.runs = append(c.runs, s)
	}
	return nil
}

// command returns the candidate's command, in a folder of its own that also has the state
// directories.
func (b *bench) command(argv []string) (*exec.Cmd, func(), error) {
	dir, err := os.MkdirTemp(b.dir, "round-")
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LOOPRUN_STATE_DIR="+filepath.Join(dir, "runs"), "CI=", "BENCH="+b.self)
	return cmd, func() { _ = os.RemoveAll(dir) }, nil
}

func (b *bench) once(c *candidate) (sample, error) {
	cmd, clean, err := b.command(c.argv)
	if err != nil {
		return sample{}, err
	}
	defer clean()
	said, err := os.CreateTemp(b.dir, "stderr-")
	if err != nil {
		return sample{}, err
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd.Stderr = said // no pipe: nothing of this program's takes part
	began := time.Now()
	err = cmd.Run()
	took := time.Since(began)
	if code := cmd.ProcessState.ExitCode(); err != nil && code != c.code {
		_, _ = said.Seek(0, io.SeekStart)
		text, _ := io.ReadAll(said)
		return sample{}, fmt.Errorf("%w: %s", err, text[max(0, len(text)-500):])
	}
	return sample{took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak(cmd.ProcessState)}, nil
}

// of returns the median of the samples' values.
func of[T int64 | time.Duration](c *candidate, get func(sample) T) T {
	var all []T
	for _, s := range c.runs {
		all = append(all, get(s))
	}
	return median(all)
}

func median[T int64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (c *candidate) time() time.Duration {
	return of(c, func(s sample) time.Duration { return s.took })
}

func (c *candidate) processor() time.Duration {
	return of(c, func(s sample) time.Duration { return s.processor })
}

func (c *candidate) rss() int64 { return of(c, func(s sample) int64 { return s.maxRSS }) }

// spread returns the range from the fastest to the slowest round.
func (c *candidate) spread() string {
	var all []time.Duration
	for _, s := range c.runs {
		all = append(all, s.took)
	}
	return fmt.Sprintf("%.0f %%", 100*float64(slices.Max(all)-slices.Min(all))/float64(median(all)))
}

// middle returns the range of the middle half, for many short runs: one that the system
// delayed means nothing.
func (c *candidate) middle() string {
	var all []time.Duration
	for _, s := range c.runs {
		all = append(all, s.took)
	}
	slices.Sort(all)
	n := len(all)
	return fmt.Sprintf("%.0f %%", 100*float64(all[n*3/4]-all[n/4])/float64(all[n/2]))
}

// compile builds a C program in this folder.
func (b *bench) compile(name string, flags ...string) (string, error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", errors.New("the floor is written in C, and there is no C compiler (cc) on the PATH")
	}
	out := filepath.Join(b.dir, name)
	args := append([]string{"-O2", "-o", out}, flags...)
	if text, err := exec.Command(cc, append(args, filepath.Join("bench", "c", name+".c"))...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("cc %s.c: %w: %s", name, err, text)
	}
	return out, nil
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
