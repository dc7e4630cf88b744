package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/proc"
)

// testSystemConfig names the system's looprun.yaml for a test.
const testSystemConfig = "TEST_SYSTEM_CONFIG"

func TestMain(m *testing.M) {
	if proc.IsGuardian() {
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
	dir, err := os.MkdirTemp("", "looprun-test-state-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = os.Setenv("XDG_STATE_HOME", dir)
	code := a.M.Run()
	if err := os.RemoveAll(dir); err != nil && runtime.GOOS == "windows" {
		os.Exit(code) // Wine before 10 removes no folder, for which the tests would be blamed
	}
	return code
}

// TestScripts runs the binary as a user does. Each script is named by what it
// shows.
func TestScripts(t *testing.T) {
	journals := validator(t, "journal")
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("LOOPRUN_STATE_DIR", filepath.Join(e.WorkDir, "state"))
			e.Setenv("GOCACHE", goCache())
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_STATE_HOME", "")
			e.Defer(func() { // every event that a script makes is one that the schema knows
				if err := journalsFit(journals, filepath.Join(e.WorkDir, "state")); err != nil {
					e.T().Fatal(err)
				}
			})
			e.Setenv(testSystemConfig, filepath.Join(e.WorkDir, "etc", "looprun.yaml"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
		},
	})
}
