package workspace

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/looprun/looprun/signature"
)

// gitEnd ends a process that a test has started.
func gitEnd(t *testing.T, pid string) {
	t.Helper()
	must(t, exec.Command("kill", strings.TrimSpace(pid)).Run())
}

func (r repo) at(name string) repo { return repo{r.t, r.path(name)} }

func TestRepositoriesWithinTheRepository(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(r repo) repo{
		"submodule": func(r repo) repo {
			r.git("submodule", "--quiet", "add", withFiles(r.t).dir, "module")
			r.commit("with a submodule")
			return r.at("module")
		},
		"submodule in a submodule": func(r repo) repo {
			outer := withFiles(r.t)
			outer.git("submodule", "--quiet", "add", withFiles(r.t).dir, "inner")
			outer.commit("with a submodule")
			r.git("submodule", "--quiet", "add", outer.dir, "module")
			r.git("submodule", "--quiet", "update", "--init", "--recursive")
			r.commit("with both")
			return r.at("module/inner")
		},
		"submodule that is to be ignored": func(r repo) repo {
			r.git("submodule", "--quiet", "add", withFiles(r.t).dir, "module")
			r.git("config", "--file", ".gitmodules", "submodule.module.ignore", "all")
			r.commit("with a submodule")
			return r.at("module")
		},
		"untracked repository": func(r repo) repo {
			r.git("clone", "-q", withFiles(r.t).dir, "module")
			return r.at("module")
		},
		"untracked repository without commits": func(r repo) repo {
			r.git("init", "-q", "module")
			m := r.at("module")
			m.write("a.txt", "alpha\n")
			return m
		},
	}
	for name, make := range kinds {
		if testing.Short() && name != "submodule" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := withFiles(t)
			m := make(r)
			tree := open(t, r.dir)
			clean := lookBoth(t, tree)
			m.write("a.txt", "one!!\n")
			one := lookBoth(t, tree)
			m.write("a.txt", "two!!\n")
			two := lookBoth(t, tree)
			m.write("a.txt", "alpha\n")
			m.write("new.txt", "x")
			untracked := lookBoth(t, tree)
			m.write("new.txt", "y")
			again := lookBoth(t, tree)
			seen := map[signature.Hash]bool{}
			for _, f := range []Fingerprint{clean, one, two, untracked, again} {
				seen[f.Content] = true
			}
			if len(seen) != 5 {
				t.Errorf("some of %v %v %v %v %v are the same", clean, one, two, untracked, again)
			}
			m.remove("new.txt")
			if f := lookBoth(t, tree); f != clean {
				t.Errorf("undone: %v, want %v", f, clean)
			}
			m.commit("a commit in it")
			if f := lookBoth(t, tree); f.Content == clean.Content {
				t.Error("a commit in it is not seen")
			}
		})
	}
}

func TestASubmoduleMovesOnAndThatIsCommitted(t *testing.T) {
	r := withFiles(t)
	r.git("submodule", "--quiet", "add", withFiles(t).dir, "module")
	r.commit("with a submodule")
	tree := open(t, r.dir)
	look(t, tree)
	r.at("module").commit("on")
	moved := lookBoth(t, tree)
	r.commit("moved on")
	if f := lookBoth(t, tree); f.Content != moved.Content {
		t.Errorf("committed, %v became %v", moved, f)
	}
	r.git("submodule", "--quiet", "deinit", "-f", "module")
	lookBoth(t, tree)
	r.git("rm", "-q", "module")
	if f := lookBoth(t, tree); f.Content == moved.Content {
		t.Error("the removal of a submodule is not seen")
	}
}

// TestWhatOnlyLooksLikeARepository: git goes on to the repository around it, which
// would be looked at again, within itself.
func TestWhatOnlyLooksLikeARepository(t *testing.T) {
	r := withFiles(t)
	outer := newRepository(r.dir)
	sumOf := func() (d sum) {
		left, seen := MaxFiles, map[string]*repository{}
		must(t, outer.addNested(context.Background(), &d, "sub", seen, &left))
		if len(seen) != 0 {
			t.Error("an ordinary directory was taken for a repository")
		}
		return d
	}
	before := sumOf()
	r.write("a.txt", "outside of it\n")
	if sumOf() != before {
		t.Error("a change beside it is seen as one in it")
	}
	r.write("sub/b.txt", "within it\n")
	if sumOf() == before {
		t.Error("a change in it is not seen")
	}
}

func TestWorktrees(t *testing.T) {
	r := withFiles(t)
	dir := t.TempDir() + "/tree"
	r.git("worktree", "add", "-q", "-b", "side", dir)
	main, side := open(t, r.dir), open(t, dir)
	first := lookBoth(t, main)
	if f := lookBoth(t, side); f != first {
		t.Errorf("the same commit in a worktree: %v, want %v", f, first)
	}
	other := repo{t, dir}
	other.write("a.txt", "edited\n")
	if f := lookBoth(t, side); f == first {
		t.Error("a change in the worktree is not seen there")
	}
	other.commit("edited")
	if f := lookBoth(t, main); f != first {
		t.Errorf("a change in the worktree is seen in the main one: %v, want %v", f, first)
	}
}

func TestSparseCheckout(t *testing.T) {
	r := withFiles(t)
	r.write("left/out.txt", "x")
	r.commit("more")
	tree := open(t, r.dir)
	full := lookBoth(t, tree)
	r.git("sparse-checkout", "set", "sub")
	if _, err := os.Stat(r.path("left/out.txt")); err == nil {
		t.Fatal("not sparse")
	}
	if f := lookBoth(t, tree); f != full {
		t.Errorf("files that are left out count as committed: %v, want %v", f, full)
	}
	r.write("sub/b.txt", "edited\n")
	if f := lookBoth(t, tree); f == full {
		t.Error("a change is not seen")
	}
}
