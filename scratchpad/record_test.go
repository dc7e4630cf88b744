package scratchpad

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// noise is text that JSON writes as n bytes.
func noise(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz 0123456789"[rng.IntN(37)]
	}
	return string(b)
}

// TestNoRecordCrossesAPage appends thousands of records of every size and looks
// at where they lie.
func TestNoRecordCrossesAPage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := newRun(t, SyncOff)
	events := numbered(started())
	for n := 1; n <= 3000; n++ {
		d := failing(n)
		d.Excerpt = noise(rng, rng.IntN(3200)) // with the rest up to a page, and past it
		events = append(events, core.Event{Seq: int64(n + 1), Time: day, Data: d})
	}
	for _, e := range events {
		if err := r.Journal.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	text := readFile(t, journalOf(r.Dir))
	offset, records, padded := 0, 0, 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		switch first, last := offset/pageSize, (offset+len(line)-1)/pageSize; {
		case line == "\n":
			padded++
		case line != "":
			records++
			if first != last {
				t.Fatalf("record %d lies at %d to %d", records, offset, offset+len(line))
			}
		}
		offset += len(line)
	}
	if records != len(events) || padded == 0 {
		t.Errorf("%d records and %d bytes of padding, want %d records", records, padded, len(events))
	}
	checkReplay(t, r.Dir, events)
}

func checkReplay(t *testing.T, dir string, events []core.Event) {
	t.Helper()
	got, tail, err := collect(dir)
	if err != nil || tail.Cut != 0 || len(got) != len(events) {
		t.Fatalf("%d of %d events, %+v, %v", len(got), len(events), tail, err)
	}
	for i, e := range events {
		if got[i] != asJSON(e) {
			t.Fatalf("event %d came back as %s, want %s", e.Seq, got[i], asJSON(e))
		}
	}
}

// TestSizesAroundThePage has records that just fit into a page and that do not.
func TestSizesAroundThePage(t *testing.T) {
	base := core.Event{Seq: 1, Time: day, Data: core.RunStarted{RunID: "x", Command: []string{"x"}}}
	room := recordSize - len(must(base.MarshalJSON()))
	for n := room - 2; n <= room+2; n++ {
		dir := t.TempDir()
		e := core.Event{Seq: 1, Time: day, Data: core.RunStarted{RunID: "x" + strings.Repeat("y", n), Command: []string{"x"}}}
		line := encoded(t, dir, e)
		_, err := os.Stat(detailName(dir, 1))
		if moved := err == nil; moved != (n > room) {
			t.Errorf("%d bytes of %d: moved to the detail file: %v", n, room, moved)
		}
		if n <= room && len(line) != pageSize-markSize-1-room+n {
			t.Errorf("%d bytes of %d: a line of %d bytes", n, room, len(line))
		}
		if back, err := decode(dir, line); err != nil || asJSON(back) != asJSON(e) {
			t.Errorf("%d bytes of %d: %v, %v", n, room, back, err)
		}
	}
}

// TestDetailFile moves the largest fields out, no more than needed.
func TestDetailFile(t *testing.T) {
	big := strings.Repeat("x", 300<<10)
	for _, c := range []struct {
		name  string
		data  core.Data
		moved string
	}{
		{"one field", core.QuestionClosed{QuestionID: "q1", Reason: big}, `"detail":["reason"]`},
		{"the larger of two", core.DebugFinished{Action: core.ActionDebug, Findings: big}, `"detail":["findings"]`},
		{"several fields", core.RunStarted{RunID: "x", Name: big, Command: []string{big, big}, Check: []string{big}}, `"detail":["command","check","name"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			e := core.Event{Seq: 7, Time: day, Data: c.data}
			line := encoded(t, dir, e)
			if !strings.Contains(string(line), c.moved) {
				t.Errorf("a line of %d bytes: %.300s", len(line), line)
			}
			back, err := decode(dir, line)
			if err != nil {
				t.Fatal(err)
			}
			if asJSON(back) != asJSON(e) {
				t.Error("it came back changed")
			}
		})
	}
}

func TestDetailFileMissingOrChanged(t *testing.T) {
	big := failing(1)
	big.Excerpt = strings.Repeat("x", 5000)
	events := numbered(started(), core.IterationStarted{Iteration: 1}, big, core.IterationStarted{Iteration: 2})
	for name, c := range map[string]struct {
		spoil func(string) error
		want  string
	}{
		"missing": {os.Remove, "detail file is missing"},
		"changed": {func(n string) error { return os.WriteFile(n, []byte(`{"excerpt":"all is well"}`), 0o600) }, "was changed"},
		"emptied": {func(n string) error { return os.Truncate(n, 0) }, "was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := written(t, events)
			if err := c.spoil(detailName(dir, 3)); err != nil {
				t.Fatal(err)
			}
			_, tail, err := Load(dir)
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), journalOf(dir)+":3:") || !strings.Contains(err.Error(), filepath.Join("detail", "3.json")) {
				t.Errorf("%v", err)
			}
			if tail.Events != 2 {
				t.Errorf("%d events before it, want 2", tail.Events)
			}
		})
	}
}

// TestSumIsOfTheWholeLine changes every byte of a record, one at a time.
func TestSumIsOfTheWholeLine(t *testing.T) {
	dir := t.TempDir()
	line := encoded(t, dir, core.Event{Seq: 1, Time: day, Data: core.RunPaused{Reason: "now"}})
	for i := range line {
		for _, flip := range []byte{0x01, 0x20, 0x80} {
			b := []byte(string(line))
			b[i] ^= flip
			if e, err := decode(dir, b); err == nil {
				t.Fatalf("byte %d changed by %#x was read as %s", i, flip, fmt.Sprint(e))
			}
		}
	}
}

// TestMarkIsJSON: a record whose mark is not JSON is not read.
func TestMarkIsJSON(t *testing.T) {
	object, _, err := encode(core.Event{Seq: 1, Time: day, Data: failing(1)})
	if err != nil {
		t.Fatal(err)
	}
	mark := marker{key: []byte("key")}.next(digestOf(object, nil)).mark()
	line := func(mark string) []byte {
		return []byte(strings.TrimSuffix(string(seal(slices.Clone(object), mark)), "\n"))
	}
	if _, err := decode("", line(mark)); err != nil {
		t.Error(err)
	}
	if _, err := decode("", line(mark[:len(mark)-3]+`"-"`)); err == nil {
		t.Error("a mark that is no JSON was read")
	}
}
