package git

import (
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A folder that is gone does not read as if git were.
func TestTheFolderIsGone(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	dir := filepath.Join(t.TempDir(), "tree")
	if out, err := Run(t.Context(), dir, nil, "diff"); !errors.Is(err, fs.ErrNotExist) || err.Error() != "git diff: the folder "+dir+" is gone" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestEnvironment(t *testing.T) {
	got := Environ([]string{"A=b", "GIT_DIR=x", "git_index_file=x", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=k", "GIT_CONFIG=x", "LC_ALL=de", "GIT_TERMINAL_PROMPT=1"})
	want := []string{"A=b", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=k", "LC_ALL=de", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=file", "LC_ALL=C", "LANGUAGE="}
	if !slices.Equal(got, want) { // of two with one name the last counts
		t.Errorf("%q, want %q", got, want)
	}
}
