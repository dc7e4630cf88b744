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

// Each name has its answer, also one that stands for nothing.
func TestObjects(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := Run(t.Context(), dir, Own, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	git("init", "-q")
	if got, err := Objects(t.Context(), dir, "HEAD^{commit}"); err != nil || !slices.Equal(got, []string{""}) {
		t.Errorf("without a commit: %q, %v", got, err)
	}
	git("commit", "-q", "--allow-empty", "-m", "one")
	want := []string{"", git("rev-parse", "HEAD"), "", git("rev-parse", "HEAD^{tree}")}
	got, err := Objects(t.Context(), dir, "refs/looprun/x^{commit}", "HEAD^{commit}", "^{tree}", "HEAD^{tree}")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if got, err := Objects(t.Context(), dir, "a\nb"); err == nil {
		t.Errorf("two lines are one name: %q", got)
	}
	if got, err := Objects(t.Context(), t.TempDir(), "HEAD"); err == nil {
		t.Errorf("there is no repository: %q", got)
	}
}
