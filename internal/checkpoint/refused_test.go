package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/git"
)

// whereGitFails calls try once for each git that it runs, and has that one fail. What try
// returns must be that failure. A merge-base that fails is left out, as it only costs a parent,
// and so is show, which is the test's own.
func whereGitFails(t *testing.T, try func(n int) error) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is needed")
	}
	bin := t.TempDir()
	left := filepath.Join(bin, "left")
	put(t, filepath.Join(bin, "git"), fmt.Sprintf(`#!/bin/sh
case "$*" in *' merge-base '* | *' show '*) exec '%[2]s' "$@" ;; esac
read -r n <'%[1]s'
echo $((n - 1)) >'%[1]s'
if test "$n" = 1; then echo "refused: $*" >&2; exit 128; fi
exec '%[2]s' "$@"
`, left, real))
	if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for n := 1; n < 100; n++ {
		put(t, left, strconv.Itoa(n)+"\n")
		err := try(n)
		text, readErr := os.ReadFile(left)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if more, _ := strconv.Atoi(strings.TrimSpace(string(text))); more > 0 { // it ran fewer
			if err != nil {
				t.Errorf("no git fails: %v", err)
			}
			if n < 4 {
				t.Errorf("only %d were run", n-1)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("git %d fails: %v", n, err)
		}
	}
	t.Error("there is no end of it")
}

func TestACheckpointWhereGitFails(t *testing.T) {
	top, _ := repository(t)
	whereGitFails(t, func(n int) error {
		put(t, filepath.Join(top, "a"), strconv.Itoa(n))
		k, err := Open(t.Context(), top, t.TempDir(), id)
		if err != nil {
			return err
		}
		_, err = k.Save(t.Context(), "Iteration")
		return err
	})
}

// Another process has made the last checkpoint.
func TestTheNextCheckpointWhereGitFails(t *testing.T) {
	top, run := repository(t)
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(top, "a"), "a")
	save(t, k)
	whereGitFails(t, func(n int) error {
		put(t, filepath.Join(top, "a"), "again "+strconv.Itoa(n))
		k, err := Open(t.Context(), top, t.TempDir(), id)
		if err != nil {
			return err
		}
		commit, err := k.Save(t.Context(), "Iteration")
		if err != nil {
			return err
		}
		if text, err := git.Run(t.Context(), top, nil, "show", commit+":a"); err == nil && text != "again "+strconv.Itoa(n) {
			t.Errorf("checkpoint %s has %q", commit, text)
		}
		return nil
	})
}

// Whatever fails, the files are those of before, or the checkpoint before has them.
func TestARestoreWhereGitFails(t *testing.T) {
	top, run := repository(t)
	a := filepath.Join(top, "a")
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	put(t, a, "first")
	first := save(t, k)
	whereGitFails(t, func(n int) error {
		mine := strconv.Itoa(n)
		put(t, a, mine)
		r, failed := Restore(t.Context(), top, t.TempDir(), id, first, "restoring")
		text, err := os.ReadFile(a)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) == mine {
			return failed
		}
		if kept, err := git.Run(t.Context(), top, nil, "show", r.Before+":a"); err == nil && kept != mine {
			t.Errorf("git %d fails: a is %q now, and %s has %q", n, text, r.Before, kept)
		}
		return failed
	})
}

// A tree is removed where Whole returns a commit: where git cannot say, it returns none.
func TestWholeWhereGitFails(t *testing.T) {
	top, home := repository(t)
	mirror, tree, nested := filepath.Join(home, "mirror.git"), filepath.Join(home, "tree"), filepath.Join(top, "n")
	call := func(args ...string) {
		t.Helper()
		if _, err := git.Run(t.Context(), top, git.Own, args...); err != nil {
			t.Fatal(err)
		}
	}
	call("init", "--quiet", nested)
	call("-C", nested, "commit", "--quiet", "--allow-empty", "-m", "nested")
	call("add", "n")
	call("commit", "--quiet", "-m", "two")
	call("clone", "--quiet", "--bare", top, mirror)
	if err := AddTree(t.Context(), mirror, tree, "HEAD"); err != nil {
		t.Fatal(err)
	}
	call("clone", "--quiet", nested, filepath.Join(tree, "n"))
	base, err := Resolve(t.Context(), mirror, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	whereGitFails(t, func(n int) error {
		put(t, filepath.Join(tree, "a"), strconv.Itoa(n))
		commit, err := Whole(t.Context(), mirror, tree, base, t.TempDir(), id)
		for _, unsure := range []string{"is no longer a work tree of", "no commit here has the files of a nested repository"} {
			if err != nil && strings.Contains(err.Error(), unsure) {
				return fmt.Errorf("refused: %w", err) // so it is where git does not say
			}
		}
		if (err == nil) != (commit != "") {
			t.Errorf("%q, %v", commit, err)
		}
		return err
	})
}

// Other commands fail as git does.
func TestOthersWhereGitFails(t *testing.T) {
	top, run := repository(t)
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(top, "a"), "a")
	first := save(t, k)
	whereGitFails(t, func(n int) error {
		if _, err := Last(t.Context(), top, id); err != nil {
			return err
		}
		if _, err := Resolve(t.Context(), top, first); err != nil {
			return err
		}
		if _, err := Diff(t.Context(), top, first, first); err != nil {
			return err
		}
		if err := RemoveTree(t.Context(), top, run, filepath.Join(run, "tree")); err != nil {
			return err
		}
		return Forget(t.Context(), top, id)
	})
}

// A restore overwrites nothing that is in no commit: it names that, and changes nothing.
func TestARestoreOverwritesNothingThatIsInNoCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then string // a file of the checkpoint
		now  string // an ignored file that is in its place now
		lost string
	}{
		"the file":                    {"d/x", "d/x", "d/x"},
		"a folder in its place":       {"x", "x/y", "x/y"},
		"a file in a folder's place":  {"d/x", "d", "d"},
		"a repository in its place":   {"x", "x/.git", "x"},
		"nothing, where a folder was": {"d/x", "e", ""},
		"another in the folder":       {"d/x", "d/y", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top, run := repository(t)
			k, err := Open(t.Context(), top, run, id)
			if err != nil {
				t.Fatal(err)
			}
			then, now := filepath.Join(top, c.then), filepath.Join(top, c.now)
			mkdir(t, filepath.Dir(then))
			put(t, then, "then")
			commit := save(t, k)
			if err := os.RemoveAll(filepath.Join(top, strings.Split(c.then, "/")[0])); err != nil {
				t.Fatal(err)
			}
			save(t, k) // that it is gone: else it is still known, and kept
			mkdir(t, filepath.Join(top, ".git", "info"))
			put(t, filepath.Join(top, ".git", "info", "exclude"), "/"+strings.Split(c.now, "/")[0]+"\n")
			mkdir(t, filepath.Dir(now))
			put(t, now, "now")
			_, err = Restore(t.Context(), top, run, id, commit, "restoring")
			lost, is := errors.AsType[*LostError](err)
			if is != (c.lost != "") || is && strings.Join(lost.Files, " ") != c.lost || !is && err != nil {
				t.Errorf("%v, want %q", err, c.lost)
			}
			if text, err := os.ReadFile(now); err != nil || string(text) != "now" {
				t.Errorf("%s has %q now, %v", c.now, text, err)
			}
			if text, err := os.ReadFile(then); c.lost == "" && (err != nil || string(text) != "then") {
				t.Errorf("%s has %q, %v", c.then, text, err)
			}
		})
	}
}

// A file that the checkpoint has as it is now is not looked at: in a sparse work tree something else
// may be in its place. Where one cannot be looked at, nothing is changed.
func TestARestoreLooksAtWhatItChanges(t *testing.T) {
	t.Parallel()
	top, run := repository(t)
	call := func(env []string, args ...string) string {
		t.Helper()
		out, err := git.Run(t.Context(), top, append(env, git.Own...), args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	x, d := filepath.Join(top, "x"), filepath.Join(top, "d")
	mkdir(t, d)
	put(t, filepath.Join(d, "y"), "y")
	call(nil, "add", "d/y")
	call(nil, "update-index", "--skip-worktree", "d/y")
	mkdir(t, filepath.Join(top, ".git", "info"))
	put(t, filepath.Join(top, ".git", "info", "exclude"), "/d\n")
	if err := os.RemoveAll(d); err != nil {
		t.Fatal(err)
	}
	put(t, d, "mine")
	put(t, x, "then")
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	first := save(t, k)
	put(t, x, "now")
	restore := func(commit, x string) error {
		t.Helper()
		_, err := Restore(t.Context(), top, run, id, commit, "restoring")
		for name, want := range map[string]string{"x": x, "d": "mine"} {
			if text, err := os.ReadFile(filepath.Join(top, name)); err != nil || string(text) != want {
				t.Errorf("%s has %q, %v", name, text, err)
			}
		}
		return err
	}
	if err := restore(first, "then"); err != nil {
		t.Error(err)
	}
	own := []string{"GIT_INDEX_FILE=" + filepath.Join(run, "index")}
	call(own, "update-index", "--add", "--cacheinfo", "100644,"+call(nil, "rev-parse", first+":x")+","+strings.Repeat("n", 300)+"/x")
	long := call(nil, "commit-tree", "-m", "long", call(own, "write-tree"))
	if err := restore(long, "then"); err == nil {
		t.Error("a folder has a name that is too long")
	}
}

// Neither what a link leads to nor a folder that cannot be read is overwritten: the link that is
// kept makes room for the folder that was in its place, and the folder stays, with all else.
func TestARestoreInThePlaceOfAFolder(t *testing.T) {
	t.Parallel()
	top, run := repository(t)
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	way, elsewhere, x := filepath.Join(top, "way"), filepath.Join(top, "elsewhere"), filepath.Join(top, "x")
	is := func(name, want string) {
		t.Helper()
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
	mkdir(t, filepath.Join(top, ".git", "info"))
	put(t, filepath.Join(top, ".git", "info", "exclude"), "/elsewhere\n/x\n")
	mkdir(t, way)
	put(t, filepath.Join(way, "a"), "then")
	first := save(t, k)
	if err := os.Rename(way, elsewhere); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(elsewhere, "a"), "now")
	if err := os.Symlink("elsewhere", way); err != nil {
		t.Skip(err)
	}
	link := save(t, k)
	if _, err := Restore(t.Context(), top, run, id, first, "restoring"); err != nil {
		t.Error(err)
	}
	is(filepath.Join(way, "a"), "then")
	is(filepath.Join(elsewhere, "a"), "now")

	put(t, x, "a file")
	if _, err := git.Run(t.Context(), top, k.env(), "add", "-f", "x"); err != nil {
		t.Fatal(err)
	}
	with := save(t, k)
	if _, err := Restore(t.Context(), top, run, id, link, "restoring"); err != nil {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("it has no path that is too long")
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Join("x", strings.Repeat(strings.Repeat("n", 200)+"/", 30)), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), top, run, id, with, "restoring"); err == nil {
		t.Error("a folder whose paths are too long was read")
	}
	is(filepath.Join(way, "a"), "now") // it is the link still
}

// A nested repository stays as it is: its new commits do not stop a restore, and nothing is put in
// its place.
func TestARestoreBesideARepository(t *testing.T) {
	t.Parallel()
	top, run := repository(t)
	k, err := Open(t.Context(), top, run, id)
	if err != nil {
		t.Fatal(err)
	}
	nested := filepath.Join(top, "nested")
	commits := func() {
		t.Helper()
		for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "one"}} {
			if _, err := git.Run(t.Context(), nested, git.Own, args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(t, nested, "a file")
	file := save(t, k)
	if err := os.Remove(nested); err != nil {
		t.Fatal(err)
	}
	mkdir(t, nested)
	commits()
	put(t, filepath.Join(top, "x"), "then")
	with := save(t, k)
	commits()
	put(t, filepath.Join(top, "x"), "now")
	r, err := Restore(t.Context(), top, run, id, with, "restoring")
	if text, readErr := os.ReadFile(filepath.Join(top, "x")); err != nil || readErr != nil || string(text) != "then" || strings.Join(r.Nested, " ") != "nested" || !strings.HasSuffix(r.Except(), "nested") {
		t.Errorf("%+v, %v; x has %q, %v", r, err, text, readErr)
	}
	if last, err := git.Run(t.Context(), top, nil, "log", "-1", "--format=%s", Ref(id)); err != nil || !strings.HasPrefix(last, "restoring") {
		t.Errorf("the last checkpoint is %q, %v", last, err)
	}
	_, err = Restore(t.Context(), top, run, id, file, "restoring")
	if lost, is := errors.AsType[*LostError](err); !is || strings.Join(lost.Files, " ") != "nested" {
		t.Errorf("a file would be put in its place: %v", err)
	}
	if all, err := Nested(t.Context(), top, with); err != nil || strings.Join(all, " ") != "nested" {
		t.Errorf("it has %q, %v", all, err)
	}
	empty, err := git.Run(t.Context(), top, nil, "hash-object", "-t", "tree", "--stdin", "-w")
	if err != nil {
		t.Fatal(err)
	}
	if all, err := Nested(t.Context(), top, empty); err != nil || all != nil {
		t.Errorf("an empty tree has %q, %v", all, err)
	}
	if (Restored{}).Except() != "" {
		t.Error("there is no exception")
	}
}
