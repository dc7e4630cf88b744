package session

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/config"
)

// The script of a check is the first word of its line, or the file that a shell is given; what
// is no file of text is none.
func TestScriptOf(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"t.sh": "exit 0\n", "program": "\x7fELF\x00\x01", "large": strings.Repeat("#\n", scriptMost)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	absolute := filepath.Join(dir, "t.sh")
	for line, want := range map[string]string{
		"./t.sh": "t.sh", "./t.sh a b": "t.sh", "./t.sh; true": "t.sh", "./t.sh|cat": "t.sh", "./t.sh>out": "t.sh", `"./t.sh" x`: "t.sh",
		"A=1 B= ./t.sh": "t.sh", "sh t.sh": "t.sh", "sh ./t.sh": "t.sh", "/bin/bash t.sh": "t.sh", "bash -e -u t.sh": "t.sh", "bash -o pipefail t.sh": "t.sh", "bash -e t.sh x": "t.sh", "bash -o t.sh": "t.sh",
		"bash --norc t.sh": "t.sh", "sh <<x": "", "./t.sh && ./program": "t.sh",
		"": "", "A=1": "", "t.sh": "", "make ./t.sh": "", "sh": "", "sh -e": "", "sh -c ./t.sh": "", "bash -ec ./t.sh": "", "./$X/t.sh": "", "./*.sh": "",
		"./nowhere.sh": "", "./folder": "", "./program": "", "./large": "", "a/b=c ./t.sh": "", `'A'=1 ./t.sh`: "", "=1 ./t.sh": "",
	} {
		got := scriptOf(line, dir)
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if runtime.GOOS != "windows" && scriptOf(absolute, t.TempDir()) != absolute {
		t.Errorf("%s is not found", absolute)
	}
}

// A pattern protects files by their path, and a folder with all that is in it.
func TestProtected(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.go", "a_test.go", "t/b_test.go", "t/u/c_test.go", "t/[x].txt", ".git/d_test.go", "v/.git/e_test.go"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	protects := func(patterns ...string) ([]string, error) {
		s := &Session{dir: dir, opts: &config.Options{}}
		s.opts.Protect = patterns
		files, err := s.protected()
		var names []string
		for name, hash := range files {
			if hash == 0 {
				t.Errorf("%s has no hash", name)
			}
			names = append(names, name)
		}
		slices.Sort(names)
		return names, err
	}
	for pattern, want := range map[string]string{
		"a.go": "a.go", "*_test.go": "a_test.go", "**/*_test.go": "a_test.go t/b_test.go t/u/c_test.go", "t": "t/[x].txt t/b_test.go t/u/c_test.go",
		"t/**": "t/[x].txt t/b_test.go t/u/c_test.go", "t/?_test.go": "t/b_test.go", "t/*/c_test.go": "t/u/c_test.go", "?.go": "a.go", "t/[a-c]_test.go": "t/b_test.go",
		filepath.Join(dir, "a.go"): "a.go",
	} {
		if got, err := protects(pattern); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s protects %q, %v", pattern, got, err)
		}
	}
	for _, pattern := range []string{"nothing*", "nowhere/**", "t/[.go", ".git/**"} {
		if got, err := protects(pattern); err == nil {
			t.Errorf("%s protects %q", pattern, got)
		}
	}
	for i := range protectMost + 1 {
		if err := os.WriteFile(filepath.Join(dir, "t", fmt.Sprint("f", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := protects("t/**"); err == nil || !strings.Contains(err.Error(), "more than 2000 files") {
		t.Errorf("too many: %v", err)
	}
}
