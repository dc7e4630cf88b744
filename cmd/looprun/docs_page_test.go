//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
)

// page is one whose commands are run.
type page struct {
	text    string
	root    string // where it began
	dir     string // where its reader is
	goFlags string // for its commands
	printed string // by the last command
}

// open gives a page its folder, and the examples when it needs them.
func open(t *testing.T, text string) *page {
	t.Helper()
	p := &page{text: text, root: t.TempDir(), goFlags: "-trimpath"}
	p.dir = p.root
	if strings.Contains(text, "<!-- examples -->") {
		if err := os.CopyFS(filepath.Join(p.root, "examples"), os.DirFS(filepath.Join("..", "..", "examples"))); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(text, "<!-- module -->") {
		source, err := filepath.Abs(filepath.Join("..", ".."))
		if err != nil {
			t.Fatal(err)
		}
		// It requires what looprun does, so that no module is needed that the tests were not built with.
		here := os.DirFS(source)
		p.write(t, "go.sum", readPage(t, here, "go.sum"))
		p.write(t, "go.mod", strings.Replace(readPage(t, here, "go.mod"), "module github.com/looprun/looprun\n", "module example.com/ledger\n", 1)+
			"\nrequire github.com/looprun/looprun v0.0.0\n\nreplace github.com/looprun/looprun => "+strconv.Quote(source)+"\n")
	}
	if strings.Contains(text, "8080") {
		p.text = strings.ReplaceAll(text, "8080", freePort(t))
	}
	return p
}

// run does what the blocks of a page say.
func (p *page) run(t *testing.T) {
	for _, b := range blocksOf(p.text) {
		u, err := b.use()
		if err != nil {
			t.Errorf("line %d: the block %q: %v", b.line, b.info, err)
			continue
		}
		if program := missing(b.text); program != "" && u.what != "file" && u.what != "not run" {
			t.Logf("line %d is left out: %s is not installed", b.line, program)
			continue
		}
		switch u.what {
		case "file":
			p.write(t, u.file, b.text)
		case "run":
			p.must(t, b.line, b.text, u.exit)
		case "console":
			p.console(t, b, u)
		case "terminal":
			p.terminal(t, b, u)
		case "output":
			p.mustPrint(t, b.line, b.text)
		}
	}
}

func (p *page) write(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// must runs a shell text that has to end with that code.
func (p *page) must(t *testing.T, line int, text string, exit int) {
	t.Helper()
	var code int
	if p.printed, code = p.shell(t, text); code != exit {
		t.Errorf("line %d: exit code %d, want %d:\n%s\n%s", line, code, exit, text, p.printed)
	}
}

func (p *page) mustPrint(t *testing.T, line int, want string) {
	t.Helper()
	if lost := unprinted(want, p.printed); lost != "" {
		t.Errorf("line %d: %q was not printed (there):\n%s", line, lost, p.printed)
	}
}

// missing is a program that the text calls and that is not on this machine.
func missing(text string) string {
	for program, call := range map[string]string{"python3": ".py", "curl": "curl ", "go": "go test", "jq": "examples/assistants/"} {
		if _, err := exec.LookPath(program); err != nil && strings.Contains(text, call) {
			return program
		}
	}
	return ""
}

// ofCI are the variables by which a CI system is known: the reader of a page is
// at a machine of their own, and the tests may not be.
var ofCI = []string{"CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "TF_BUILD"}

// atHome runs a command without what a test run has set.
func atHome(args ...string) *exec.Cmd {
	var unset []string
	for _, name := range append(ofCI, "LOOPRUN_STATE_DIR") {
		unset = append(unset, "-u", name)
	}
	return exec.Command("env", append(unset, args...)...)
}

// standIns are the variables that put before other programs the looprun of this source, the
// stand-ins of the agents, and a go that tests the same files once.
func standIns(t *testing.T) []string {
	t.Helper()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs(filepath.Join("testdata", "docs", "bin"))
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{filepath.Dir(file), dir, os.Getenv("PATH")}, string(filepath.ListSeparator))
	return []string{"PATH=" + path, "GO_TEST_RESULTS=" + filepath.Join(ofAllTests, "go-test")}
}

// environ is what the commands of a page have: the stand-ins, a home of their own, and no
// settings of looprun's.
func (p *page) environ(t *testing.T) []string {
	t.Helper()
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "LOOPRUN") || slices.Contains(ofCI, name) || name == "PYTHONUNBUFFERED"
	})
	env = append(env, standIns(t)...)
	return append(env, "HOME="+p.root, "XDG_STATE_HOME=", "GOCACHE="+goCache(), "GOMODCACHE="+modCache(), "GOPROXY=off",
		"GOFLAGS="+p.goFlags, "GOWORK=off",
		"GIT_CONFIG_GLOBAL="+filepath.Join(p.root, ".gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=reader", "GIT_AUTHOR_EMAIL=reader@localhost", "GIT_COMMITTER_NAME=reader", "GIT_COMMITTER_EMAIL=reader@localhost")
}

// modCache is where the modules are that this source is built with.
var modCache = sync.OnceValue(func() string {
	out, _ := exec.Command("go", "env", "GOMODCACHE").Output() // empty: the command of the page says what is missing
	return strings.TrimSpace(string(out))
})

// shell runs a block as a person does who has no terminal: in a session of its
// own, so that nobody who runs the tests is asked. The next block starts in the folder where
// this one ends.
func (p *page) shell(t *testing.T, text string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Patience)
	defer cancel()
	left := filepath.Join(t.TempDir(), "left")
	c := exec.CommandContext(ctx, "sh", "-c", "trap 'pwd >"+left+"' EXIT\n"+text)
	c.Dir, c.Env = p.dir, p.environ(t)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v:\n%s\n%s", err, text, out)
	}
	if folder, err := os.ReadFile(left); err == nil {
		p.dir = strings.TrimSuffix(string(folder), "\n")
	}
	return string(out), c.ProcessState.ExitCode()
}
