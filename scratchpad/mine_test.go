package scratchpad

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/internal/xdg"
)

// as gives the test a state folder of its own: another user, or another machine.
func as(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", dir)
}

// goOn opens a run, appends an event and closes it.
func goOn(dir string, open func(string, SyncMode) (*Run, *core.State, Tail, error)) error {
	r, s, _, err := open(dir, SyncOff)
	if err != nil {
		return err
	}
	return errors.Join(r.Journal.Append(core.Event{Seq: s.Seq + 1, Time: day, Data: core.RunResumed{}}), r.Close())
}

// planted writes a journal as it would come with a repository: without marks.
func planted(t *testing.T, dir string, events []core.Event) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, e := range events {
		b.Write(append(encoded(t, dir, e), '\n'))
	}
	writeFile(t, journalOf(dir), b.String())
}

// TestOnlyMyRunsGoOn: what was written with the key does, wherever it lies now,
// and nothing else, whatever its owner and modes are.
func TestOnlyMyRunsGoOn(t *testing.T) {
	as(t, t.TempDir())
	dir := written(t, iterations(2))
	if err := goOn(dir, Open); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(moved, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := goOn(moved, Open); err != nil {
		t.Errorf("moved: %v", err)
	}
	if info := must(os.Stat(moved)); modesHold && info.Mode().Perm() != dirMode {
		t.Errorf("its mode is %04o", info.Mode().Perm())
	}

	other := filepath.Join(t.TempDir(), "20260102-150405-3f9a")
	planted(t, other, iterations(2))
	if err := goOn(other, Open); !errors.Is(err, ErrNotMine) || !strings.Contains(err.Error(), "clone") {
		t.Errorf("planted: %v", err)
	}
	for says, key := range map[string]string{"you have no key yet": "", "holds no key": "what", "another one now": strings.Repeat("ab", keySize)} {
		as(t, t.TempDir())
		if key != "" {
			if err := put(xdg.State(), key, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := goOn(moved, Open); !errors.Is(err, ErrNotMine) || !strings.Contains(err.Error(), says) {
			t.Errorf("another user's key: %v, want %q", err, says)
		}
	}
	as(t, t.TempDir())
	for range 2 { // with its next event it is mine
		if err := goOn(moved, OpenTrusted); err != nil {
			t.Fatal(err)
		}
		if err := Mine(moved); err != nil {
			t.Errorf("trusted: %v", err)
		}
	}
	if err := goOn(moved, Open); err != nil {
		t.Errorf("agreed to: %v", err)
	}
}

// TestNoChangeIsMine: a record that was changed, added, dropped or taken from
// another run of mine makes a journal that nobody has agreed to, with check sums
// that are right. Only its beginning is mine still.
func TestNoChangeIsMine(t *testing.T) {
	as(t, t.TempDir())
	story := append(iterations(3), ending(8, strings.Repeat("x", 2*pageSize)))
	dir := written(t, story)
	good := strings.SplitAfter(strings.Trim(readFile(t, journalOf(dir)), "\n"), "\n")
	again := story
	again[2].Elapsed += time.Second
	twin := strings.SplitAfter(strings.Trim(readFile(t, journalOf(written(t, again))), "\n"), "\n")
	resealed := func(line, from, to string) string {
		body := must(sealed([]byte(strings.TrimSuffix(line, "\n"))))
		return string(seal(append(bytes.Replace(body, []byte(from), []byte(to), 1), '}'), ""))
	}
	added := string(seal(must(core.Event{Seq: 9, Time: day, Data: core.RunResumed{Config: []byte(`{"command":["evil"]}`)}}.MarshalJSON()), ""))
	if err := Mine(dir); err != nil {
		t.Fatal(err)
	}
	for name, lines := range map[string][]string{
		"the command":        append([]string{resealed(good[0], "fix.sh", "bad.sh")}, good[1:]...),
		"an outcome":         append(append(append([]string{}, good[:2]...), resealed(good[2], "not_done", "done")), good[3:]...),
		"the last":           append(append([]string{}, good[:7]...), resealed(good[7], `"failed"`, `"done"`)),
		"one more":           append(append([]string{}, good...), "\n", added),
		"a twin's record":    append(append(append([]string{}, good[:2]...), twin[2]), good[3:]...),
		"a twin's end":       append(append([]string{}, good[:3]...), twin[3:]...),
		"without the first":  good[1:],
		"without one":        append(append([]string{}, good[:3]...), good[4:]...),
		"marks taken off":    {unmarked(good[0]), unmarked(good[1])},
		"only the last mark": {unmarked(good[0]), good[1]},
	} {
		writeFile(t, journalOf(dir), strings.Join(lines, ""))
		if name == "only the last mark" { // that is what agreeing to a run leaves
			if err := Mine(dir); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err := Mine(dir); !errors.Is(err, ErrNotMine) || strings.Contains(err.Error(), "something other than your looprun") != (lines[0] == good[0]) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, _, err := Open(dir, SyncOff); err == nil {
			t.Errorf("%s: it was opened", name)
		}
	}
	if err := Mine(filepath.Join(dir, "none")); err == nil || errors.Is(err, ErrNotMine) { // else it is opened where somebody trusts it
		t.Errorf("a journal that cannot be read: %v", err)
	}
	writeFile(t, journalOf(dir), strings.Join(good, "")+`{"torn`)
	if err := Mine(dir); err != nil {
		t.Errorf("a torn end: %v", err)
	}
	// The detail's check sum is no proof: its content counts.
	name := detailName(dir, 8)
	detail := readFile(t, name)
	p := must(prove(dir, must(ownKey(false))))
	if q := p.marker.next(digestOf([]byte("x"), []byte(detail))); q.mark() == p.marker.next(digestOf([]byte("x"), []byte(detail+" "))).mark() {
		t.Error("the detail is not in the mark")
	}
}

func unmarked(line string) string {
	rest, _ := unmark(must(sealed([]byte(strings.TrimSuffix(line, "\n")))))
	return string(seal(append(rest, '}'), ""))
}

// TestKeyOfMyOwn is not used where others can know or change it, and the run goes
// on without: it says so, and is nobody's later.
func TestKeyOfMyOwn(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(state string) error
		says  string
	}{
		"a file in the way": {func(state string) error { return os.WriteFile(state, nil, 0o600) }, "key"},
		"no key":            {func(state string) error { return put(state, "what", 0o600) }, "holds no key"},
		"a key for all":     {func(state string) error { return put(state, strings.Repeat("ab", keySize), 0o644) }, "not yours alone"},
		"a short key":       {func(state string) error { return put(state, "abab", 0o600) }, "holds no key"},
		"a link": {func(state string) error {
			return errors.Join(os.Mkdir(state, 0o700), os.Symlink("/dev/null", filepath.Join(state, keyName)))
		}, "key"},
		"a folder for all": {func(state string) error {
			return errors.Join(os.Mkdir(state, 0o700), os.Chmod(state, 0o777))
		}, "others can write"},
		"another user's folder": {func(state string) error {
			return errors.Join(os.Mkdir(state, 0o700), os.Chown(state, 12345, 12345))
		}, "others can write"},
	} {
		t.Run(name, func(t *testing.T) {
			if !modesHold {
				t.Skip("modes of files mean nothing here")
			}
			as(t, t.TempDir())
			if err := c.spoil(xdg.State()); err != nil {
				t.Skip(err)
			}
			r := newRun(t, SyncOff)
			if r.Unmarked == nil || !strings.Contains(r.Unmarked.Error(), c.says) {
				t.Errorf("it says %v", r.Unmarked)
			}
			appendAll(t, r, iterations(1))
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if err := goOn(r.Dir, Open); !errors.Is(err, ErrNotMine) {
				t.Errorf("Open: %v", err)
			}
			if err := goOn(r.Dir, OpenTrusted); err != nil {
				t.Errorf("OpenTrusted: %v", err)
			}
		})
	}
}

func put(state, key string, mode os.FileMode) error {
	name := filepath.Join(state, keyName)
	return errors.Join(os.MkdirAll(state, 0o700), os.WriteFile(name, []byte(key), mode), os.Chmod(name, mode))
}

// TestOneKey: of many that make it at once all have the same.
func TestOneKey(t *testing.T) {
	as(t, t.TempDir())
	keys := make([]string, 32)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := ownKey(true)
			if err != nil {
				t.Error(err)
			}
			keys[i] = string(key)
		})
	}
	all.Wait()
	for _, key := range keys {
		if key != keys[0] || len(key) != keySize {
			t.Fatal("they differ")
		}
	}
	if left := must(os.ReadDir(xdg.State())); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestLatest: mine before others, and never one that is not what it is called, or
// is from the future, however the directory sorts.
func TestLatest(t *testing.T) {
	as(t, t.TempDir())
	dir := written(t, iterations(1))
	state := filepath.Dir(dir)
	named := func(id string, at time.Time) []core.Event {
		events := iterations(2)
		begun := events[0].Data.(core.RunStarted)
		begun.RunID = id
		events[0].Data = begun
		for i := range events {
			events[i].Time = at
		}
		return events
	}
	const future, newer, newest = "29991231-235959-beef", "20260103-000000-0000", "20260104-000000-0000"
	planted(t, filepath.Join(state, newer), named(newer, day))
	planted(t, filepath.Join(state, newest), iterations(1)) // another's name
	planted(t, filepath.Join(state, future), named(future, day))
	const ahead = "20260105-000000-0000"
	planted(t, filepath.Join(state, ahead), named(ahead, time.Now().Add(time.Hour)))
	const broken = "29991231-235959-dead"
	planted(t, filepath.Join(state, broken), nil)
	writeFile(t, journalOf(filepath.Join(state, broken)), "broken\n")
	if err := os.Mkdir(filepath.Join(state, "20260106-000000-0000"), 0o700); err != nil { // it has not begun
		t.Fatal(err)
	}

	all := func(string) bool { return true }
	if got, mine, err := Latest(state, all); got != dir || !mine || err != nil {
		t.Errorf("%s, %v, %v", got, mine, err)
	}
	if got := must(Find(state, "")); got != dir {
		t.Errorf("Find: %s", got)
	}
	if got, mine, err := Latest(state, func(d string) bool { return d != dir }); filepath.Base(got) != newer || mine || err != nil {
		t.Errorf("of the others: %s, %v, %v", got, mine, err)
	}
}

// What is not called as a run is none, and a run that cannot be read speaks by its name.
func TestGenuine(t *testing.T) {
	as(t, t.TempDir())
	dir := written(t, iterations(1))
	writeFile(t, journalOf(dir), "broken\n")
	if !Genuine(dir) {
		t.Error("a broken journal under a name of the past")
	}
	for _, name := range []string{"x", "notes of 20260102-150405-3f9a"} {
		if Genuine(filepath.Join(t.TempDir(), name)) {
			t.Errorf("%s is taken for a run", name)
		}
	}
	planted(t, dir, iterations(1)[1:])
	if Genuine(dir) {
		t.Error("a journal without its first event")
	}
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "")
	if got, _, err := Latest(file, func(string) bool { return true }); err == nil {
		t.Errorf("the latest run of a file: %q", got)
	}
}

// The run above one is another run, in the same state directory.
func TestAbove(t *testing.T) {
	as(t, t.TempDir())
	outer, other := written(t, iterations(1)), written(t, iterations(1))
	const id, gone = "20260103-000000-0000", "20260104-000000-0000"
	dir := filepath.Join(filepath.Dir(outer), id)
	for parent, want := range map[string]string{
		filepath.Base(outer):                           outer,
		must(filepath.Rel(filepath.Dir(outer), other)): "",
		"": "", id: "", gone: "",
	} {
		events := iterations(1)
		begun := events[0].Data.(core.RunStarted)
		begun.Parent = parent
		events[0].Data = begun
		planted(t, dir, events)
		if got := Above(dir); got != want || Outermost(dir) != (want == "") {
			t.Errorf("started in %q: above it is %q, want %q", parent, got, want)
		}
	}
}

// TestStateDirs: every folder that is noted and there, each once. The note of one that is gone
// is removed; one that cannot be understood stays.
func TestStateDirs(t *testing.T) {
	as(t, t.TempDir())
	here, there, gone := must(filepath.EvalSymlinks(t.TempDir())), must(filepath.EvalSymlinks(t.TempDir())), filepath.Join(t.TempDir(), "gone")
	if got, err := StateDirs(here); err != nil || !slices.Equal(got, []string{here}) {
		t.Errorf("before anything is noted: %q, %v", got, err)
	}
	if err := os.MkdirAll(StateNotes(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{here, there, gone} {
		writeFile(t, StateNote(dir), dir+"\n")
	}
	odd := filepath.Join(StateNotes(), "odd")
	writeFile(t, odd, ".\n")
	got, err := StateDirs(here)
	slices.Sort(got)
	want := []string{here, there}
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := os.Stat(StateNote(gone)); err == nil {
		t.Error("the note of a folder that is gone is still there")
	}
	if _, err := os.Stat(odd); err != nil {
		t.Error(err)
	}
	if got, err := StateDirs(gone); err != nil || !slices.Contains(got, gone) || StateNote(gone) == StateNote(gone+"s") {
		t.Errorf("a folder that is not there: %q, %v", got, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(here, link); err != nil {
		t.Skip(err)
	}
	if StateNote(link) != StateNote(here) {
		t.Error("a link to a folder has another note")
	}
	if got, err := StateDirs(link); err != nil || len(got) != 2 {
		t.Errorf("a link to a folder that is noted: %q, %v", got, err)
	}
	if err := os.RemoveAll(StateNotes()); err != nil {
		t.Fatal(err)
	}
	writeFile(t, StateNotes(), "")
	if got, err := StateDirs(here); err == nil || !slices.Equal(got, []string{here}) {
		t.Errorf("notes that cannot be read: %q, %v", got, err)
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	if got, err := StateDirs(here); err != nil || !slices.Equal(got, []string{here}) || StateNote(here) != "" {
		t.Errorf("no place for notes: %q, %v, %q", got, err, StateNote(here))
	}
}

// FuzzProve: no bytes make a journal mine, whatever is in them, and none of mine
// with other bytes in it is, but for its own beginnings.
func FuzzProve(f *testing.F) {
	f.Setenv("XDG_STATE_HOME", f.TempDir())
	story := numbered(story()...)
	dir := written(f, story)
	good := readFile(f, journalOf(dir))
	f.Add([]byte(good), uint16(0), byte(0))
	f.Add([]byte(good), uint16(100), byte(1))
	f.Add([]byte(strings.ReplaceAll(good, "mark", "mork")), uint16(3), byte(7))
	f.Fuzz(func(t *testing.T, data []byte, at uint16, flip byte) {
		if len(data) > 0 {
			data[int(at)%len(data)] ^= flip
		}
		data = resealAll(data)
		writeFile(t, journalOf(dir), string(data))
		p, err := prove(dir, must(ownKey(false)))
		if err != nil {
			t.Fatal(err)
		}
		var records []string
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSuffix(line, "\n"); line != "" && int64(len(records)) < p.records {
				records = append(records, line)
			}
		}
		var whole []string
		for line := range strings.Lines(good) {
			if line = strings.TrimSuffix(line, "\n"); line != "" {
				whole = append(whole, line)
			}
		}
		if p.mine && (len(records) > len(whole) || records[len(records)-1] != whole[len(records)-1]) {
			t.Errorf("%d records that I never wrote are mine", p.records)
		}
	})
}

// resealAll gives every line the right check sum and leaves its mark.
func resealAll(data []byte) []byte {
	var out []byte
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		if n := len(line) - sumSize; n > 0 {
			out = append(out, seal(append(bytes.Clone(line[:n]), '}'), "")...)
		}
	}
	return out
}

// bodies are the records without their marks and sums, and the last mark.
func bodies(data []byte) string {
	var b, last []byte
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		if n := len(line) - sumSize; n > 0 {
			rest, mark := unmark(line[:n])
			b, last = append(append(b, rest...), '\n'), mark
		}
	}
	return string(append(b, last...))
}

// TestRandomChanges are all found, and every beginning of a journal is mine.
func TestRandomChanges(t *testing.T) {
	as(t, t.TempDir())
	dir := written(t, numbered(story()...))
	good := []byte(readFile(t, journalOf(dir)))
	for range rounds.Of(2000) {
		data := bytes.Clone(good)
		data[rand.IntN(len(data))] ^= byte(1 + rand.IntN(255))
		data = resealAll(data)
		writeFile(t, journalOf(dir), string(data))
		p := must(prove(dir, must(ownKey(false))))
		if bodies(data) == bodies(good) { // only a check sum changed, or a mark that a later one stands for
			continue
		}
		if whole := bytes.Count(bytes.TrimSpace(data), []byte("\n")) + 1; p.mine && p.records == int64(whole) {
			t.Fatalf("changed, and mine:\n%s", data)
		}
	}
	var records int
	for end, b := range good {
		if b != '\n' || end > 0 && good[end-1] == '\n' {
			continue
		}
		records++
		writeFile(t, journalOf(dir), string(good[:end+1]))
		if p := must(prove(dir, must(ownKey(false)))); !p.mine || p.records != int64(records) {
			t.Fatalf("the first %d records: %+v", records, p)
		}
	}
}
