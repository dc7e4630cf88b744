//go:build unix

package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/config"
	"gopkg.in/yaml.v3"

	"github.com/looprun/looprun/core"
)

// foreign are flags of other programs that a page names in code of its own.
var foreign = map[string][]string{
	"docs/install.md":                        {"--build-arg"}, // of docker build
	"docs/assistants.md":                     {"--output-format"},
	"docs/ci/github.md":                      {"--flag"}, // what an input looks like
	"docs/context.md":                        {"--output-format"},
	"docs/more-than-one-machine.md":          {"--asking", "--by", "--drain", "--offers", "--root", "--name", "--queue", "--key-file", "--api-key-file", "--usd", "--keep", "--listen", "--id", "--user"}, // of looprun-fleet
	"docs/recipes/test-fix-with-an-agent.md": {"--max-turns", "--permission-mode", "--allowedTools", "--skip-git-repo-check", "--no-auto-commits", "--auto-test"},
}

// said returns the flags and commands of looprun that the prose of a page names, each with its
// line; a key after -o counts as its flag. Words after " -- " belong to the command that is run.
// In the tables of the page about other tools only the last column is looprun's.
func said(page, text string) (flags, commands []pageLink) {
	for i, line := range unfenced(text) {
		if strings.HasPrefix(line, "|") {
			line = strings.ReplaceAll(line, `\|`, " ")
			if cells := strings.Split(strings.Trim(line, "| "), " | "); page == "docs/migration.md" {
				line = cells[len(cells)-1]
			}
		}
		for _, code := range inlineCode.FindAllString(line, -1) {
			words := strings.Trim(code, "`")
			words = strings.TrimPrefix(words, "args: ")
			words, _, _ = strings.Cut(words, " -- ")
			if !strings.HasPrefix(words, "looprun") && !strings.HasPrefix(words, "-") {
				continue
			}
			for _, key := range regexp.MustCompile(`(?:^| )-o ([a-z_]+)=`).FindAllStringSubmatch(words, -1) {
				flags = append(flags, pageLink{i + 1, "--" + strings.ReplaceAll(key[1], "_", "-")})
			}
			if m := regexp.MustCompile(`^looprun ([a-z]+)`).FindStringSubmatch(words); m != nil {
				commands = append(commands, pageLink{i + 1, m[1]})
			}
			for _, flag := range regexp.MustCompile(`(?:^| )(--[a-z][a-zA-Z-]*)`).FindAllStringSubmatch(words, -1) {
				flags = append(flags, pageLink{i + 1, flag[1]})
			}
		}
	}
	return flags, commands
}

// use one of all flags and commands that looprun has.
func known(model *kong.Application) (flags, commands []string) {
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			flags = append(flags, "--"+f.Name)
		}
		for _, c := range n.Children {
			commands = append(commands, c.Name)
			walk(c)
		}
	}
	walk(model.Node)
	for _, k := range config.Keys() {
		flags = append(flags, "--"+k.Flag())
		if k.IsBool() {
			flags = append(flags, "--no-"+k.Flag(), "--"+strings.TrimPrefix(k.Flag(), "no-"))
		}
	}
	return append(flags, "--hook-", "--help", "--version"), commands
}

// Pages name no flag and no command that looprun does not have.
func TestDocsNameFlags(t *testing.T) {
	t.Parallel()
	flags, commands := known(testModel(t))
	root := os.DirFS("../..")
	pages, err := pagesBelow(root)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, page := range pages {
		if page != "README.md" && !strings.HasPrefix(page, "docs/") || strings.HasPrefix(page, "docs/decisions/") {
			continue
		}
		text, err := fs.ReadFile(root, page)
		if err != nil {
			t.Fatal(err)
		}
		named, called := said(page, string(text))
		for _, f := range named {
			if checked++; !slices.Contains(flags, f.target) && !slices.Contains(foreign[page], f.target) {
				t.Errorf("%s:%d: looprun has no flag %s", page, f.line, f.target)
			}
		}
		for _, c := range called {
			if checked++; !slices.Contains(commands, c.target) {
				t.Errorf("%s:%d: looprun has no command %s", page, c.line, c.target)
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d were checked: are they still written as they were?", checked)
	}
}

func TestDocsNameFlagsReadsProse(t *testing.T) {
	text := "Use `-o max_cost=2`, `--wait` and `looprun --retry 3 -- cmd --its-own`, `looprun nothing`, `other --flag`.\n```\n`--fenced`\n```\n| `--left` | `args: --right=1` |\n"
	for page, want := range map[string]string{
		"docs/x.md":         "--max-cost --wait --retry --left --right",
		"docs/migration.md": "--max-cost --wait --retry --right",
	} {
		flags, commands := said(page, text)
		var got []string
		for _, f := range flags {
			got = append(got, f.target)
		}
		if strings.Join(got, " ") != want || len(commands) != 1 || commands[0].target != "nothing" {
			t.Errorf("%s: %q and %v, want %q", page, got, commands, want)
		}
	}
}

// step is one of a workflow that uses looprun's action.
type step struct {
	Uses string
	With map[string]string
}

// stepsOf finds the steps that use looprun's action, wherever they stand.
func stepsOf(n *yaml.Node) []step {
	var list []step
	var s step
	if n.Kind == yaml.MappingNode && n.Decode(&s) == nil && strings.HasPrefix(s.Uses, "looprun/looprun@") {
		list = append(list, s)
	}
	for _, c := range n.Content {
		list = append(list, stepsOf(c)...)
	}
	return list
}

// A step that a page shows has inputs that action.yml has, and looprun takes its
// flags.
func TestDocsActionSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and tests packages again and again")
	}
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	root := os.DirFS("../..")
	text, err := fs.ReadFile(root, "action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct{ Inputs map[string]any }
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	pages, err := pagesBelow(root)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		text, err := fs.ReadFile(root, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocksOf(string(text)) {
			var n yaml.Node
			if b.info != "yaml" || yaml.Unmarshal([]byte(b.text), &n) != nil {
				continue
			}
			for _, s := range stepsOf(&n) {
				found++
				where := page + ":" + strconv.Itoa(b.line)
				for input := range s.With {
					if _, ok := action.Inputs[input]; !ok {
						t.Errorf("%s: the action has no input %s", where, input)
					}
				}
				dryRun(t, file, where, s.With["command"], strings.Fields(s.With["args"])...)
			}
		}
	}
	for _, m := range regexp.MustCompile("`args: (-[^`]+)`").FindAllStringSubmatch(readPage(t, root, "docs/migration.md"), -1) {
		found++
		dryRun(t, file, "docs/migration.md", "true", m[1])
	}
	if found < 8 {
		t.Errorf("only %d steps and flags were found", found)
	}
}

func readPage(t *testing.T, root fs.FS, name string) string {
	t.Helper()
	text, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func dryRun(t *testing.T, file, where, line string, flags ...string) {
	t.Helper()
	c := exec.Command(file, append([]string{"run", "--dry-run", "--config", "none", "--shell=" + line}, flags...)...)
	c.Dir = t.TempDir()
	if out, err := c.CombinedOutput(); err != nil || line == "" {
		t.Errorf("%s: %q: %v:\n%s", where, flags, err, out)
	}
}

// The tables of the guards and of the exit codes say what the program does.
func TestDocsTables(t *testing.T) {
	root := os.DirFS("../..")
	defaults := core.DefaultLimits()
	shown := map[core.GuardID]string{
		core.MaxIterations: strconv.Itoa(defaults.Iterations), core.MaxRuntime: "15m",
		core.LoopDetected: strconv.Itoa(defaults.Loop), core.ConsecutiveErrors: strconv.Itoa(defaults.Errors),
	}
	if defaults.Runtime.String() != "15m0s" {
		t.Errorf("the default of max_runtime is %s", defaults.Runtime)
	}
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| .* \\| (\\S+) \\| `((?:--)?[a-z_-]+)` \\|(?: (\\d+) \\|)?$")
	limits := fmt.Sprintf("after %d iterations, %.0f minutes, the same failure %d times or %d errors in a row", defaults.Iterations, defaults.Runtime.Minutes(), defaults.Loop, defaults.Errors)
	if text := strings.Join(strings.Fields(readPage(t, root, "README.md")), " "); !strings.Contains(text, limits) {
		t.Errorf("README.md does not say: %s", limits)
	}
	for page, want := range map[string]int{"docs/guards.md": 8} {
		rows := row.FindAllStringSubmatch(readPage(t, root, page), -1)
		if len(rows) != want {
			t.Errorf("%s: %d guards in the table, want %d", page, len(rows), want)
		}
		for _, m := range rows {
			guard := core.GuardID(m[1])
			if of := cmp.Or(shown[guard], "off"); m[2] != of {
				t.Errorf("%s: the default of %s is %s, not %s", page, guard, of, m[2])
			}
			if code := strconv.Itoa(guard.ExitCode()); m[4] != "" && m[4] != code {
				t.Errorf("%s: the exit code of %s is %s, not %s", page, guard, code, m[4])
			}
		}
	}
	status := regexp.MustCompile("(?m)^\\| (\\d+) \\| `([a-z]+)` \\| (.*) \\|$").FindAllStringSubmatch(readPage(t, root, "docs/exit-codes.md"), -1)
	if len(status) != 15 {
		t.Errorf("docs/exit-codes.md: %d rows of one code, want 15", len(status))
	}
	for _, m := range status {
		want := core.Status(m[2]).ExitCode()
		if strings.HasPrefix(m[3], "nobody reads the output") { // as SIGPIPE would end it
			want = 128 + int(syscall.SIGPIPE)
		}
		if guard := regexp.MustCompile("^`([a-z_]+)`").FindStringSubmatch(m[3]); guard != nil && m[2] == "tripped" {
			want = core.GuardID(guard[1]).ExitCode()
		}
		if m[1] != strconv.Itoa(want) {
			t.Errorf("docs/exit-codes.md: %s (%s) is %d, not %s", m[2], m[3], want, m[1])
		}
	}
}

// The page about running names each variable that a command gets.
func TestDocsVariables(t *testing.T) {
	t.Parallel()
	s := begin(t, t.TempDir(), "--promise", "DONE", "-c", "env; echo DONE")
	if got := s.ended(t); got != 0 {
		t.Fatalf("ended with %d", got)
	}
	page := readPage(t, os.DirFS("../.."), "docs/running.md")
	given := regexp.MustCompile(`(?m)^(LOOPRUN\w*)=`).FindAllStringSubmatch(s.stdout.String(), -1)
	if len(given) < 14 {
		t.Errorf("only %d variables were given", len(given))
	}
	for _, m := range given {
		if !strings.Contains(page, "`"+m[1]+"`") {
			t.Errorf("docs/running.md does not name %s", m[1])
		}
	}
}

var (
	testCommand = regexp.MustCompile("(?m)(?:^|`)go test ([^`\n]*)")
	testPattern = regexp.MustCompile(`-(?:run|fuzz|bench) ('[^']*'|\S+)`)
	testName    = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)`)
)

// testsIn are the names of a package's tests, and of its scripts.
func testsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go")) // the pattern is good
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range testName.FindAllStringSubmatch(string(text), -1) {
			names = append(names, n[1])
		}
	}
	scripts, _ := filepath.Glob(filepath.Join(dir, "testdata/script/*.txtar"))
	for _, script := range scripts {
		names = append(names, "TestScripts/"+strings.TrimSuffix(filepath.Base(script), ".txtar"))
	}
	return names
}

// notRun are the commands of a page that run nothing: each part of what they choose by
// has to be in the name of a test, or of a script, of their packages.
func notRun(page string, tests func(dir string) []string) (list []string) {
	for _, m := range testCommand.FindAllStringSubmatch(strings.ReplaceAll(page, `\|`, "|"), -1) {
		all := testPattern.FindAllStringSubmatch(m[1], -1)
		if all == nil {
			continue
		}
		chosen := all[len(all)-1] // behind a -run that chooses none
		var names []string
		for _, arg := range strings.Fields(strings.Replace(m[1], chosen[0], "", 1)) {
			if arg == "." || strings.HasPrefix(arg, "./") {
				names = append(names, tests(arg)...)
			}
		}
		for part := range strings.SplitSeq(strings.Trim(chosen[1], "'"), "|") {
			if re, err := regexp.Compile(part); err != nil || !slices.ContainsFunc(names, re.MatchString) {
				list = append(list, m[1]+": nothing is called "+part)
			}
		}
	}
	return list
}

// What a page gives for repeating a test runs one.
func TestDocsNameTests(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	pages, err := pagesBelow(root)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string][]string{}
	tests := func(dir string) []string {
		if known[dir] == nil {
			known[dir] = testsIn(t, filepath.Join("../..", dir))
		}
		return known[dir]
	}
	found := 0
	for _, page := range pages {
		text, err := fs.ReadFile(root, page)
		if err != nil {
			t.Fatal(err)
		}
		found += len(testCommand.FindAllString(string(text), -1))
		for _, problem := range notRun(string(text), tests) {
			t.Errorf("%s: %s", page, problem)
		}
	}
	if found < 25 {
		t.Errorf("only %d commands were found", found)
	}
	for text, want := range map[string]int{
		"`go test -run 'TestDocsNameTests\\|DocsLinks' ./cmd/looprun`": 0, "`go test -run TestScripts/resume$ ./cmd/looprun`": 0, "`go test ./ci`": 0,
		"`go test -run TestDocsNameTests .`": 1, "`go test -run 'TestDocs\\|NoSuchTest' ./cmd/looprun`": 1, "`go test -run TestScripts/nosuch ./cmd/looprun`": 1, "go test -run 'TestDocs|NoSuchTest' ./cmd/looprun\n": 1,
	} {
		if got := notRun(text, tests); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
