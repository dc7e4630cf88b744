package workspace

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
)

// TestTheIndexIsLeftAlone makes the times in the index stale, so that a plain `git
// status` would write it, as the end of the test shows.
func TestTheIndexIsLeftAlone(t *testing.T) {
	inner := withFiles(t)
	r := withFiles(t)
	r.git("submodule", "--quiet", "add", inner.dir, "module")
	r.commit("with a submodule")
	later := time.Now().Add(time.Hour)
	for _, name := range []string{"a.txt", "sub/b.txt", "module/a.txt"} {
		must(t, os.Chtimes(r.path(name), later, later))
	}
	indexes := []string{r.path(".git/index"), r.path(".git/modules/module/index")}
	var data [][]byte
	var infos []os.FileInfo
	for _, name := range indexes {
		data = append(data, must2(os.ReadFile(name)))
		infos = append(infos, must2(os.Stat(name)))
	}
	same := func(i int) bool {
		info := must2(os.Stat(indexes[i]))
		return bytes.Equal(data[i], must2(os.ReadFile(indexes[i]))) && info.ModTime().Equal(infos[i].ModTime()) && os.SameFile(info, infos[i])
	}
	tree := open(t, r.dir)
	want := lookBoth(t, tree)
	r.write("a.txt", "edited\n")
	r.write("module/new.txt", "x")
	lookBoth(t, tree)
	for i, name := range indexes {
		if !same(i) {
			t.Errorf("%s was written", name)
		}
	}

	// A lock that somebody else holds is no hindrance either.
	must(t, os.WriteFile(r.path(".git/index.lock"), nil, 0o600))
	r.write("a.txt", "alpha\n")
	r.remove("module/new.txt")
	if f := lookBoth(t, tree); f != want {
		t.Errorf("while the index is locked: %v, want %v", f, want)
	}
	must(t, os.Remove(r.path(".git/index.lock")))

	r.git("status")
	for i, name := range indexes {
		if same(i) {
			t.Errorf("plain git status did not write %s: this test shows nothing", name)
		}
	}
}

// TestNothingOfTheUsersIsStarted has a file system monitor and hooks that would
// leave a trace.
func TestNothingOfTheUsersIsStarted(t *testing.T) {
	r := withFiles(t)
	trace := filepath.Join(t.TempDir(), "trace")
	script := filepath.Join(t.TempDir(), "hook")
	must(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"$@\" >>"+trace+"\n"), 0o755))
	must(t, os.Symlink(script, filepath.Join(filepath.Dir(script), "post-index-change")))
	r.git("config", "core.fsmonitor", script)
	r.git("config", "core.hooksPath", filepath.Dir(script))
	r.git("config", "status.showStash", "true")
	r.git("config", "status.relativePaths", "true")
	r.git("config", "status.showUntrackedFiles", "no")
	r.git("config", "core.quotePath", "true")
	tree := open(t, r.path("sub"))
	before := lookBoth(t, tree)
	r.write("new/ä.txt", "x")
	if f := lookBoth(t, tree); f == before {
		t.Error("the user's configuration hides an untracked file")
	}
	if b, err := os.ReadFile(trace); err == nil {
		t.Errorf("started: %s", b)
	}
	r.git("status")
	if _, err := os.ReadFile(trace); err != nil {
		t.Error("plain git status starts no monitor: this test shows nothing")
	}
}

// TestAGitThatHangs is bound by the context, also when a child of git keeps the pipe.
func TestAGitThatHangs(t *testing.T) {
	r := withFiles(t)
	tree := open(t, r.dir)
	want := look(t, tree)
	bin, started := t.TempDir(), filepath.Join(t.TempDir(), "started")
	must(t, os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\nsleep 60 & echo $! >"+started+".tmp; mv "+started+".tmp "+started+"; wait\n"), 0o755))
	path := os.Getenv("PATH")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+path)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		f, err := tree.Fingerprint(ctx)
		if f.Content != 0 {
			t.Error("known, though git said nothing")
		}
		ended <- err
	}()
	var pid []byte
	for len(pid) == 0 {
		pid, _ = os.ReadFile(started)
		time.Sleep(time.Millisecond)
	}
	cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(eventually.Patience):
		t.Fatal("the look does not end with its context")
	}
	gitEnd(t, string(pid))
	t.Setenv("PATH", path)
	if f := look(t, tree); f != want {
		t.Errorf("with git again: %v, want %v", f, want)
	}
}
