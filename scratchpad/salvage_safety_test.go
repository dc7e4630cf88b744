package scratchpad

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/provenance"
	"github.com/looprun/looprun/internal/rounds"
)

// TestSalvageKeepsAResultThatSaysMore than the journal does now.
func TestSalvageKeepsAResultThatSaysMore(t *testing.T) {
	events := append(iterations(2), ending(6, "it failed"))
	for n, wantMoved := range map[int]bool{4: true, 6: true, 7: false} {
		dir := written(t, events)
		result := `{"status":"failed","exit_code":125}`
		writeFile(t, filepath.Join(dir, resultName), result)
		lines := strings.SplitAfter(readFile(t, journalOf(dir)), "\n")
		text := strings.Join(lines[:n-1], "") + "broken\nbroken\n" + strings.Join(lines[min(n, len(lines)):], "")
		writeFile(t, journalOf(dir), text)
		done, err := Salvage(dir)
		if err != nil || (done.Result != "") != wantMoved {
			t.Fatalf("without event %d: %+v, %v", n, done, err)
		}
		name := resultName
		if wantMoved {
			name = done.Result
			if provenance.Exists(filepath.Join(dir, resultName)) {
				t.Error("the result is still there")
			}
		}
		if readFile(t, filepath.Join(dir, name)) != result {
			t.Error("the result is lost")
		}
	}
}

// TestSalvageMovesTheResultOfAnotherEnd away: the journal ends as failed.
func TestSalvageMovesTheResultOfAnotherEnd(t *testing.T) {
	dir := written(t, append(iterations(2), ending(6, "it failed")))
	writeFile(t, filepath.Join(dir, resultName), `{"status":"done"}`)
	writeFile(t, journalOf(dir), readFile(t, journalOf(dir))+"torn")
	if done, err := Salvage(dir); err != nil || done.Result == "" || done.Kept != 6 {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestSalvageKeepsTheNotes of the page, and renders the rest.
func TestSalvageKeepsTheNotes(t *testing.T) {
	dir, _, lines := damagedRun(t)
	writeFile(t, filepath.Join(dir, pageName), "# old\n\n## Notes\n\nmine\n")
	writeFile(t, journalOf(dir), with(lines, at(lines, 6), "broken\n"))
	if _, err := Salvage(dir); err != nil {
		t.Fatal(err)
	}
	s, _, err := Load(dir)
	if err != nil || readFile(t, filepath.Join(dir, pageName)) != string(Render(s))+"## Notes\n\nmine\n" {
		t.Errorf("%v: %s", err, readFile(t, filepath.Join(dir, pageName)))
	}
}

func TestSalvageRefuses(t *testing.T) {
	dir, _, lines := damagedRun(t)
	text := with(lines, at(lines, 6), "broken\n")
	newer := string(seal([]byte(`{"seq":8,"time":"2026-01-02T15:04:05Z","type":"moon.landed","elapsed_ms":1}`), ""))
	for name, c := range map[string]struct {
		prepare func(t *testing.T)
		want    error
	}{
		"a run that is open": {func(t *testing.T) {
			lock := must(acquire(filepath.Join(dir, lockName)))
			t.Cleanup(func() { lock.Close() })
		}, ErrLocked},
		"an open directory": {func(t *testing.T) {
			chmod(t, dir, 0o755)
			t.Cleanup(func() { chmod(t, dir, 0o700) })
		}, ErrUnsafe},
		"a newer one": {func(t *testing.T) {
			writeFile(t, journalOf(dir), with(lines, at(lines, 8), newer))
		}, ErrBeyondRepair},
		"a newer one behind the damage": {func(t *testing.T) {
			writeFile(t, journalOf(dir), strings.Replace(text, lines[at(lines, 8)], newer, 1))
		}, ErrBeyondRepair},
		"no journal": {func(t *testing.T) {
			if err := os.Rename(journalOf(dir), journalOf(dir)+".away"); err != nil {
				t.Fatal(err)
			}
		}, fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "an open directory" && !modesHold {
				t.Skip("modes say nothing here")
			}
			writeFile(t, journalOf(dir), text)
			c.prepare(t)
			before := snapshot(t, dir)
			if f := unchanged(t, dir); f.Repairable {
				t.Errorf("said to be repairable: %+v", f)
			}
			if _, err := Salvage(dir); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if after := snapshot(t, dir); asJSON(after) != asJSON(before) {
				t.Error("something was changed")
			}
		})
	}
}

// TestSalvageThatIsKilled leaves the old journal or the new one, and can be run
// again. It is killed as soon as each of its files appears.
func TestSalvageThatIsKilled(t *testing.T) {
	for _, sign := range []string{".journal.jsonl.*.tmp", "journal.damaged-1.jsonl"} {
		for range rounds.Of(3) {
			events := iterations(800)
			dir := written(t, events)
			text := readFile(t, journalOf(dir)) + "broken\nbroken\n"
			writeFile(t, journalOf(dir), text)
			h := startHelper(t, "salvage", dir)
			ended := make(chan error, 1)
			go func() { ended <- h.cmd.Wait() }()
			for seen := false; !seen; {
				select {
				case err := <-ended:
					ended <- err
					seen = true
				default:
					found, err := filepath.Glob(filepath.Join(dir, sign))
					seen = len(found) > 0 || err != nil
				}
			}
			_ = h.cmd.Process.Kill() // it may have ended
			<-ended
			now := readFile(t, journalOf(dir))
			if _, _, err := Load(dir); now != text && err != nil {
				t.Fatalf("half a journal: %v", err)
			}
			if now != text && readFile(t, filepath.Join(dir, "journal.damaged-1.jsonl")) != text {
				t.Fatal("the old journal is gone")
			}
			if done, err := Salvage(dir); err != nil || done.Kept != int64(len(events)) {
				t.Fatalf("a second time: %+v, %v", done, err)
			}
		}
	}
}

// TestSalvageWhereNothingIsWrong changes nothing.
func TestSalvageWhereNothingIsWrong(t *testing.T) {
	dir, events, _ := damagedRun(t)
	before := snapshot(t, dir)
	done, err := Salvage(dir)
	if err != nil || done.Kept != int64(len(events)) || done.Damaged != "" || asJSON(snapshot(t, dir)) != asJSON(before) {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestKeepTakesTheNextFreeName and has a copy where there are no second names.
func TestKeepTakesTheNextFreeName(t *testing.T) {
	dir := t.TempDir()
	for n := 1; n <= 3; n++ {
		writeFile(t, filepath.Join(dir, "a"), fmt.Sprint("content ", n))
		if n == 3 {
			if err := duplicate(filepath.Join(dir, "a"), filepath.Join(dir, "a-3")); err != nil {
				t.Fatal(err)
			}
		} else if name, err := keep(dir, "a", "a-%d"); err != nil || name != fmt.Sprint("a-", n) {
			t.Fatalf("%s, %v", name, err)
		}
		if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "gone")); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n <= 3; n++ {
		if got := readFile(t, filepath.Join(dir, fmt.Sprint("a-", n))); got != fmt.Sprint("content ", n) {
			t.Errorf("%d: %q", n, got)
		}
	}
	writeFile(t, filepath.Join(dir, "a"), "x")
	if err := duplicate(filepath.Join(dir, "a"), filepath.Join(dir, "a-1")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a copy was written over another: %v", err)
	}
}
