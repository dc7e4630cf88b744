package scratchpad

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// ended is a run that has ended as it should, with all its files.
func endedRun(t testing.TB) string {
	t.Helper()
	r := newRun(t, SyncOff)
	s := appendAll(t, r, append(iterations(2), ending(6, "it failed")))
	res := s.Result()
	res.RunID = r.ID
	o := must(r.Output(1))
	if _, err := o.Write([]byte("output")); err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Refresh(s, true); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteResult(res, ""); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return r.Dir
}

func kinds(f Findings) []string {
	found := []string{}
	for _, one := range f.List {
		found = append(found, string(one.Level)+" "+one.Kind+" "+filepath.ToSlash(one.File))
	}
	slices.Sort(found)
	return found
}

// TestExamine has what is found for each thing that can be wrong.
func TestExamine(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  []string
		unix  bool
	}{
		"nothing": {func(*testing.T, string) {}, nil, false},
		"a torn end": {func(t *testing.T, dir string) {
			writeFile(t, journalOf(dir), readFile(t, journalOf(dir))+"{")
		}, []string{"problem torn_tail journal.jsonl"}, false},
		"no journal": {func(t *testing.T, dir string) {
			remove(t, journalOf(dir))
		}, []string{"problem no_journal journal.jsonl"}, false},
		"an empty journal": {func(t *testing.T, dir string) {
			writeFile(t, journalOf(dir), "")
			remove(t, filepath.Join(dir, resultName))
		}, []string{"problem no_events journal.jsonl"}, false},
		"killed": {func(t *testing.T, dir string) {
			text := readFile(t, journalOf(dir))
			writeFile(t, journalOf(dir), text[:strings.LastIndex(strings.TrimRight(text, "\n"), "\n")+1])
			remove(t, filepath.Join(dir, resultName))
		}, []string{"note crashed journal.jsonl", "note stale_page scratchpad.md"}, false},
		"a result that knows more": {func(t *testing.T, dir string) {
			text := readFile(t, journalOf(dir))
			writeFile(t, journalOf(dir), text[:strings.LastIndex(strings.TrimRight(text, "\n"), "\n")+1])
		}, []string{"note stale_page scratchpad.md", "problem stale_result result.json"}, false},
		"a result of something else": {func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, resultName), `{"status":"done"}`)
		}, []string{"problem stale_result result.json"}, false},
		"no result": {func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, resultName))
		}, []string{"note no_result result.json"}, false},
		"no page": {func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, pageName))
		}, []string{"note stale_page scratchpad.md"}, false},
		"a page with notes": {func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, pageName), readFile(t, filepath.Join(dir, pageName))+"mine\n")
		}, nil, false},
		"a write that was cut off": {func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, ".result.json.1x.tmp"), "{")
		}, []string{"note leftover .result.json.1x.tmp"}, false},
		"modes": {func(t *testing.T, dir string) {
			chmod(t, filepath.Join(dir, "output"), 0o770)
			chmod(t, journalOf(dir), 0o620)
			chmod(t, filepath.Join(dir, pageName), 0o604)
			chmod(t, filepath.Join(dir, resultName), 0o700)
		}, []string{"note readable scratchpad.md", "problem writable journal.jsonl", "problem writable output"}, true},
		"an open directory": {func(t *testing.T, dir string) {
			chmod(t, dir, 0o750)
		}, []string{"problem open_directory ."}, true},
		"a state directory for everybody": {func(t *testing.T, dir string) {
			chmod(t, filepath.Dir(dir), 0o702)
		}, []string{"problem open_state_dir .."}, true},
		"a state directory for the group": {func(t *testing.T, dir string) {
			chmod(t, filepath.Dir(dir), 0o720)
		}, []string{"problem open_state_dir .."}, true},
		"a link": {func(t *testing.T, dir string) {
			if err := os.Symlink("/etc/passwd", filepath.Join(dir, "output", "0002.log")); err != nil {
				t.Fatal(err)
			}
		}, []string{"problem symlink output/0002.log"}, true},
		"a journal that is a link": {func(t *testing.T, dir string) {
			if err := os.Rename(journalOf(dir), journalOf(dir)+".x"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(journalOf(dir)+".x", journalOf(dir)); err != nil {
				t.Fatal(err)
			}
		}, []string{"problem symlink journal.jsonl", "problem unreadable_journal journal.jsonl"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.unix && !modesHold {
				t.Skip("modes and links say nothing here")
			}
			dir := endedRun(t)
			c.spoil(t, dir)
			f := unchanged(t, dir)
			if got := kinds(f); !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
			for _, one := range f.List {
				if one.Text == "" || one.Remedy == "" || strings.Contains(one.Text, dir) {
					t.Errorf("%+v", one)
				}
			}
			problems := 0
			for _, k := range c.want {
				if strings.HasPrefix(k, "problem") {
					problems++
				}
			}
			if f.Problems() != problems {
				t.Errorf("%d problems, want %d", f.Problems(), problems)
			}
		})
	}
}

func TestExamineThroughALink(t *testing.T) {
	dir := endedRun(t)
	link := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	f, err := Examine(link)
	if err != nil || !slices.Equal(kinds(f), []string{"problem symlink ."}) {
		t.Errorf("%q, %v", kinds(f), err)
	}
}

// TestExamineSaysWhere the damage is.
func TestExamineSaysWhere(t *testing.T) {
	dir, _, lines := damagedRun(t)
	i := at(lines, 6)
	writeFile(t, journalOf(dir), with(lines, i, "broken\n"))
	f := unchanged(t, dir)
	offset := int64(len(strings.Join(lines[:i], "")))
	one := f.List[0]
	if one.Kind != "damaged_journal" || one.Line != i+1 || one.Offset != offset || !strings.Contains(one.Text, "check sum") || f.Events != 5 {
		t.Errorf("%+v, want line %d at %d", f, i+1, offset)
	}
	// The remedy: cut there, the journal is whole, and still this user's.
	if err := os.Truncate(journalOf(dir), offset); err != nil {
		t.Fatal(err)
	}
	if s, tail, err := Load(dir); err != nil || s.Seq != 5 || tail.Cut != 0 || Mine(dir) != nil || !strings.Contains(one.Remedy, fmt.Sprintf("truncate -s %d", tail.Offset)) {
		t.Errorf("cut there: %+v, %v; %s", tail, err, one.Remedy)
	}
	writeFile(t, journalOf(dir), with(lines, 0, "broken\n"))
	if one := unchanged(t, dir).List[0]; one.Line != 1 || !strings.Contains(one.Remedy, "start the run again") {
		t.Errorf("without a first event: %+v", one)
	}
}

// TestUnknownFormat: a journal of a format that is not known is named and left alone. It is
// listed, so that it can be kept.
func TestUnknownFormat(t *testing.T) {
	dir := written(t, iterations(1))
	text := readFile(t, journalOf(dir))
	line, rest, _ := strings.Cut(text, "\n")
	body := strings.Replace(line[:len(line)-sumSize], `"format":1`, `"format":7`, 1)
	text = string(seal([]byte(body+"}"), "")) + rest
	writeFile(t, journalOf(dir), text)
	if _, _, err := Load(dir); !errors.Is(err, core.ErrUnknownFormat) || !strings.Contains(err.Error(), "format 7") || !strings.Contains(err.Error(), "newer looprun") {
		t.Errorf("Load: %v", err)
	}
	if _, _, _, err := OpenTrusted(dir, SyncOff); !errors.Is(err, core.ErrUnknownFormat) {
		t.Errorf("OpenTrusted: %v", err)
	}
	if s := Summarize(dir); s.ID == "" || !strings.Contains(s.Problem, "format 7") {
		t.Errorf("Summarize: %+v", s)
	}
	if f := unchanged(t, dir); !slices.Equal(kinds(f), []string{"problem newer_journal journal.jsonl"}) {
		t.Errorf("Examine: %+v", f)
	}
	if readFile(t, journalOf(dir)) != text {
		t.Error("the journal was changed")
	}
}

// TestExamineARunThatIsOpen says so and leaves alone what is being written.
func TestExamineARunThatIsOpen(t *testing.T) {
	r := newRun(t, SyncOff)
	appendAll(t, r, iterations(2))
	f := unchanged(t, r.Dir)
	if !f.Alive || len(f.List) > 0 || f.Events != 5 {
		t.Errorf("%+v", f)
	}
	writeFile(t, journalOf(r.Dir), readFile(t, journalOf(r.Dir))+"{")
	if f := unchanged(t, r.Dir); len(f.List) > 0 {
		t.Errorf("with half a record: %+v", f)
	}
}

func TestExamineWhatIsNoRun(t *testing.T) {
	if _, err := Examine(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("nothing was examined")
	}
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "")
	if _, err := Examine(file); err == nil {
		t.Error("a file was examined")
	}
}

// TestFindingsAreBounded lists the first of many.
func TestFindingsAreBounded(t *testing.T) {
	dir := endedRun(t)
	for i := range findingsListed + 5 {
		writeFile(t, filepath.Join(dir, ".x"+strings.Repeat("x", i%200)+string(rune('a'+i/200))+".tmp"), "")
	}
	if f := unchanged(t, dir); len(f.List) != findingsListed {
		t.Errorf("%d findings", len(f.List))
	}
}

// TestForeignOwner needs to be root, who may give files away.
func TestForeignOwner(t *testing.T) {
	dir := endedRun(t)
	if err := os.Chown(filepath.Join(dir, resultName), 12345, -1); err != nil {
		t.Skip("only root can give a file away:", err)
	}
	if f := unchanged(t, dir); !slices.Equal(kinds(f), []string{"problem foreign result.json"}) {
		t.Errorf("%q", kinds(f))
	}
}

func remove(t testing.TB, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

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
