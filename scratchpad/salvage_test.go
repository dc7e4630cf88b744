package scratchpad

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/rounds"
)

// damagedRun is a closed run with details and padding, and its journal's lines.
func damagedRun(t testing.TB) (dir string, events []core.Event, lines []string) {
	t.Helper()
	events = iterations(16)
	for i, e := range events {
		if d, ok := e.Data.(core.IterationFinished); ok && (d.Iteration == 2 || d.Iteration == 5) {
			d.Excerpt = strings.Repeat("a long line of output\n", 400)
			events[i].Data = d
		}
	}
	dir = written(t, events)
	return dir, events, strings.SplitAfter(readFile(t, journalOf(dir)), "\n")
}

// record n of the lines, from 1: empty lines are padding.
func at(lines []string, n int) int {
	for i, line := range lines {
		if line != "\n" && line != "" {
			if n--; n == 0 {
				return i
			}
		}
	}
	return -1
}

func with(lines []string, i int, text ...string) string {
	return strings.Join(lines[:i], "") + strings.Join(text, "") + strings.Join(lines[i+1:], "")
}

// TestSalvage has each kind of damage, how many events are kept, and how many are
// intact but lost; -1: not said here.
func TestSalvage(t *testing.T) {
	dir, events, lines := damagedRun(t)
	others := iterations(9)
	for i := range others {
		others[i].Time = others[i].Time.Add(1)
	}
	other := written(t, others)
	foreign := strings.SplitAfter(readFile(t, journalOf(other)), "\n")
	l := func(n int) string { return lines[at(lines, n)] }
	all := len(events)
	whole := strings.Join(lines, "")
	for name, c := range map[string]struct {
		text       string
		kept, lost int
	}{
		"a flipped byte in the first":   {with(lines, at(lines, 1), flip(l(1), 20)), 0, all - 1},
		"a flipped byte in the middle":  {with(lines, at(lines, 6), flip(l(6), 40)), 5, all - 6},
		"a flipped byte in a sum":       {with(lines, at(lines, 6), flip(l(6), len(l(6))-8)), 5, all - 6},
		"a flipped byte in the number":  {with(lines, at(lines, 6), flip(l(6), 7)), 5, all - 6},
		"a flipped line break":          {with(lines, at(lines, 6), flip(l(6), len(l(6))-1)), 5, all - 7},
		"a flipped byte in the padding": {strings.Replace(whole, "\n\n\n", "\nx\n", 1), all, 0},
		"a cut line":                    {with(lines, at(lines, 6), l(6)[:30], "\n"), 5, all - 6},
		"cut in the middle":             {strings.Join(lines[:at(lines, 8)], "") + l(8)[:30], 7, 0},
		"a zeroed page":                 {whole[:4096] + strings.Repeat("\x00", 4096) + whole[8192:], -1, -1},
		"a zeroed line":                 {with(lines, at(lines, 4), strings.Repeat("\x00", len(l(4)))), 3, all - 5},
		"swapped lines":                 {swap(lines, at(lines, 4), at(lines, 7)), all, 0},
		"the first at the end":          {with(lines, at(lines, 1)) + l(1), all, 0},
		"a duplicated line":             {with(lines, at(lines, 4), l(4), l(4)), all, 0},
		"a line twice, far away":        {whole + l(2), all, 0},
		"a missing line":                {with(lines, at(lines, 4)), 3, all - 4},
		"a foreign line":                {with(lines, at(lines, 4), l(4), "what is this?\n"), all, 0},
		"a foreign line without an end": {with(lines, at(lines, 4), l(4), "what is this? "), 4, all - 5},
		"a foreign huge line":           {with(lines, at(lines, 4), l(4), strings.Repeat("x", 200_000), "\n"), all, 0},
		"a record without a meaning":    {with(lines, at(lines, 4), l(4), string(seal([]byte(`{"seq":"5"}`), ""))), all, 0},
		"another journal behind":        {whole + strings.Join(foreign, ""), all, 0},
		"another journal's line":        {with(lines, at(lines, 4), l(4), foreign[at(foreign, 7)]), 4, all - 4},
		"an event that cannot happen": {
			with(lines, at(lines, 4), string(encoded(t, dir, core.Event{Seq: 4, Time: day, Data: core.DebugFinished{}}))+"\n"), 3, all - 3,
		},
		"a torn end": {whole + l(4)[:50], all, 0},
	} {
		t.Run(name, func(t *testing.T) {
			writeFile(t, journalOf(dir), c.text)
			f := unchanged(t, dir)
			if f.Problems() == 0 || f.Repairable != (f.Recoverable > 0) {
				t.Errorf("found %+v", f)
			}
			if c.kept >= 0 && (f.Recoverable != int64(c.kept) || f.LostCount != int64(c.lost)) {
				t.Errorf("%d can be recovered and %d are lost, want %d and %d", f.Recoverable, f.LostCount, c.kept, c.lost)
			}
			checkSalvage(t, dir, c.text, f)
		})
	}
}

// checkSalvage says what holds whatever is wrong with a journal.
func checkSalvage(t testing.TB, dir, text string, f Findings) {
	t.Helper()
	before := snapshot(t, dir)
	done, err := Salvage(dir)
	if f.Recoverable == 0 {
		if !errors.Is(err, ErrBeyondRepair) || readFile(t, journalOf(dir)) != text {
			t.Fatalf("%+v, %v", done, err)
		}
		return
	}
	if err != nil || done.Kept != f.Recoverable || done.LostCount != f.LostCount {
		t.Fatalf("%+v, %v; found %+v", done, err, f)
	}
	if readFile(t, filepath.Join(dir, done.Damaged)) != text {
		t.Fatal("the old journal is not what it was")
	}
	for name, old := range before { // all is still there under some name
		if now, err := os.ReadFile(filepath.Join(dir, name)); err == nil && string(now) != old && name != journalName && name != pageName {
			t.Fatalf("%s was changed", name)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	want := new(core.State)
	tail, err := Replay(dir, want.Apply)
	if err != nil || tail.Events != done.Kept || tail.Cut != 0 {
		t.Fatalf("the new journal: %+v, %v", tail, err)
	}
	checkPages(t, readFile(t, journalOf(dir)))
	r, s, tail, err := Open(dir, SyncOff)
	if err != nil || tail.Cut != 0 || s.Seq != done.Kept || asJSON(s) != asJSON(want) {
		t.Fatalf("Open: %+v, %v", tail, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if again, err := Salvage(dir); err != nil || again.Damaged != "" || again.Kept != done.Kept {
		t.Fatalf("a second time: %+v, %v", again, err)
	}
	if left := unchanged(t, dir); left.Problems() > 0 || left.Repairable {
		t.Fatalf("after it: %+v", left)
	}
}

// checkPages: no record crosses a page border.
func checkPages(t testing.TB, text string) {
	t.Helper()
	offset := 0
	for line := range strings.Lines(text) {
		if line != "\n" && offset/pageSize != (offset+len(line)-1)/pageSize {
			t.Fatalf("the record at %d crosses a page", offset)
		}
		offset += len(line)
	}
}

// TestSalvagedStateIsThatOfTheEvents compares with the events that were written.
func TestSalvagedStateIsThatOfTheEvents(t *testing.T) {
	dir, events, lines := damagedRun(t)
	for n := 2; n <= len(events); n++ {
		writeFile(t, journalOf(dir), with(lines, at(lines, n), "broken\n", "more\n"))
		done, err := Salvage(dir)
		if err != nil || done.Kept != int64(n-1) {
			t.Fatalf("%+v, %v", done, err)
		}
		want := new(core.State)
		for _, e := range events[:n-1] {
			if err := want.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		if got, _, err := Load(dir); err != nil || asJSON(got) != asJSON(want) {
			t.Fatalf("without event %d: %v", n, err)
		}
	}
}

// TestSalvageOfAnyFlippedByte goes through the whole journal.
func TestSalvageOfAnyFlippedByte(t *testing.T) {
	dir, _, lines := damagedRun(t)
	whole := strings.Join(lines, "")
	for i := 0; i < len(whole); i += rounds.Step(1) * flipStep {
		text := flip(whole, i)
		writeFile(t, journalOf(dir), text)
		checkSalvage(t, dir, text, unchanged(t, dir))
	}
}

func TestSalvageWithoutADetailFile(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"missing": func(file string) error { return os.Rename(file, file+".away") },
		"changed": func(file string) error { return os.WriteFile(file, []byte("{}"), 0o600) },
		"a folder": func(file string) error {
			return errors.Join(os.Rename(file, file+".away"), os.Mkdir(file, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, events, lines := damagedRun(t)
			if err := spoil(detailName(dir, 11)); err != nil {
				t.Fatal(err)
			}
			f := unchanged(t, dir)
			if f.Recoverable != 10 || f.LostCount != int64(len(events)-11) || !strings.Contains(f.List[0].Text+f.List[len(f.List)-2].Text, "detail file") {
				t.Errorf("%+v", f)
			}
			done, err := Salvage(dir)
			if err != nil || done.Kept != 10 || done.Lost[0] != (LostEvent{12, core.TypeIterationStarted, at(lines, 12) + 1}) {
				t.Errorf("%+v, %v", done, err)
			}
		})
	}
}

// TestLostEventsAreNamedByTheirLine, also behind a line that is too long.
func TestLostEventsAreNamedByTheirLine(t *testing.T) {
	dir, _, lines := damagedRun(t)
	i := at(lines, 6)
	writeFile(t, journalOf(dir), with(lines, i, strings.Repeat("x", 200_000)+"\n"))
	f := unchanged(t, dir)
	if want := (LostEvent{7, core.TypeIterationFinished, i + 2}); len(f.Lost) == 0 || f.Lost[0] != want || f.List[0].Line != i+1 {
		t.Errorf("%+v, want %+v", f, want)
	}
}

// FuzzSurvey takes any bytes as a journal. Whatever they are, the chain has the
// numbers 1, 2, 3 …, its state is that of its events, it is no shorter than what
// replays as the file stands, and no record is both kept and lost.
func FuzzSurvey(f *testing.F) {
	dir, _, lines := damagedRun(f)
	whole := strings.Join(lines, "")
	f.Add([]byte(whole))
	f.Add([]byte(swap(lines, 0, 2)))
	f.Add([]byte(whole[:len(whole)/2]))
	f.Add(bytes.Repeat([]byte{0}, 5000))
	f.Add([]byte(whole + lines[0]))
	f.Add([]byte(with(lines, 3, strings.Repeat("x", 70_000)+"\n")))
	f.Fuzz(func(t *testing.T, data []byte) {
		as := new(core.State)
		tail, _ := replay(dir, bytes.NewReader(data), as.Apply)
		all, err := take(dir, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		c, err := all.link(dir, bytes.NewReader(data), tail.Events)
		if err != nil || int64(len(c.kept)) < tail.Events || c.state.Seq != int64(len(c.kept)) {
			t.Fatalf("%d kept of %d, %v", len(c.kept), tail.Events, err)
		}
		again := new(core.State)
		for i, r := range c.kept {
			e, err := r.read(dir, bytes.NewReader(data))
			if err != nil || e.Seq != int64(i+1) || again.Apply(e) != nil {
				t.Fatalf("event %d: %+v, %v", i+1, r, err)
			}
		}
		if asJSON(again) != asJSON(c.state) {
			t.Fatal("another state")
		}
		for _, r := range c.lost {
			if r.seq <= int64(len(c.kept)) || c.why == "" {
				t.Fatalf("%+v is lost, %q", r, c.why)
			}
		}
	})
}

func flip(text string, i int) string {
	b := []byte(text)
	b[i] ^= 1
	return string(b)
}

func swap(lines []string, i, j int) string {
	l := append([]string(nil), lines...)
	l[i], l[j] = l[j], l[i]
	return strings.Join(l, "")
}

func chmod(t testing.TB, name string, mode fs.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

// snapshot is the content of all files.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		rel, _ := filepath.Rel(dir, name)
		all[rel] = readFile(t, name)
		if info.Mode().Perm() != 0o600 {
			all[rel] += info.Mode().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// unchanged examines the run and fails when that changed anything.
func unchanged(t testing.TB, dir string) Findings {
	t.Helper()
	before := snapshot(t, dir)
	f, err := Examine(dir)
	if err != nil {
		t.Fatal(err)
	}
	if asJSON(snapshot(t, dir)) != asJSON(before) {
		t.Fatal("Examine changed something")
	}
	return f
}
