//go:build unix

package main

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/project"
	"github.com/looprun/looprun/internal/strictyaml"
)

// put writes files below a folder.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// What init writes is used: a project whose tests fail until a file is there.
func TestInitInRealProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and tests packages again and again")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for tool, files := range map[string]map[string]string{
		"go": {
			"go.mod":    "module example.test/x\n\ngo 1.21\n",
			"x_test.go": "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestX(t *testing.T) {\n\tif _, err := os.Stat(\"fixed\"); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n",
		},
		"npm": {"package.json": `{"name": "x", "scripts": {"test": "test -e fixed"}}`},
		"cargo": {
			"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"src/lib.rs": "#[test]\nfn fixed() { assert!(std::path::Path::new(\"fixed\").exists()); }\n",
		},
		"pytest": {"tests/test_x.py": "import os\n\ndef test_x():\n    assert os.path.exists('fixed')\n"},
		"make":   {"Makefile": "test:\n\ttest -e fixed\n"},
	} {
		t.Run(tool, func(t *testing.T) {
			// Some are on the PATH as a shim that has nothing to run.
			if err := exec.Command(tool, cmp.Or(map[string]string{"go": "version"}[tool], "--version")).Run(); err != nil {
				t.Skipf("%s is not installed: %v", tool, err)
			}
			dir := t.TempDir()
			put(t, dir, files)
			for _, args := range [][]string{{"init", "--yes"}, {"config", "check"}, {"policy", "check", project.PolicyName}, {"--", "touch", "fixed"}} {
				s := begin(t, dir, args...)
				if code := s.ended(t); code != 0 {
					t.Fatalf("%q: exit code %d", args, code)
				}
				if args[0] == "--" && !strings.Contains(s.stderr.String(), "done after 1 of 10 iterations") {
					t.Errorf("it was not the check that failed and then passed")
				}
			}
		})
	}
}

// Others must not be able to write what looprun reads, whatever the umask.
func TestInitMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := t.TempDir()
	if _, err := project.Write(dir, []project.File{{Name: "a/x", Data: []byte("x")}}, false); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"a": 0o700, "a/x": 0o644} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", name, info.Mode(), err, want)
		}
	}
}

// Git keeps the schemas, so that a clone has them too, and none of the runs.
func TestInitAndGit(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	if code := begin(t, dir, "init", "--yes", "--check", "true").ended(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	put(t, dir, map[string]string{".looprun/20260102-030405-0a1b/journal.jsonl": "x"})
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	out, err := exec.Command("git", "-C", dir, "ls-files", "--others", "--exclude-standard", ".looprun").Output()
	if want := project.IgnoreName + "\n" + project.PolicySchema + "\n" + project.ConfigSchema + "\n"; err != nil || string(out) != want {
		t.Errorf("git sees %q, want %q: %v", out, want, err)
	}
}

const keyEnter = "\r"

// initAt starts looprun init at a terminal, in a folder with these files.
func initAt(t *testing.T, files map[string]string) *wizard {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, files)
	return &wizard{screen: onTerminalWith(t, dir, "XDG_STATE_HOME="+t.TempDir(), "init")}
}

// wizard is looprun init at a terminal.
type wizard struct {
	*screen
	seen int // how much of what was shown is about questions that are answered
}

// enter waits until a question can be answered, types the words and presses Enter.
func (s *wizard) enter(t *testing.T, question, words string) {
	t.Helper()
	since := func() string {
		_, after, _ := strings.Cut(s.stdout.String()[s.seen:], question)
		return after
	}
	until(t, question, func() bool { return strings.Contains(since(), "type the answer") })
	if words != "" {
		s.keys(t, words)
		until(t, words+" is shown", func() bool { return strings.Contains(since(), "> "+words) })
	}
	// An Enter that comes as fast as pasted text is a blank, which is no matter.
	s.press(t, keyEnter, question+" is answered", func() bool { return strings.Contains(since(), "Answer: ") })
	s.seen = strings.LastIndex(s.stdout.String(), "Answer: ")
}

func TestInitAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := initAt(t, map[string]string{"go.mod": "", "Makefile": "test:"})
	s.enter(t, "Which of them is to be tested?", "maek")
	s.enter(t, `did you mean "make"?`, "make")
	s.enter(t, "Which shell line judges whether it is done?", "")
	s.enter(t, "How many iterations may a run have?", "0")
	s.enter(t, "write off to turn it off", "7")
	s.enter(t, "Also write a policy", "no")
	if code := s.ended(t); code != 0 {
		t.Fatalf("ended with %d", code)
	}
	b, err := os.ReadFile(s.file(config.Name))
	if err != nil || !strings.Contains(string(b), "\ncheck: make test\n") || !strings.Contains(string(b), "\nmax_iterations: 7\n") {
		t.Errorf("%v\n%s", err, b)
	}
	if inputfile.IsFile(s.file(project.PolicyName)) {
		t.Error("the policy was written")
	}
}

// Ctrl-C, at whichever question, leaves nothing behind. Ctrl-D ends nothing.
func TestInitInterrupted(t *testing.T) {
	t.Parallel()
	for _, answered := range []int{0, 2} {
		for _, first := range []string{"", "\x04"} {
			s := initAt(t, map[string]string{"go.mod": "module x"})
			before := tree(t, s.dir)
			for i, question := range []string{"Which shell line", "How many iterations", "Also write a policy"} {
				if i < answered {
					s.enter(t, question, "")
					continue
				}
				until(t, question, s.shows(question))
				if first != "" {
					s.press(t, first, "it says so", s.shows("Ctrl-D does nothing"))
				}
				s.press(t, "\x03", "it ends", func() bool { return strings.Contains(s.stdout.String(), "nothing was written") })
				break
			}
			if code, want := s.ended(t), -int(syscall.SIGINT); code != want {
				t.Errorf("%q after %d answers: ended with %d, want %d", first, answered, code, want)
			}
			if after := tree(t, s.dir); !equalTrees(after, before) {
				t.Errorf("%q after %d answers: left is %q", first, answered, after)
			}
		}
	}
}

func TestInitIsCorrectWhateverTheCheck(t *testing.T) {
	for _, check := range initChecks {
		s := project.Setup{Check: check, Verify: check, Iterations: "off", Policy: true}
		var into map[string]any
		for _, text := range [][]byte{s.ConfigText(), s.PolicyText()} {
			if _, err := strictyaml.Decode("x", text, &into); err != nil {
				t.Errorf("%q: %v\n%s", check, err, text)
			}
		}
	}
}
