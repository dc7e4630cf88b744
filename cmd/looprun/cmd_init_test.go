package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/project"
)

func TestInitRefusesSeveralLines(t *testing.T) {
	for _, line := range []string{"a\nb", "a\rb", "a\x00b"} {
		if _, err := (&initCmd{Yes: true, Check: config.ShellLine(line)}).setup(&app{}, nil); err == nil || !strings.Contains(err.Error(), "put them into a script") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestInitIgnores(t *testing.T) {
	for _, tt := range []struct{ there, want string }{
		{"", project.IgnoreText},
		{"*\n", project.IgnoreText},
		{"mine\n", "mine\n"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, ".looprun", ".gitignore")
		if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if tt.there != "" {
			if err := os.WriteFile(file, []byte(tt.there), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := project.Write(dir, []project.File{{Name: project.IgnoreName, Data: []byte(project.IgnoreText), Replaces: []byte("*\n")}}, false); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{".": "folder", ".looprun": "folder", ".looprun/.gitignore": tt.want}
		if got := tree(t, dir); !equalTrees(got, want) {
			t.Errorf("%q: %q, want %q", tt.there, got, want)
		}
	}
}

// tree is everything below a folder: names with their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[name] = "folder"
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// All files are written or none: where one cannot be, what was there before is
// there again.
func TestInitWritesAllOrNone(t *testing.T) {
	for _, force := range []bool{false, true} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "kept"), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := tree(t, dir)
		files := []project.File{{Name: "a/b/one", Data: []byte("1")}, {Name: "two", Data: []byte("2")}}
		if force {
			files = append(files, project.File{Name: "kept", Data: []byte("other")})
		}
		// Its name is taken when its turn comes, as if somebody else was faster.
		files = append(files, project.File{Name: "two", Data: []byte("3")})
		if _, err := project.Write(dir, files, force); !errors.Is(err, fs.ErrExist) {
			t.Fatalf("force %v: %v, want that it exists", force, err)
		}
		if after := tree(t, dir); !equalTrees(after, before) {
			t.Errorf("force %v: left is %q, want %q", force, after, before)
		}
	}
}

func equalTrees(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, text := range a {
		if other, ok := b[name]; !ok || other != text {
			return false
		}
	}
	return true
}

var initChecks = []string{
	"go test ./...", "true", "yes", "no", "off", "null", "~", "1", "1.5", "a: b", "a #b", "#x", "- x", "'x'", `"x"`, `\n`, "{a: b}", "[x]", "*x", "&x", "!x", "|", ">",
	"%x", "@x", "`x`", "a && b || c > d 2>&1", "échо", "<a> & b", "\t", "a\u2028b", "make check: \"all\" # 1", "test =",
}
