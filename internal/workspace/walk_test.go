package workspace

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
)

func plain(t *testing.T) repo {
	t.Helper()
	dir := must2(filepath.EvalSymlinks(t.TempDir()))
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir)) // should the temporary directory be in one
	r := repo{t, dir}
	r.write("a.txt", "alpha\n")
	r.write("sub/b.txt", "beta\n")
	return r
}

func TestWithoutGit(t *testing.T) {
	for _, installed := range []bool{true, false} {
		t.Run(map[bool]string{true: "no repository", false: "git is not installed"}[installed], func(t *testing.T) {
			r := plain(t)
			if !installed {
				t.Setenv("PATH", t.TempDir())
			}
			tree := open(t, r.dir, "left.txt")
			before := lookBoth(t, tree)
			for _, s := range steps {
				if slices.Contains([]string{"a committed file is edited", "an untracked file appears", "a file is deleted", "a file is made executable", "a file becomes a link", "a file becomes a directory"}, s.name) {
					s.do(r)
					if f := lookBoth(t, tree); f == before {
						t.Errorf("%s: not seen", s.name)
					}
					s.undo(r)
					if f := lookBoth(t, tree); f != before {
						t.Errorf("%s, undone: %v, want %v", s.name, f, before)
					}
				}
			}
			for _, name := range []string{".looprun/1/journal.jsonl", "sub/.looprun/x", "sub/.git/config", "left.txt"} {
				r.write(name, "x")
			}
			if f := lookBoth(t, tree); f != before {
				t.Errorf("what is left out is seen: %v, want %v", f, before)
			}
		})
	}
}

func TestARepositoryIsMadeAndRemovedMeanwhile(t *testing.T) {
	r := plain(t)
	tree := open(t, r.dir)
	if f := look(t, tree); f.Commit != "" {
		t.Errorf("a commit %q without git", f.Commit)
	}
	before := look(t, tree)
	r.git("init", "-q")
	r.commit("first")
	if f := lookBoth(t, tree); f.Commit == "" {
		t.Error("the new repository is not seen")
	}
	r.remove(".git")
	if f, err := tree.Fingerprint(context.Background()); err == nil {
		t.Errorf("the repository is gone, and %v", f)
	}
	if f := lookBoth(t, tree); f != before {
		t.Errorf("%v, want %v", f, before)
	}
}

func TestWhatIsNoFile(t *testing.T) {
	r := plain(t)
	tree := open(t, r.dir)
	before := lookBoth(t, tree)
	if !mkfifo(r.path("pipe")) {
		t.Skip("no named pipes on this system")
	}
	f := lookBoth(t, tree) // and does not wait for a writer
	if f == before {
		t.Error("a pipe is not seen")
	}
	r.remove("pipe")
	r.write("pipe", "x")
	if lookBoth(t, tree) == f {
		t.Error("a pipe and a file are the same")
	}
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		asOther(t, "TestUnreadable")
		return
	}
	r := withFiles(t)
	r.write("secret.txt", "one")
	r.write("closed/x", "one")
	for i, name := range []string{"git", "walk"} {
		if name == "walk" {
			t.Setenv("PATH", t.TempDir())
		}
		tree := open(t, r.dir)
		readable := lookBoth(t, tree)
		must(t, os.Chmod(r.path("secret.txt"), 0))
		must(t, os.Chmod(r.path("closed/x"), 0))
		unreadable := lookBoth(t, tree)
		if unreadable == readable {
			t.Errorf("%s: not seen that a file cannot be read", name)
		}
		for _, file := range []string{"secret.txt", "closed/x"} {
			must(t, os.Chtimes(r.path(file), time.Unix(1, 0), time.Unix(int64(i), 0)))
		}
		if f := lookBoth(t, tree); f == unreadable {
			t.Errorf("%s: not seen that a file that cannot be read was changed", name)
		}
		must(t, os.Chmod(r.path("secret.txt"), 0o600))
		must(t, os.Chmod(r.path("closed/x"), 0o600))
		if f := lookBoth(t, tree); f != readable {
			t.Errorf("%s: readable again: %v, want %v", name, f, readable)
		}
	}
	r.write("outer/closed/x", "one")
	tree := open(t, r.path("outer")) // git is not found any more
	must(t, os.Chmod(r.path("outer/closed"), 0))
	defer os.Chmod(r.path("outer/closed"), 0o700)
	if f, err := tree.Fingerprint(context.Background()); err != nil || f.Content == 0 {
		t.Errorf("a directory that cannot be read: %v, %v", f, err)
	}
}

func TestLargeFiles(t *testing.T) {
	r := plain(t)
	files := newContents(r.dir)
	write := func(size int64, at int64, text string) string {
		f := must2(os.OpenFile(r.path("large"), os.O_CREATE|os.O_RDWR, 0o600))
		defer f.Close()
		must(t, f.Truncate(size))
		must2(f.WriteAt([]byte(text), at))
		must(t, os.Chtimes(f.Name(), time.Unix(1, 0), time.Unix(1, 0)))
		return must2(files.read(f.Name(), must2(statOf(f.Name()))))
	}
	for _, c := range []struct {
		size, at int64
		seen     bool
	}{
		{largest, largest / 2, true},
		{largest + 1, largest / 2, false}, // but its time of change would tell
		{largest + 1, sample - 1, true},
		{largest + 1, largest + 1 - sample, true},
	} {
		one, two := write(c.size, c.at, "1"), write(c.size, c.at, "2")
		if (one != two) != c.seen {
			t.Errorf("size %d, changed at %d: seen %v, want %v", c.size, c.at, one != two, c.seen)
		}
		must(t, os.Chtimes(r.path("large"), time.Unix(1, 0), time.Unix(2, 0)))
		three := must2(files.read(r.path("large"), must2(statOf(r.path("large")))))
		if large := c.size > largest; (three != two) != large {
			t.Errorf("size %d: another time of change is seen %v, want %v", c.size, three != two, large)
		}
	}
}

func TestWhatIsReadAgain(t *testing.T) {
	r := plain(t)
	files := newContents(r.dir)
	name := r.path("a.txt")
	object := func() string {
		st := must2(statOf(name))
		files.begin()
		defer files.end()
		return files.object("a.txt", name, st)
	}
	one := object()
	st := files.known["a.txt"].stat
	if !files.known["a.txt"].young {
		t.Fatal("a file that was just written is not young")
	}

	// The next write falls into the same moment, of the same length: nothing about
	// the file tells.
	must(t, os.WriteFile(name, []byte("ALPHA\n"), 0o644))
	files.begin()
	two := files.object("a.txt", name, st)
	files.end()
	if two == one {
		t.Error("a second write in the moment of the first is not seen")
	}

	// When it has rested for a while it is not read any more.
	for deadline := time.Now().Add(eventually.Patience); ; {
		before := files.readFiles
		if object() != two {
			t.Fatal("the content has changed by itself")
		}
		if files.readFiles == before {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("an unchanged file is read again and again")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if age := time.Since(files.known["a.txt"].stat.changed()); age < granule {
		t.Errorf("trusted %v after its last change, want %v or more", age, granule)
	}
	must(t, os.WriteFile(name, []byte("alpha\n"), 0o644))
	if object() != one {
		t.Error("a later write is not seen")
	}
	files.begin()
	files.end()
	if len(files.known) != 0 {
		t.Error("what was not asked for is kept")
	}
}

func TestAFileThatGrowsIsCut(t *testing.T) {
	r := plain(t)
	files := newContents(r.dir)
	name := r.path("a.txt")
	st := must2(statOf(name))
	one := must2(files.read(name, st))
	f := must2(os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0))
	defer f.Close()
	must2(io.WriteString(f, strings.Repeat("x", 1<<20)))
	if must2(files.read(name, st)) == one {
		t.Error("what was added since it was looked at is not seen")
	}
}
