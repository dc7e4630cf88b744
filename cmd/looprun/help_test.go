package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// Every command shows an example in its help, and says what each flag is for.
func TestHelp(t *testing.T) {
	parser, err := kong.New(new(cli), kong.Vars{"version": "test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range parser.Model.Leaves(true) {
		if !strings.Contains(details[n.Path()], "Example:\n  looprun ") {
			t.Errorf("%s has no example", n.Path())
		}
		for _, f := range n.Flags {
			if f.Help == "" || !strings.HasSuffix(f.Help, ".") {
				t.Errorf("%s --%s: the help %q is no sentence", n.Path(), f.Name, f.Help)
			}
		}
	}
}

// The help of a command has all its arguments, flags and commands, within the width
// that it is given.
func TestHelpHasAllWithinItsWidth(t *testing.T) {
	model := model()
	var check func(n *kong.Node)
	check = func(n *kong.Node) {
		for _, width := range []int{40, 80, 100} {
			text := helpOf(n, width)
			for _, flags := range n.AllFlags(true) {
				for _, f := range flags {
					count := 0
					for line := range strings.Lines(text) {
						if strings.HasPrefix(strings.TrimSpace(line)+"  ", strings.Replace(f.String(), "=", " ", 1)+"  ") {
							count++
						}
					}
					if count != 1 {
						t.Errorf("%s: --%s is there %d times", n.Path(), f.Name, count)
					}
					for value := range strings.SplitSeq(f.Enum, ",") { // where the help lists them
						if strings.Contains(f.Help, f.Enum) && !isKey(f) && !strings.Contains(text, value) {
							t.Errorf("%s: of --%s the value %s is broken", n.Path(), f.Name, value)
						}
					}
				}
			}
			for _, leaf := range n.Leaves(true) {
				if !strings.Contains(text, "\n  "+leaf.Path()) {
					t.Errorf("%s: no %s", n.Path(), leaf.Path())
				}
			}
			_, rows, listed := strings.Cut(text, "\nFlags:\n")
			if !listed {
				_, rows, _ = strings.Cut(text, "\nWhat runs:\n")
			}
			for line := range strings.Lines(rows) {
				if flag := strings.HasPrefix(strings.TrimSpace(line), "-"); len(strings.Fields(line)) > map[bool]int{false: 1, true: 2}[flag] && len([]rune(line)) > width+len("\n") {
					t.Errorf("%s: of %d columns %d are taken: %s", n.Path(), width, len(line)-1, line)
				}
			}
		}
		for _, child := range n.Children {
			check(child)
		}
	}
	for _, child := range model.Children {
		check(child)
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
		named = append(named, strings.Split(e[0], ", ")...)
	}
	slices.Sort(named)
	if !slices.Equal(named, given) {
		t.Errorf("named are\n%s\nthe command gets\n%s", named, given)
	}
}

// The help without a command fits a screen, and has every command and no flag that
// is none.
func TestHelpFitsAScreen(t *testing.T) {
	model := model()
	text := topHelp()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 24 {
		t.Errorf("it has %d lines", len(lines))
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,.\n", r) })
	topics := topicsHelp(80)
	for _, n := range model.Children {
		if rare := n.Tag.Get("in") == "rare"; !n.Hidden && slices.Contains(words, n.Name) == rare {
			t.Errorf("%s: rare is %v", n.Name, rare)
		} else if rare && !strings.Contains(topics, "looprun help "+n.Name+" ") {
			t.Errorf("the topics lack %s", n.Name)
		}
	}
	known := []string{}
	for _, f := range flagsFor(model.Node) {
		known = append(known, f.Name)
	}
	for _, word := range words {
		if flag, ok := strings.CutPrefix(word, "--"); ok && flag != "" && flag != "help" && !slices.Contains(known, flag) {
			t.Errorf("there is no %s", word)
		}
	}
}

// The help of run is short: what people type, a line each; all else is a key.
func TestHelpOfRunIsShort(t *testing.T) {
	text := helpOf(testModel(t).DefaultCmd, 80)
	lines, flags := 0, 0
	for line := range strings.Lines(text) {
		lines++
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
		if strings.HasPrefix(strings.TrimSpace(line), "-") {
			flags++
		}
	}
	if lines > 50 || flags > 35 || flags < 25 {
		t.Errorf("it has %d lines and %d flags", lines, flags)
	}
}

// Flags that a usage says to exclude each other are refused together.
func TestExclusiveFlags(t *testing.T) {
	model := model()
	t.Chdir(t.TempDir())
	t.Setenv("LOOPRUN", "")
	t.Setenv("LOOPRUN_SOCKET", "")
	if code, said := executed(t, "--config", "none", "--max-iterations", "1", "--non-interactive", "--", "false"); code != 110 {
		t.Fatalf("a run to look at ended with %d: %s", code, said)
	}
	pairs := 0
	for _, n := range model.Leaves(true) {
		flag := func(name string) string {
			if strings.HasPrefix(name, "<") {
				return "x=1"
			}
			i := slices.IndexFunc(n.Flags, func(f *kong.Flag) bool { return "--"+f.Name == name })
			if i < 0 {
				t.Fatalf("%s has no %s", n.Path(), name)
			}
			switch f := n.Flags[i]; {
			case f.IsBool():
				return name
			case f.Enum != "":
				return name + "=" + f.EnumSlice()[0]
			case name == "--older-than":
				return name + "=1d"
			}
			return name + "=1"
		}
		for _, two := range exclusive(n) {
			pairs++
			args := append(strings.Fields(n.Path()), flag(two[0]), flag(two[1]))
			switch n.Path() {
			case "run":
				args = append(args, "--", "true")
			case "ask":
				args = append(args, "Is it?")
			case "hook install", "hook remove":
				args = append(args, "claude")
			case "policy test", "template preview":
				args = append(args, "max_iterations")
			}
			code, said := executed(t, args...)
			// Whoever looks at a configuration that is wrong is told.
			other := two[1]
			if strings.HasPrefix(other, "<") {
				other = strings.TrimLeft(strings.Fields(n.Positional[0].Name)[0], "<")
				other, _, _ = strings.Cut(other, "=")
			}
			if code != 125 && n.Path() != "config show" || !strings.Contains(said, two[0]) && !strings.Contains(said, "-i ") || !strings.Contains(said, other) {
				t.Errorf("%q: exit code %d: %s", args, code, said)
			}
		}
	}
	if pairs < 6 {
		t.Errorf("only %d pairs were tried", pairs)
	}
}

// executed runs looprun in this process, and returns what it says on standard error.
func executed(t *testing.T, args ...string) (int, string) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	to, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	code, _ := execute(args, null, null, to)
	said, err := os.ReadFile(to.Name())
	if err != nil {
		t.Fatal(err)
	}
	return code, string(said)
}
