package checkpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/git"
)

// A tree whose making was cut off keeps nobody from fetching, and the others stay.
func TestATreeThatWasCutOff(t *testing.T) {
	t.Parallel()
	top, home := repository(t)
	mirror := filepath.Join(home, "mirror.git")
	whole, cut := filepath.Join(home, "whole"), filepath.Join(home, "cut")
	if _, err := git.Run(t.Context(), home, nil, "clone", "--quiet", "--bare", top, mirror); err != nil {
		t.Fatal(err)
	}
	for _, tree := range []string{whole, cut} {
		if err := AddTree(t.Context(), mirror, tree, "HEAD"); err != nil {
			t.Fatal(err)
		}
	}
	// So it is left by a kill before git has said where the tree is.
	of := filepath.Join(mirror, "worktrees", "cut")
	put(t, filepath.Join(of, "HEAD"), strings.Repeat("0", 40)+"\n")
	put(t, filepath.Join(of, "locked"), "initializing")
	fetch := func() error {
		_, err := git.Run(t.Context(), mirror, nil, "fetch", "--quiet", top, "+refs/heads/*:refs/remotes/origin/*")
		return err
	}
	if err := fetch(); err == nil {
		t.Log("this git fetches all the same")
	}
	ForgetCutTrees(mirror)
	if err := fetch(); err != nil {
		t.Error(err)
	}
	if _, err := git.Run(t.Context(), whole, nil, "status"); err != nil {
		t.Errorf("the other tree: %v", err)
	}
	if _, err := os.Stat(of); err == nil {
		t.Error("it is still known")
	}
	if err := RemoveTree(t.Context(), mirror, cut); err != nil {
		t.Error(err)
	}
	if err := AddTree(t.Context(), mirror, cut, "HEAD"); err != nil {
		t.Errorf("once more: %v", err)
	}
}
