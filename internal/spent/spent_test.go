package spent

import (
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T) *Ledger {
	t.Helper()
	l, err := Open(filepath.Join(t.TempDir(), "spent"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func total(t *testing.T, l *Ledger, now time.Time) float64 {
	t.Helper()
	usd, err := l.Total(now)
	if err != nil {
		t.Fatal(err)
	}
	return math.Round(usd*1e6) / 1e6
}

func TestADay(t *testing.T) {
	l := open(t)
	if got := total(t, l, noon); got != 0 {
		t.Errorf("nothing was spent, and it is %g", got)
	}
	for _, at := range []time.Duration{-3 * Day, -Day - time.Minute, -Day + time.Minute, -time.Hour, 0} {
		if err := l.Add(noon.Add(at), "run", 0.25); err != nil {
			t.Fatal(err)
		}
	}
	if got := total(t, l, noon); got != 0.75 {
		t.Errorf("%g, want what was spent within a day", got)
	}
	if got := total(t, l, noon.Add(Day-time.Minute)); got != 0.25 {
		t.Errorf("%g a day later", got)
	}
	if files, _ := os.ReadDir(l.dir); len(files) != 1 {
		t.Errorf("%d files are kept", len(files))
	}
}

// What cannot be read is no zero.
func TestWhatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{
		"torn": "2026-03-01T11:00:00Z 0.2", "no number": "2026-03-01T11:00:00Z x run\n", "negative": "2026-03-01T11:00:00Z -5 run\n",
		"nan": "2026-03-01T11:00:00Z NaN run\n", "no time": "yesterday 1 run\n", "empty line": "\n",
	} {
		l := open(t)
		if err := os.WriteFile(l.file(noon), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if usd, err := l.Total(noon); err == nil {
			t.Errorf("%s is %g", name, usd)
		}
	}
	l := open(t)
	if err := os.Mkdir(l.file(noon), 0o700); err != nil {
		t.Fatal(err)
	}
	if usd, err := l.Total(noon); err == nil {
		t.Errorf("a folder is %g", usd)
	}
	if l.Add(noon, "run", 1) == nil {
		t.Error("a folder takes what was spent")
	}
	if _, err := Open(""); err == nil {
		t.Error("no folder is one")
	}
	if usd, err := (&Ledger{filepath.Join(t.TempDir(), "gone")}).Total(noon); err == nil {
		t.Errorf("a folder that is gone is %g", usd)
	}
}

// What is nothing of this package's stays and does not count; a file that another run has just
// removed has nothing in it.
func TestWhatDoesNotCount(t *testing.T) {
	l := open(t)
	mine := filepath.Join(l.dir, "notes")
	if err := os.WriteFile(mine, []byte("2026-03-01T11:00:00Z 5 run\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("gone", l.file(noon)); err != nil {
		t.Skip(err)
	}
	if got := total(t, l, noon); got != 0 {
		t.Errorf("it is %g", got)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

func TestRunsAtTheSameTime(t *testing.T) {
	l := open(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 50 {
				if err := l.Add(noon, "run", 0.01); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := total(t, l, noon); got != 10 {
		t.Errorf("%g, want 10", got)
	}
}
