package scratchpad

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/rounds"
)

// TestTornLastRecord cuts the journal at every byte of its last record.
func TestTornLastRecord(t *testing.T) {
	events := iterations(2)
	dir := written(t, events)
	text := readFile(t, journalOf(dir))
	start := strings.LastIndexByte(text[:len(text)-1], '\n') + 1
	for cut := start; cut < len(text); cut += rounds.Step(1) {
		writeFile(t, journalOf(dir), text[:cut])
		checkCut(t, dir, events[:len(events)-1], int64(start), int64(cut-start))
		r, s, tail, err := Open(dir, SyncOff)
		if err != nil || tail.Cut != int64(cut-start) || s.Seq != tail.Events {
			t.Fatalf("cut at %d: %+v, %v", cut, tail, err)
		}
		if info, err := os.Stat(journalOf(dir)); err != nil || info.Size() != int64(start) {
			t.Fatalf("cut at %d: %d bytes are left, %v", cut, info.Size(), err)
		}
		err = errors.Join(r.Journal.Append(events[len(events)-1]), r.Close())
		if err != nil || readFile(t, journalOf(dir)) != text {
			t.Fatalf("cut at %d: the journal did not go on: %v", cut, err)
		}
	}
}

func checkCut(t *testing.T, dir string, events []core.Event, offset, cut int64) {
	t.Helper()
	got, tail, err := collect(dir)
	want := Tail{Offset: offset, Events: int64(len(events)), Cut: cut}
	if err != nil || tail != want || len(got) != len(events) {
		t.Fatalf("%d events, %+v, %v; want %+v", len(got), tail, err, want)
	}
	for i, e := range events {
		if got[i] != asJSON(e) {
			t.Fatalf("event %d is %s", i+1, got[i])
		}
	}
}

// TestEndsThatAreDropped has what a kill or a power loss leaves at the end.
func TestEndsThatAreDropped(t *testing.T) {
	events := iterations(1)
	dir := written(t, events)
	text := readFile(t, journalOf(dir))
	line := string(encoded(t, dir, core.Event{Seq: int64(len(events) + 1), Time: day, Data: core.RunAlive{}})) + "\n"
	for name, c := range map[string]struct {
		end  string
		cut  int
		more int // whole records in it
	}{
		"nothing":                  {"", 0, 0},
		"padding":                  {"\n\n\n", 0, 0},
		"padding and half a one":   {"\n\n" + line[:20], 22, 0},
		"a whole one":              {line, 0, 1},
		"one NUL":                  {"\x00", 1, 0},
		"a page of NULs":           {strings.Repeat("\x00", 4096), 4096, 0},
		"more NULs than a buffer":  {strings.Repeat("\x00", 200_000), 200_000, 0},
		"half a record, then NULs": {line[:30] + strings.Repeat("\x00", 5000), 5030, 0},
		"garbage":                  {"\xff\xfe{]", 4, 0},
		"garbage with an end":      {"garbage\n", 8, 0},
		"a wrong sum":              {strings.Replace(line, "alive", "dying", 1), len(line), 0},
		"a wrong sum, padding":     {strings.Replace(line, "alive", "dying", 1) + "\n\n", len(line) + 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			writeFile(t, journalOf(dir), text+c.end)
			_, tail, err := collect(dir)
			want := Tail{Offset: int64(len(text)), Events: int64(len(events)), Cut: int64(c.cut)}
			if c.more > 0 {
				want.Offset, want.Events = want.Offset+int64(len(c.end)), want.Events+1
			}
			if err != nil || tail != want {
				t.Errorf("%+v, %v; want %+v", tail, err, want)
			}
		})
	}
}

// TestBrokenMiddle is refused with the line, and the events before it are told.
func TestBrokenMiddle(t *testing.T) {
	events := iterations(3)
	dir := written(t, events)
	lines := strings.SplitAfter(readFile(t, journalOf(dir)), "\n")
	newer := string(seal([]byte(`{"seq":4,"time":"2026-01-02T15:04:05Z","type":"moon.landed","elapsed_ms":1}`), ""))
	for name, c := range map[string]struct {
		line string // in place of the fourth
		want string
		is   error
	}{
		"garbage":        {"garbage\n", "check sum", ErrDamaged},
		"half a line":    {lines[3][:50] + "\n", "check sum", ErrDamaged},
		"NULs":           {strings.Repeat("\x00", 4096) + "\n", "check sum", ErrDamaged},
		"without a sum":  {`{"seq":4,"time":"2026-01-02T15:04:05Z","type":"run.alive","elapsed_ms":1}` + "\n", "check sum", ErrDamaged},
		"changed":        {strings.Replace(lines[3], "iteration", "Iteration", 1), "check sum", ErrDamaged},
		"missing":        {"", "event 5 follows 3", ErrDamaged},
		"twice":          {lines[2], "event 3 follows 3", ErrDamaged},
		"out of order":   {lines[4], "event 5 follows 3", ErrDamaged},
		"over-long":      {strings.Repeat("x", 300_000) + "\n", "no end", ErrDamaged},
		"no object":      {string(seal([]byte(`[1,2]`), "")), "invalid character", ErrDamaged},
		"a wrong field":  {string(seal([]byte(`{"seq":"4","type":"run.alive"}`), "")), "seq", ErrDamaged},
		"of a newer one": {newer, "moon.landed", core.ErrUnknownEvent},
		"not possible now": {
			string(encoded(t, dir, core.Event{Seq: 4, Time: day, Data: core.DebugFinished{}})) + "\n",
			"no answer is to be carried out", ErrDamaged,
		},
	} {
		t.Run(name, func(t *testing.T) {
			writeFile(t, journalOf(dir), strings.Join(lines[:3], "")+c.line+strings.Join(lines[4:], ""))
			s, tail, err := Load(dir)
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), journalOf(dir)+":4:") {
				t.Errorf("%v; want %q of line 4", err, c.want)
			}
			if s.Seq != 3 || tail.Events != 3 || tail.Offset != int64(len(lines[0]+lines[1]+lines[2])) {
				t.Errorf("event %d, %+v", s.Seq, tail)
			}
			_, _, _, err = Open(dir, SyncOff)
			if !errors.Is(err, c.is) {
				t.Errorf("Open: %v", err)
			}
			if Locked(dir) {
				t.Error("still locked after Open failed")
			}
			if c.is == core.ErrUnknownEvent && !strings.Contains(err.Error(), "newer looprun") {
				t.Errorf("no remedy: %v", err)
			}
		})
	}
}

// TestOpenLeavesADamagedJournalAlone: nothing is dropped without being asked.
func TestOpenLeavesADamagedJournalAlone(t *testing.T) {
	dir := written(t, iterations(2))
	lines := strings.SplitAfter(readFile(t, journalOf(dir)), "\n")
	text := lines[0] + "garbage\n" + strings.Join(lines[2:], "")
	writeFile(t, journalOf(dir), text)
	if _, _, _, err := Open(dir, SyncOff); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	if readFile(t, journalOf(dir)) != text {
		t.Error("the journal was changed")
	}
}

func TestNoEvents(t *testing.T) {
	for _, text := range []string{"", "\n\n", `{"seq":1,`} {
		dir := t.TempDir()
		writeFile(t, journalOf(dir), text)
		if _, _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "holds no events") {
			t.Errorf("%q: %v", text, err)
		}
		if tail, err := Replay(dir, nil); err != nil || tail.Cut != int64(len(strings.Trim(text, "\n"))) {
			t.Errorf("%q: %+v, %v", text, tail, err)
		}
	}
	if _, _, err := Load(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no journal: %v", err)
	}
}

// TestReplayStopsWhereItsReaderFails with the line of the event.
func TestReplayStopsWhereItsReaderFails(t *testing.T) {
	dir := written(t, iterations(3))
	stop := errors.New("stop")
	n := 0
	tail, err := Replay(dir, func(core.Event) error {
		if n++; n == 3 {
			return fmt.Errorf("here: %w", stop)
		}
		return nil
	})
	if !errors.Is(err, stop) || tail.Events != 2 || n != 3 {
		t.Errorf("%d events, %+v, %v", n, tail, err)
	}
}
