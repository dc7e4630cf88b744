package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// Every command shows an example in its help, and says what each flag is for.
func TestHelp(t *testing.T) {
	parser, err := kong.New(new(cli), kong.Vars{"version": "test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range parser.Model.Leaves(true) {
		if !strings.Contains(n.Detail, "Example:\n  looprun ") {
			t.Errorf("%s has no example", n.Path())
		}
		for _, f := range n.Flags {
			if f.Help == "" || !strings.HasSuffix(f.Help, ".") {
				t.Errorf("%s --%s: the help %q is no sentence", n.Path(), f.Name, f.Help)
			}
		}
	}
}

// The help of run names the variables that the command and its check get, and no
// others.
func TestHelpNamesTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"LOOPRUN", "LOOPRUN_SOCKET"} { // the tests may run inside a run
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	args := []string{"--config", "none", "--no-precheck", "--check", "env >check", "--", "sh", "-c", "env >work"}
	if code, _ := execute(args, null, null, null); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	var given []string
	for _, name := range []string{"work", "check"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "LOOPRUN") {
				given = append(given, name)
			}
		}
	}
	slices.Sort(given)
	given = slices.Compact(given)
	var named []string
	for _, e := range commandEnvironment() {
		named = append(named, strings.Split(e.Term, ", ")...)
	}
	slices.Sort(named)
	if !slices.Equal(named, given) {
		t.Errorf("named are\n%s\nthe command gets\n%s", named, given)
	}
	for line := range strings.Lines(environmentHelp()) {
		if len(line) > 80+len("\n") {
			t.Errorf("the help has the line %q", line)
		}
	}
}
