package scratchpad

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

func TestStateDir(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "repo", "a", "b")
	for _, dir := range []string{deep, filepath.Join(top, "repo", ".git"), filepath.Join(top, "elsewhere")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want := func(start, dir string) {
		t.Helper()
		if got := StateDir(start); got != filepath.Join(dir, StateDirName) {
			t.Errorf("from %s: %s, want it in %s", start, got, dir)
		}
	}
	want(deep, filepath.Join(top, "repo"))
	want(filepath.Join(top, "elsewhere"), filepath.Join(top, "elsewhere"))
	writeFile(t, filepath.Join(top, "repo", "a", "looprun.yaml"), "")
	want(deep, filepath.Join(top, "repo", "a"))
	want(filepath.Join(top, "repo"), filepath.Join(top, "repo"))
}

// TestStateDirOfOthers: what others may have put there decides nothing.
func TestStateDirOfOthers(t *testing.T) {
	if !modesHold {
		t.Skip("modes of files mean nothing here")
	}
	mine, theirs := -1, os.Geteuid()+1
	for name, c := range map[string]struct {
		marker string
		owner  int
		mode   os.FileMode
		counts bool
	}{
		"my looprun.yaml":                                 {"looprun.yaml", mine, 0o755, true},
		"my looprun.yaml where everyone can write":        {"looprun.yaml", mine, 0o777 | os.ModeSticky, false},
		"another's looprun.yaml":                          {"looprun.yaml", theirs, 0o755, false},
		"another's looprun.yaml where everyone can write": {"looprun.yaml", theirs, 0o777, false},
		"my repository where everyone can write":          {".git", mine, 0o777, true},
		"another's repository":                            {".git", theirs, 0o755, true},
		"a repository planted where everyone can write":   {".git", theirs, 0o777, false},
		"a repository planted in a sticky folder":         {".git", theirs, 0o777 | os.ModeSticky, false},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			start := filepath.Join(top, "a", "b")
			if err := os.MkdirAll(start, 0o700); err != nil {
				t.Fatal(err)
			}
			marker := filepath.Join(top, c.marker)
			writeFile(t, marker, "")
			if err := os.Lchown(marker, c.owner, -1); err != nil {
				t.Skip(err)
			}
			if err := os.Chmod(top, c.mode); err != nil {
				t.Fatal(err)
			}
			want := filepath.Join(start, StateDirName)
			if c.counts {
				want = filepath.Join(top, StateDirName)
			}
			if got := StateDir(start); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestRunsGetTheirOwnDirectories also at the same moment, and sort in time.
func TestRunsGetTheirOwnDirectories(t *testing.T) {
	state := filepath.Join(t.TempDir(), "deep", StateDirName)
	var mu sync.Mutex
	var all sync.WaitGroup
	seen := map[string]bool{}
	for range 20 {
		all.Go(func() {
			r, err := Create(state, made, SyncOff)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			mu.Lock()
			defer mu.Unlock()
			if seen[r.ID] || !isID(r.ID) || r.Dir != filepath.Join(state, r.ID) {
				t.Errorf("%s in %s", r.ID, r.Dir)
			}
			seen[r.ID] = true
		})
	}
	all.Wait()
	if ids, err := IDs(state); err != nil || len(ids) != 20 {
		t.Errorf("%v, %v", ids, err)
	}
	for at := day; at.Before(day.Add(3 * time.Second)); at = at.Add(time.Millisecond) {
		if a, b := newID(at), newID(at.Add(time.Millisecond)); a >= b || !isID(a) {
			t.Errorf("%s is followed by %s", a, b)
		}
	}
}

// TestModesOfAllFiles: everything is for its owner alone.
func TestModesOfAllFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	r := newRun(t, SyncEach)
	s := appendAll(t, r, append(iterations(1), ending(4, strings.Repeat("x", 2*pageSize))))
	say(t, r, 1, "x")
	if err := r.Refresh(s, true); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteResult(s.Result(), ""); err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	state := filepath.Dir(r.Dir)
	err := filepath.WalkDir(state, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", name, info.Mode().Perm())
		}
		files[d.Name()] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".gitignore", journalName, "4.json", lockName, "0001.log", "0001.check.log", "scratchpad.md", resultName, "reserve"} {
		if !files[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if got := readFile(t, filepath.Join(state, ".gitignore")); got != "*\n" {
		t.Errorf(".gitignore holds %q", got)
	}
}

// TestGitignoreOfOthersStays as it is.
func TestGitignoreOfOthersStays(t *testing.T) {
	state := t.TempDir()
	writeFile(t, filepath.Join(state, ".gitignore"), "mine\n")
	r, err := Create(state, made, SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := readFile(t, filepath.Join(state, ".gitignore")); got != "mine\n" {
		t.Errorf("it holds %q", got)
	}
}

// TestClonedStateDirectory: one that git made with the files of looprun init is closed to others,
// unless somebody has put more there.
func TestClonedStateDirectory(t *testing.T) {
	if !modesHold {
		t.Skip("modes of files mean nothing here")
	}
	for name, more := range map[string]string{"as git made it": "", "with a run": "20260102-150405-3f9a/journal.jsonl"} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), StateDirName)
			for _, f := range []string{".gitignore", "schemas/looprun.schema.json", more} {
				if f == "" {
					continue
				}
				f = filepath.Join(state, f)
				if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
					t.Fatal(err)
				}
				writeFile(t, f, "")
			}
			if err := os.Chmod(state, 0o775); err != nil {
				t.Fatal(err)
			}
			r, err := Create(state, made, SyncOff)
			if more != "" {
				if !errors.Is(err, ErrUnsafe) {
					t.Fatalf("it was used: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if info, err := os.Stat(state); err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("its mode is %v (%v)", info.Mode(), err)
			}
		})
	}
}

// TestRemoveEmpty: a state directory goes only where looprun alone made it and nothing is left in
// it, and runs that begin meanwhile find a place.
func TestRemoveEmpty(t *testing.T) {
	state := filepath.Join(t.TempDir(), StateDirName)
	for range 200 {
		var begins sync.WaitGroup
		begins.Go(func() {
			r, err := Create(state, time.Now(), SyncOff)
			if err != nil {
				t.Error(err)
				return
			}
			if err := errors.Join(r.Close(), os.RemoveAll(r.Dir)); err != nil {
				t.Error(err)
			}
		})
		RemoveEmpty(state)
		begins.Wait()
	}
	RemoveEmpty(state) // the last round may have done it
	if _, err := os.Lstat(state); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("it is still there (%v)", err)
	}
	for _, other := range []string{".gitignore", "schemas", "20260102-150405-3f9a"} {
		if err := os.MkdirAll(state, 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(state, other), "of somebody\n")
		if RemoveEmpty(state) {
			t.Errorf("it was removed with %s", other)
		}
		if err := os.RemoveAll(state); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(t.TempDir(), "runs")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(other, ".gitignore"), "*\n")
	if RemoveEmpty(other) {
		t.Error("a folder of the user's choice was removed")
	}
}

// TestStateDirectoryThatCannotBeUsed is refused with the place and the remedy.
func TestStateDirectoryThatCannotBeUsed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes, and links need a privilege")
	}
	top := t.TempDir()
	file, open, group := filepath.Join(top, "file"), filepath.Join(top, "open"), filepath.Join(top, "group")
	writeFile(t, file, "x")
	for dir, mode := range map[string]os.FileMode{open: 0o777, group: 0o720} {
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
	}
	found := filepath.Join(top, StateDirName)
	if err := os.Symlink(t.TempDir(), found); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"file", "open", "none"} {
		if err := os.Symlink(filepath.Join(top, to), filepath.Join(top, "to "+to)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), open, group, found, "to file", "to open", "to none"} {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(top, dir)
		}
		_, err := Create(dir, made, SyncOff)
		if err == nil || !strings.Contains(err.Error(), top) || !strings.Contains(err.Error(), "--state-dir") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	for _, dir := range []string{open, group, found} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("%s was refused, and written to: %v, %v", dir, entries, err)
		}
	}
}

// TestStateDirectoryOfAnotherUser is refused: its owner can put other files in
// the place of looprun's.
func TestStateDirectoryOfAnotherUser(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Skip(err)
	}
	if _, err := Create(dir, made, SyncOff); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("%v", err)
	}
}

// TestStateDirectoryByLink is used: somebody may keep runs on another disk.
func TestStateDirectoryByLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	r, err := Create(link, made, SyncAsync)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, r, iterations(1))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := Summarize(filepath.Join(link, r.ID)); got.Status != core.StatusCrashed {
		t.Errorf("%+v", got)
	}
}
