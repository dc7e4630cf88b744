// Package spent records what all runs of a user have cost in the last day, in a folder of that
// user: a file for each day (UTC), with a line for each report. Concurrent runs append to the
// same file.
//
// Anything unreadable is an error: a sum without it would be too small.
package spent

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Day is the period that Total covers.
const Day = 24 * time.Hour

const layout = "2006-01-02"

// Ledger records the cost of the user's runs in a folder, one file per day.
type Ledger struct{ dir string }

// Open opens the folder, and creates it if it does not exist.
func Open(dir string) (*Ledger, error) {
	if dir == "" {
		return nil, errors.New("there is no folder for it: neither HOME nor XDG_STATE_HOME is set")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &Ledger{dir}, nil
}

func (l *Ledger) file(day time.Time) string { return filepath.Join(l.dir, day.UTC().Format(layout)) }

// Add records what a run has just cost, in US dollars. The record is stored when Add returns.
func (l *Ledger) Add(now time.Time, run string, usd float64) (err error) {
	f, err := os.OpenFile(l.file(now), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Use a single write, so that lines of other runs come before or after it.
	_, err = fmt.Fprintf(f, "%s %s %s\n", now.UTC().Format(time.RFC3339Nano), strconv.FormatFloat(usd, 'f', -1, 64), run)
	return err
}

// Total returns what was spent in the last day, and deletes older records.
func (l *Ledger) Total(now time.Time) (usd float64, err error) {
	files, err := os.ReadDir(l.dir)
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		day, err := time.Parse(layout, f.Name())
		if err != nil {
			continue // nothing of this package's
		}
		if day.Before(now.UTC().Add(-2 * Day)) {
			_ = os.Remove(filepath.Join(l.dir, f.Name())) // it counts no more
			continue
		}
		sum, err := read(filepath.Join(l.dir, f.Name()), now.Add(-Day))
		if err != nil {
			return 0, err
		}
		usd += sum
	}
	return usd, nil
}

// read returns the sum of a file's records since then. A missing file has none.
func read(name string, since time.Time) (sum float64, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		at, usd, ok := parse(lines.Text())
		if !ok {
			return 0, fmt.Errorf("%s:%d is not a line of a time, an amount and a run", name, n)
		}
		if at.After(since) {
			sum += usd
		}
	}
	return sum, lines.Err()
}

func parse(line string) (at time.Time, usd float64, ok bool) {
	words := strings.Fields(line)
	if len(words) != 3 {
		return at, 0, false
	}
	at, err1 := time.Parse(time.RFC3339Nano, words[0])
	usd, err2 := strconv.ParseFloat(words[1], 64)
	return at, usd, err1 == nil && err2 == nil && usd >= 0
}
