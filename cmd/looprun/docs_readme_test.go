//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxReadme is how many words a reader of README.md has before them.
const maxReadme = 700

// Everything that README.md shows is copied into a shell, from the first line to the last, and
// in the long form once more. Only make test is not run: it is what runs this.
func TestDocsReadme(t *testing.T) {
	text := readPage(t, os.DirFS(filepath.Join("..", "..")), "README.md")
	if n := len(strings.Fields(text)); n > maxReadme {
		t.Errorf("README.md has %d words, more than %d", n, maxReadme)
	}
	var script strings.Builder
	for _, b := range blocksOf(text) {
		if b.info != "sh" {
			t.Errorf("line %d: the block %q is not one that a reader copies", b.line, b.info)
		}
		script.WriteString(b.text)
	}
	copied := strings.Replace(script.String(), "\nmake test ", "\nmake -n test ", 1)
	if copied == script.String() || strings.HasPrefix(copied, "make test ") {
		t.Fatal("README.md does not show make test")
	}
	if testing.Short() {
		t.Skip("it builds looprun, and tests packages again and again")
	}
	t.Parallel()
	p := &page{root: t.TempDir(), goFlags: "-trimpath"}
	p.dir = p.root
	keptTests, err := filepath.Abs(filepath.Join("testdata", "docs", "bin"))
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, ".gitconfig", "[url \""+sourceOf(t, p.root)+"\"]\n\tinsteadOf = https://github.com/looprun/looprun\n")
	times := []string{"first", "second"}
	if !everyCombination {
		times = times[:1]
	}
	for _, time := range times {
		out, code := p.shell(t, "PATH="+keptTests+":"+os.Getenv("PATH")+"\n"+copied)
		if code != 0 {
			t.Errorf("the %s time it ends with %d", time, code)
		}
		if lost := unprinted(`
			…done after 3 of 10 iterations…
			…cancelled (loop_detected) after 3 of 10 iterations…
			Installed looprun …
			…done after 3 of 10 iterations…
			…cancelled (loop_detected) after 3 of 10 iterations…exit 101…
			answer: cancel (ci/policy.yaml…
			connected
			…done after 4 of 5 iterations…
			…cancelled (loop_detected)…./fix.sh…TestSlugDropsPunctuation…
		`, out); lost != "" || strings.Contains(out, "not found") {
			t.Errorf("the %s time %q is not printed:\n%s", time, lost, out)
		}
	}
	if changed := gitIn(t, filepath.Join(p.root, "looprun"), "", "status", "--porcelain"); changed != "" {
		t.Errorf("the clone is left changed:\n%s", changed)
	}
}

// sourceOf is a repository that has what is here, with the changes that are not committed.
func sourceOf(t *testing.T, dir string) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	changes := gitIn(t, root, "", "diff", "--binary", "HEAD")
	if changes == "" {
		return root
	}
	source := filepath.Join(dir, "source")
	gitIn(t, root, "", "clone", "-q", root, source)
	gitIn(t, source, changes, "apply", "--index", "-")
	gitIn(t, source, "", "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-qm", "What is not committed")
	return source
}

// gitIn runs git in a folder and returns what it prints.
func gitIn(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return string(out)
}
