package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/proc"
)

// testSystemConfig names the system's looprun.yaml for a test.
const testSystemConfig = "TEST_SYSTEM_CONFIG"

func TestMain(m *testing.M) {
	// The tests themselves have no guardians: with one they would inherit, and keep, every process
	// whose run is killed.
	if len(os.Args) == 2 && proc.IsGuardian() {
		os.Exit(proc.GuardianMain())
	}
	for name, run := range otherPrograms {
		if value := os.Getenv(name); value != "" {
			os.Exit(run(value))
		}
	}
	if file := os.Getenv(testSystemConfig); file != "" {
		config.SystemFile = file
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup all that is started would ignore it
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	// The tests' runs do not speak for the job that the tests run in.
	for _, name := range []string{"GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "TF_BUILD"} {
		_ = os.Unsetenv(name)
	}
	testscript.Main(apart{m}, map[string]func(){"looprun": main})
}

// otherPrograms are what the test binary is with these variables in the environment.
var otherPrograms = map[string]func(value string) int{}

// apart keeps what the tests' runs note for the user out of the user's own folder.
type apart struct{ *testing.M }

func (a apart) Run() int {
	var err error
	if ofAllTests, err = os.MkdirTemp("", "looprun-tests-"); err == nil {
		err = os.Chmod(ofAllTests, 0o755) // for the runs of other users
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = os.Setenv("XDG_STATE_HOME", filepath.Join(ofAllTests, "state"))
	code := a.M.Run()
	if err := os.RemoveAll(ofAllTests); err != nil && runtime.GOOS == "windows" {
		os.Exit(code) // Wine before 10 removes no folder, for which the tests would be blamed
	}
	return code
}

// ofAllTests is a folder for what tests share; it is removed in the end.
var ofAllTests string

// binary builds looprun once, for a machine that has no looprun.yaml.
var binary = sync.OnceValues(func() (string, error) {
	file := filepath.Join(ofAllTests, "bin", "looprun")
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	system := "-X github.com/looprun/looprun/internal/config.SystemFile=" + filepath.Join(ofAllTests, "etc", "looprun.yaml")
	build := exec.Command("go", "build", "-ldflags", "-s -w "+system, "-o", file, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
})

// inScript sets the looprun that a script runs. The test binary, which is what it finds
// otherwise, starts in three times the time; it is needed to look for races, and can be
// told of another looprun.yaml of the machine.
func inScript(e *testscript.Env) error {
	if raceSlack > 1 || strings.HasPrefix(filepath.Base(e.WorkDir), "script-config_") {
		e.Setenv(testSystemConfig, filepath.Join(e.WorkDir, "etc", "looprun.yaml"))
		return nil
	}
	file, err := binary()
	e.Setenv("PATH", filepath.Dir(file)+string(filepath.ListSeparator)+e.Getenv("PATH"))
	return err
}

// TestScripts runs the binary as a user does. Each script is named by what it
// shows.
func TestScripts(t *testing.T) {
	t.Parallel()
	journals := validator(t, "journal")
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	if testing.Short() {
		files = openings(t, files)
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("LOOPRUN_STATE_DIR", filepath.Join(e.WorkDir, "state"))
			e.Setenv("GOCACHE", goCache())
			e.Setenv("GOFLAGS", "-trimpath")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_STATE_HOME", "")
			e.Defer(func() { // every event that a script makes is one that the schema knows
				if err := journalsFit(journals, filepath.Join(e.WorkDir, "state")); err != nil {
					e.T().Fatal(err)
				}
			})
			return inScript(e)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
		},
	})
}

// openings are the scripts for -short: each goes to the end of the section in which it has
// called looprun, or a script of its own, for the second time. A section begins with a comment after an empty line.
func openings(t *testing.T, files []string) []string {
	t.Helper()
	dir := t.TempDir()
	var short []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(text), "\n-- ")
		opening := ""
		for section := range strings.SplitAfterSeq(script, "\n\n#") {
			if opening += section; strings.Count(opening, "looprun ")+strings.Count(opening, "exec sh ") >= 2 {
				break
			}
		}
		name = filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(name, append([]byte(opening), text[len(script):]...), 0o600); err != nil {
			t.Fatal(err)
		}
		short = append(short, name)
	}
	return short
}
