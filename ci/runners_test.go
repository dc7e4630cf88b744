//go:build runners && unix

package ci

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The pages, run by the runners themselves where they are installed: act in host mode,
// and the bootstrap of Buildkite's agent. What they fetch from GitHub stands beside them.

// runner finds a program, and makes a repository with a project that is stuck.
func runner(t *testing.T, program string) (file, repository string) {
	t.Helper()
	file, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed; make ci-runners installs it", program)
	}
	repository = filepath.Join(t.TempDir(), "work")
	project(t, repository, "stuck")
	return file, repository
}

func command(t *testing.T, dir string, env []string, name string, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(withGo(t, "PATH="+looprunDir(t)+":"+os.Getenv("PATH"), "HOME="+t.TempDir()), env...)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

func commit(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "a"}, {"remote", "add", "origin", "https://github.com/o/r.git"}} {
		if said, code := command(t, dir, nil, "git", args...); code != 0 {
			t.Fatalf("git %q: %s", args, said)
		}
	}
}

// firstBlock is the first block of YAML of a page.
func firstBlock(t *testing.T, page string) string {
	t.Helper()
	_, rest, _ := strings.Cut(read(t, filepath.Join("..", "docs", "ci", page)), "```yaml\n")
	text, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatalf("%s has no YAML", page)
	}
	return text
}

func TestRunnerGitHub(t *testing.T) {
	act, dir := runner(t, "act")
	workflows, stub := filepath.Join(dir, ".github", "workflows"), t.TempDir()
	if err := os.MkdirAll(workflows, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		filepath.Join(workflows, "fix.yml"): firstBlock(t, "github.md"),
		filepath.Join(stub, "action.yml"):   "name: stub\nruns:\n  using: composite\n  steps:\n    - {run: 'true', shell: bash}\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, dir)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"workflow_dispatch", "-P", "ubuntu-latest=-self-hosted", "--local-repository", "looprun/looprun@v1=" + root}
	for _, action := range []string{"checkout@v4", "setup-go@v5", "upload-artifact@v4"} {
		args = append(args, "--local-repository", "actions/"+action+"="+stub)
	}
	log, code := command(t, dir, nil, act, args...)
	for _, want := range []string{
		"cancelled after 3 iterations", "exit status 101", "slug_test.go:13: Slug =",
		"::set-output:: failing=[{\"check\":\"TestSlugDropsPunctuation\"", "::set-output:: exit_code=101", "::set-output:: summary=looprun: cancelled (loop_detected) after 3 of 10",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if code == 0 || t.Failed() {
		t.Errorf("exit code %d\n%s", code, log)
	}
}

func TestRunnerBuildkite(t *testing.T) {
	agent, dir := runner(t, "buildkite-agent")
	commit(t, dir)
	_, line, _ := strings.Cut(firstBlock(t, "buildkite.md"), "command: ")
	line, _, _ = strings.Cut(line, "\n")
	// The job's own agent has nobody to annotate the build of.
	bin := t.TempDir()
	script := "#!/bin/sh\necho \"$@\" >> '" + bin + "/calls'\ncat > '" + bin + "/page'\n"
	if err := os.WriteFile(filepath.Join(bin, "buildkite-agent"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	log, code := command(t, dir, []string{
		"CI=true", "BUILDKITE=true", "BUILDKITE_COMMAND=" + line, "BUILDKITE_JOB_ID=j", "BUILDKITE_REPO=" + dir, "BUILDKITE_COMMIT=HEAD", "BUILDKITE_BRANCH=master",
		"BUILDKITE_ORGANIZATION_SLUG=o", "BUILDKITE_PIPELINE_SLUG=p", "BUILDKITE_PIPELINE_PROVIDER=git", "BUILDKITE_BUILD_PATH=" + t.TempDir(),
		"PATH=" + bin + ":" + looprunDir(t) + ":" + os.Getenv("PATH"), "BUILDKITE_BIN_PATH=" + bin, "BUILDKITE_PLUGINS_ENABLED=false", "BUILDKITE_SSH_KEYSCAN=false",
	}, agent, "bootstrap", "--agent", "a")
	for _, want := range []string{"--- looprun: iteration 3 of 10", " --- FAIL: TestSlugDropsPunctuation", "+++ looprun: cancelled (loop_detected)", "The command exited with status 101"} {
		if !strings.Contains(log, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if calls := read(t, filepath.Join(bin, "calls")); code != 101 || strings.Count(calls, "annotate --style error --context looprun-") != 1 || !strings.Contains(read(t, filepath.Join(bin, "page")), "cancelled (loop detected)") {
		t.Errorf("exit code %d, called %q\n%s", code, calls, log)
	}
}
