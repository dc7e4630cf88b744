package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/rounds"
)

// change is one kind of change to withFiles and the way back.
type step struct {
	name     string
	before   func(repo) // part of the state to start from
	do, undo func(repo)
}

var steps = []step{
	{
		name: "a committed file is edited",
		do:   func(r repo) { r.write("a.txt", "ALPHA\n") }, undo: func(r repo) { r.write("a.txt", "alpha\n") },
	},
	{
		name:   "a file that is already modified is edited again, to the same length",
		before: func(r repo) { r.write("a.txt", "one!!\n") },
		do:     func(r repo) { r.write("a.txt", "two!!\n") }, undo: func(r repo) { r.write("a.txt", "one!!\n") },
	},
	{
		name:   "a staged file is edited again",
		before: func(r repo) { r.write("a.txt", "one!!\n"); r.git("add", "a.txt") },
		do:     func(r repo) { r.write("a.txt", "two!!\n") }, undo: func(r repo) { r.write("a.txt", "one!!\n") },
	},
	{
		name: "an untracked file appears",
		do:   func(r repo) { r.write("new/deep/c.txt", "x") }, undo: func(r repo) { r.remove("new") },
	},
	{
		name:   "an untracked file is edited",
		before: func(r repo) { r.write("c.txt", "x") },
		do:     func(r repo) { r.write("c.txt", "y") }, undo: func(r repo) { r.write("c.txt", "x") },
	},
	{
		name:   "an untracked file is emptied",
		before: func(r repo) { r.write("c.txt", "x") },
		do:     func(r repo) { r.write("c.txt", "") }, undo: func(r repo) { r.write("c.txt", "x") },
	},
	{
		name: "a file is deleted",
		do:   func(r repo) { r.remove("a.txt") }, undo: func(r repo) { r.write("a.txt", "alpha\n") },
	},
	{
		name: "a file is deleted with git rm",
		do:   func(r repo) { r.git("rm", "-q", "a.txt") }, undo: func(r repo) { r.git("reset", "-q", "--hard") },
	},
	{
		name: "a file is renamed",
		do:   func(r repo) { r.git("mv", "a.txt", "z.txt") }, undo: func(r repo) { r.git("mv", "z.txt", "a.txt") },
	},
	{
		name:   "two untracked files change places",
		before: func(r repo) { r.write("c.txt", "x"); r.write("d.txt", "y") },
		do:     func(r repo) { r.write("c.txt", "y"); r.write("d.txt", "x") }, undo: func(r repo) { r.write("c.txt", "x"); r.write("d.txt", "y") },
	},
	{
		name: "a file is made executable",
		do:   func(r repo) { must(r.t, os.Chmod(r.path("a.txt"), 0o755)) }, undo: func(r repo) { must(r.t, os.Chmod(r.path("a.txt"), 0o644)) },
	},
	{
		name:   "an untracked file is made executable",
		before: func(r repo) { r.write("c.sh", "x") },
		do:     func(r repo) { must(r.t, os.Chmod(r.path("c.sh"), 0o755)) }, undo: func(r repo) { must(r.t, os.Chmod(r.path("c.sh"), 0o644)) },
	},
	{
		name:   "a link gets another target of the same length and content",
		before: func(r repo) { r.write("one", "x"); r.write("two", "x"); must(r.t, os.Symlink("one", r.path("link"))) },
		do:     func(r repo) { r.remove("link"); must(r.t, os.Symlink("two", r.path("link"))) },
		undo:   func(r repo) { r.remove("link"); must(r.t, os.Symlink("one", r.path("link"))) },
	},
	{
		name: "a file becomes a link",
		do:   func(r repo) { r.remove("a.txt"); must(r.t, os.Symlink("alpha\n", r.path("a.txt"))) },
		undo: func(r repo) { r.remove("a.txt"); r.write("a.txt", "alpha\n") },
	},
	{
		name: "a file becomes a directory",
		do:   func(r repo) { r.remove("a.txt"); r.write("a.txt/a.txt", "alpha\n") },
		undo: func(r repo) { r.remove("a.txt"); r.write("a.txt", "alpha\n") },
	},
	{
		name: "a name that git would quote",
		do:   func(r repo) { r.write("ä \"b\"\tc", "x") }, undo: func(r repo) { r.remove("ä \"b\"\tc") },
	},
	{
		name: "a merge that conflicts",
		before: func(r repo) {
			r.git("checkout", "-q", "-b", "other")
			r.write("a.txt", "other\n")
			r.commit("other")
			r.git("checkout", "-q", "main")
			r.write("a.txt", "main\n")
			r.commit("main")
		},
		do: func(r repo) {
			if out, err := gitMayFail(r, "merge", "-q", "other"); err == nil {
				r.t.Fatal("no conflict", out)
			}
		},
		undo: func(r repo) { r.git("merge", "--abort") },
	},
}

func TestEveryKindOfChangeIsSeen(t *testing.T) {
	t.Parallel()
	for n, s := range steps {
		if n%rounds.Step(1) != 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := withFiles(t)
			if s.before != nil {
				s.before(r)
			}
			tree := open(t, r.dir)
			before := lookBoth(t, tree)
			if again := look(t, tree); again != before {
				t.Fatalf("nothing was done: %v became %v", before, again)
			}
			s.do(r)
			changed := lookBoth(t, tree)
			if changed.Content == before.Content {
				t.Errorf("not seen: the content is still %v", before.Content)
			}
			if changed.Commit != before.Commit {
				t.Errorf("commit %s became %s", before.Commit, changed.Commit)
			}
			s.undo(r)
			if back := lookBoth(t, tree); back != before {
				t.Errorf("undone, but %v became %v", before, back)
			}
			// The same state, now committed, is the same content.
			s.do(r)
			r.git("add", "-A")
			if staged := lookBoth(t, tree); staged != changed {
				t.Errorf("git add alone is no change, but %v became %v", changed, staged)
			}
			r.commit("all")
			committed := lookBoth(t, tree)
			if committed.Content != changed.Content {
				t.Errorf("committed, %v became %v", changed.Content, committed.Content)
			}
			if committed.Commit == changed.Commit {
				t.Error("the commit was not seen")
			}
		})
	}
}

func gitMayFail(r repo, args ...string) (string, error) {
	cmd := gitCommand(r.dir, args...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestCommits(t *testing.T) {
	r := withFiles(t)
	tree := open(t, r.dir)
	first := lookBoth(t, tree)
	if want := r.git("rev-parse", "HEAD"); first.Commit != want {
		t.Errorf("commit %q, want %q", first.Commit, want)
	}
	r.commit("empty")
	empty := lookBoth(t, tree)
	if empty.Commit == first.Commit || empty.Content != first.Content {
		t.Errorf("an empty commit made %v of %v: another commit, the same content", empty, first)
	}
	r.write("a.txt", "other\n")
	r.commit("edit")
	edited := lookBoth(t, tree)
	r.git("revert", "--no-edit", "HEAD")
	reverted := lookBoth(t, tree)
	if reverted.Content != first.Content || edited.Content == first.Content {
		t.Errorf("a revert gives %v, want the content of %v", reverted, first)
	}
	r.git("checkout", "-q", first.Commit) // detached
	if f := lookBoth(t, tree); f != first {
		t.Errorf("checked out again: %v, want %v", f, first)
	}
	// The commit that the tree has last seen is gone.
	r.git("checkout", "-q", "main")
	look(t, tree)
	r.git("reset", "-q", "--hard", first.Commit)
	r.git("reflog", "expire", "--expire=now", "--all")
	r.git("gc", "-q", "--prune=now")
	if f := lookBoth(t, tree); f != first {
		t.Errorf("after gc: %v, want %v", f, first)
	}
}

func TestARepositoryWithoutCommits(t *testing.T) {
	r := newRepo(t)
	tree := open(t, r.dir)
	empty := lookBoth(t, tree)
	r.write("a.txt", "alpha\n")
	one := lookBoth(t, tree)
	if one.Content == empty.Content || one.Commit != "" {
		t.Errorf("%v became %v", empty, one)
	}
	r.commit("first")
	if f := lookBoth(t, tree); f.Content != one.Content || f.Commit == "" {
		t.Errorf("the first commit made %v of %v", f, one)
	}
	r.git("update-ref", "-d", "HEAD") // no commits again, all is staged
	if f := lookBoth(t, tree); f != one {
		t.Errorf("the commit taken back: %v, want %v", f, one)
	}
}

func TestSHA256(t *testing.T) {
	r := newRepo(t, "--object-format=sha256")
	r.write("a.txt", "alpha\n")
	tree := open(t, r.dir)
	one := lookBoth(t, tree)
	r.commit("first")
	if f := lookBoth(t, tree); f.Content != one.Content || len(f.Commit) != 64 {
		t.Errorf("%v became %v", one, f)
	}
}

func TestWhatIsNotSeen(t *testing.T) {
	r := withFiles(t)
	tree := open(t, r.path("sub"), "../state", r.path("out.txt"))
	before := lookBoth(t, tree)
	r.write("x.log", "ignored")
	r.write("build/x", "ignored")
	r.write(".looprun/1/journal.jsonl", "ours")
	r.write("sub/.looprun/1/journal.jsonl", "ours")
	r.write("state/x", "excluded")
	r.write("out.txt", "excluded")
	must(t, os.Chtimes(r.path("a.txt"), must2(os.Stat(r.path("a.txt"))).ModTime().Add(-1e10), must2(os.Stat(r.path("a.txt"))).ModTime().Add(-1e10)))
	if f := lookBoth(t, tree); f != before {
		t.Errorf("%v became %v", before, f)
	}
	r.commit("ours, committed")
	committed := lookBoth(t, tree)
	if committed.Content != before.Content {
		t.Errorf("committed: %v became %v", before, committed)
	}
	r.write(".looprun/1/journal.jsonl", "ours, and more")
	r.remove("out.txt")
	if f := lookBoth(t, tree); f != committed {
		t.Errorf("edited: %v became %v", committed, f)
	}
	// What only begins like them is seen.
	for _, name := range []string{"state2", "out.txt2", ".looprunner/x", "x.git/y", "sub/state"} {
		r.write(name, "x")
		if f := lookBoth(t, tree); f.Content == committed.Content {
			t.Errorf("%s is not seen", name)
		}
		r.remove(strings.Split(name, "/x")[0])
	}
}

func must2[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestTheDirectoryIsIgnored(t *testing.T) {
	r := withFiles(t)
	r.write("build/x", "1")
	tree := open(t, r.path("build"))
	before := lookBoth(t, tree)
	r.write("build/x", "2")
	if f := lookBoth(t, tree); f == before {
		t.Error("a change in an ignored directory that is worked in is not seen")
	}
}

func TestEnvironmentDoesNotMislead(t *testing.T) {
	r := withFiles(t)
	tree := open(t, r.dir)
	want := lookBoth(t, tree)
	other := newRepo(t)
	for name, value := range map[string]string{
		"GIT_DIR": other.path(".git"), "GIT_WORK_TREE": other.dir, "GIT_INDEX_FILE": other.path("index"),
		"GIT_OBJECT_DIRECTORY": other.path("objects"), "GIT_PREFIX": "x/", "GIT_OPTIONAL_LOCKS": "1",
		"GIT_COMMON_DIR": other.path(".git"), "GIT_NAMESPACE": "x", "GIT_CONFIG_PARAMETERS": "'core.bare'='true'",
		"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de",
	} {
		t.Setenv(name, value)
	}
	if f := lookBoth(t, tree); f != want {
		t.Errorf("%v, want %v", f, want)
	}
}

func TestErrorsAreUnknown(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	file := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := Open(file); err == nil {
		t.Error("a file was opened as a tree")
	}
	r := withFiles(t)
	tree := open(t, r.dir)
	want := look(t, tree)
	fails := func(what string) {
		t.Helper()
		if f, err := tree.Fingerprint(context.Background()); err == nil || f.Content != 0 {
			t.Errorf("%s: %v, %v; want an error and unknown", what, f, err)
		}
	}
	r.git("config", "core.repositoryFormatVersion", "99")
	fails("a repository of the future")
	r.git("config", "--file", r.path(".git/config"), "core.repositoryFormatVersion", "0")
	if f := look(t, tree); f != want {
		t.Errorf("repaired: %v, want %v", f, want)
	}
	must(t, os.Rename(r.path(".git/index"), r.path(".git/kept")))
	must(t, os.WriteFile(r.path(".git/index"), []byte("damaged"), 0o600))
	fails("a damaged index")
	must(t, os.Rename(r.path(".git/kept"), r.path(".git/index")))
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if f, err := tree.Fingerprint(done); !errors.Is(err, context.Canceled) || f.Content != 0 {
		t.Errorf("cancelled: %v, %v", f, err)
	}
	if f := look(t, tree); f != want {
		t.Errorf("in the end: %v, want %v", f, want)
	}
}

func TestTooManyFiles(t *testing.T) {
	for _, kind := range []string{"git", "walk"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			if kind == "git" {
				dir = newRepo(t).dir
			}
			for i := range 12 {
				must(t, os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600))
			}
			ctx := context.Background()
			count := func(left int) error {
				if kind == "walk" {
					_, err := walkFiles(ctx, newContents(dir), nil, &left)
					return err
				}
				_, _, err := newRepository(dir).whole(ctx, &left)
				return err
			}
			if err := count(12); err != nil {
				t.Error("at the limit:", err)
			}
			if err := count(11); !errors.Is(err, ErrTooManyFiles) {
				t.Error("over the limit:", err)
			}
		})
	}
}
