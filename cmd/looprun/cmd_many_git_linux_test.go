package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/rounds"
)

// refusingGit is a git of which one call fails.
type refusingGit struct{ dir, real string }

func newRefusingGit(t *testing.T) refusingGit {
	t.Helper()
	needs(t, "git")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	g := refusingGit{t.TempDir(), real}
	script := fmt.Sprintf(`#!/bin/sh
printf x >>'%[1]s/calls'
read -r calls <'%[1]s/calls' # has no end of a line: read sets it and fails
read -r refused <'%[1]s/refused'
if test ${#calls} -eq "$refused"; then echo "refused: $*" >&2; exit 128; fi
exec '%[2]s' "$@"
`, g.dir, real)
	if err := os.WriteFile(filepath.Join(g.dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return g
}

// each lets try run looprun once for every seventh git that it starts, which fails then; in the
// long form of the tests once for each.
func (g refusingGit) each(t *testing.T, try func(n int, run func(s *started) int)) {
	t.Helper()
	for n := 1; ; n += rounds.Step(7) {
		if n > 500 {
			t.Fatal("there is no end of it")
		}
		if err := os.WriteFile(filepath.Join(g.dir, "refused"), fmt.Appendln(nil, n), 0o600); err != nil {
			t.Fatal(err)
		}
		calls := 0
		try(n, func(s *started) int {
			t.Helper()
			_ = os.Remove(filepath.Join(g.dir, "calls"))
			s.Env = append(s.Env, "PATH="+g.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			code := s.ended(t)
			text, _ := os.ReadFile(filepath.Join(g.dir, "calls"))
			calls = len(text)
			return code
		})
		if t.Failed() {
			t.Fatalf("git %d of %d failed", n, calls)
		}
		if calls < n {
			return
		}
	}
}

// held lists where the file of a loop's result is: on a ref of the user's repository, of the
// mirror, or in a work tree.
func held(t *testing.T, dir string) (places []string) {
	t.Helper()
	mirrors, _ := filepath.Glob(filepath.Join(dir, "disk", "trees", "*", "mirror.git"))
	for _, in := range append([]string{filepath.Join(dir, "project")}, mirrors...) {
		out, _ := exec.Command("git", "-C", in, "for-each-ref", "--format=%(refname)", "refs/looprun").Output()
		for _, ref := range strings.Fields(string(out)) {
			if text, err := exec.Command("git", "-C", in, "show", ref+":result.txt").Output(); err == nil && string(text) == "RESULT\n" {
				places = append(places, in+" "+ref)
			}
		}
	}
	trees, _ := filepath.Glob(filepath.Join(dir, "disk", "trees", "*", "*", "*", "result.txt"))
	return append(places, trees...)
}

// batch has a loop for each value, which makes a result. That of a is done.
func batch(t *testing.T, dir, values string) *started {
	t.Helper()
	repositoryIn(t, filepath.Join(dir, "project"))
	return readyMany(t, dir, "--for", values, "--max-iterations", "1", "--detached", "deny", "--", "sh", "-c", "echo RESULT >result.txt; echo >>'"+filepath.Join(dir, "worked")+"'; test $1 = a", "x", "{}")
}

// Whichever git fails: a loop is done only when its result is on its ref in the user's
// repository, and what it made is somewhere, also after prune.
func TestManyWhereGitFails(t *testing.T) {
	t.Parallel()
	g := newRefusingGit(t)
	g.each(t, func(_ int, run func(*started) int) {
		dir := t.TempDir()
		s := batch(t, dir, "echo a")
		code := run(s)
		places := held(t, dir)
		if code == 0 && (len(places) == 0 || !strings.HasPrefix(places[0], filepath.Join(dir, "project")+" ")) {
			t.Errorf("it is done, and its result is in %q", places)
		}
		if !s.has("worked")() {
			return
		}
		next := readyMany(t, dir, "--keep-trees", "0s", "--for", "echo later", "--", "true")
		prune := ready(t, dir, "prune", "--keep", "0", "--yes")
		prune.Dir = s.Dir
		_, _ = next.Run(), prune.Run() // what is left is an error
		if left := held(t, dir); len(places) == 0 || len(left) == 0 {
			t.Errorf("the result is in %q, and in %q after the next batch and prune", places, left)
		}
	})
}

// Whichever git fails, neither prune nor a rule removes a result that nobody took.
func TestPruneWhereGitFails(t *testing.T) {
	t.Parallel()
	g := newRefusingGit(t)
	dir := t.TempDir()
	if s := batch(t, dir, `printf 'a\nb\n'`); s.Run() == nil { // the tree of b stays
		t.Fatal(s.stderr.String())
	}
	for _, what := range [][]string{{"prune", "--keep", "0", "--yes"}, {"run", "--keep-runs", "runs=1", "--", "true"}} {
		g.each(t, func(_ int, run func(*started) int) {
			s := ready(t, dir, what...)
			s.Dir = filepath.Join(dir, "project")
			run(s)
			if places := held(t, dir); len(places) < 2 || !strings.HasPrefix(places[1], s.Dir+" ") {
				t.Errorf("the results are only in %q", places)
			}
		})
	}
}

// Whichever git fails, take changes nothing of the user's branches or files unless it has taken
// all, and what it has not taken is not taken for prune either.
func TestTakeWhereGitFails(t *testing.T) {
	t.Parallel()
	g := newRefusingGit(t)
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	if s := batch(t, dir, "echo a"); s.Run() != nil {
		t.Fatal(s.stderr.String())
	}
	in := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", project}, args...)...).CombinedOutput()
		if err != nil {
			return err.Error()
		}
		return strings.TrimSpace(string(out))
	}
	head := in("rev-parse", "HEAD")
	g.each(t, func(_ int, run func(*started) int) {
		s := ready(t, dir, "take", "a", "--branch", "taken")
		s.Dir = project
		code := run(s)
		if in("rev-parse", "HEAD") != head || in("status", "--porcelain") != "" || in("symbolic-ref", "HEAD") != "refs/heads/main" {
			t.Errorf("the user's own files are now %s at %s, %s", in("symbolic-ref", "HEAD"), in("rev-parse", "HEAD"), in("status", "--porcelain"))
		}
		taken := in("show", "taken:result.txt") == "RESULT"
		if (code == 0) != taken {
			t.Errorf("take ended with %d, and the branch has the result: %v", code, taken)
		}
		in("branch", "-D", "taken")
		if code != 0 {
			prune := ready(t, dir, "prune", "--keep", "0", "--yes")
			prune.Dir = project
			_ = prune.Run()
		} else if marks, _ := filepath.Glob(filepath.Join(dir, "state", "many", "*", "taken")); len(marks) != 1 || os.RemoveAll(marks[0]) != nil {
			t.Errorf("on record is %q", marks)
		}
		if places := held(t, dir); len(places) == 0 || !strings.HasPrefix(places[0], project+" ") {
			t.Errorf("the result is only in %q", places)
		}
	})
}
