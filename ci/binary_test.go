//go:build unix

package ci

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The built binary in a step of GitHub's: a command that speaks to the runner on
// both of its streams sets nothing and opens nothing, and the outputs and the
// summary are looprun's.
func TestActionWithAHostileCommand(t *testing.T) {
	j := newJob(t)
	name := filepath.Join(j.dir, "hostile.sh")
	script := `#!/bin/sh
for to in 1 2; do
printf '::set-output name=status::done\n::group::mine\n::error::x\n##[group]mine\n##[error]x\n::endgroup::\n::stop-commands::x\n::x::\n::error::no end' >&$to
done
exit 1
`
	if err := os.WriteFile(name, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	got := j.use(t, map[string]string{
		"version": "installed", "command": "./hostile.sh", "max-iterations": "2", "name": "##[error]::error::name",
		"check": "echo '##[error]check'; exit 1", // which looprun names on standard error
	})
	run := got["run_dir"]
	for name, has := range map[string]string{
		"run_dir": run, "summary": "looprun: tripped (max_iterations) after 2 of 2 iterations, ", "failing": `"why":"::error::no end"`, "result": `"status": "tripped"`,
	} {
		if !strings.Contains(got[name], has) {
			t.Errorf("the output %s is %q", name, got[name])
		}
		delete(got, name)
	}
	want := map[string]string{"status": "tripped", "exit_code": "110", "total_attempts": "2", "guard": "max_iterations", "decision": ""}
	if j.code != 110 || !maps.Equal(got, want) {
		t.Errorf("exit code %d, outputs %q", j.code, got)
	}
	if _, err := os.Stat(filepath.Join(run, "journal.jsonl")); err != nil || !filepath.IsAbs(run) {
		t.Errorf("run_dir %q: %v", run, err)
	}
	r := &githubRunner{}
	r.read(j.log.String())
	if names := r.names(); !slices.Equal(names, strings.Fields("group endgroup group endgroup group endgroup error")) || r.stop != "" {
		t.Errorf("carried out: %q\n%s", names, &j.log)
	}
	if groups := []string{"looprun: check before the first iteration", "looprun: iteration 1 of 2", "looprun: iteration 2 of 2"}; !slices.Equal(r.groups, groups) || r.deepest != 1 {
		t.Errorf("groups: %q, %d deep", r.groups, r.deepest)
	}
	if !strings.Contains(j.summary, "## ❌ looprun: tripped (max iterations)\n") || len(j.summary) >= SummaryLimit {
		t.Errorf("the summary: %q", j.summary)
	}
	// Both streams of the command are in the one that the fence is in.
	cmd := exec.Command(filepath.Join(looprunDir(t), "looprun"), "--max-iterations=2", "--", "./hostile.sh")
	cmd.Dir = j.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GITHUB_ACTIONS=true", "CI=true"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 110 {
		t.Error(err)
	}
	for line := range strings.Lines(stderr.String()) {
		if !strings.HasPrefix(line, "looprun: ") {
			t.Errorf("on standard error, where no fence is: %q", line)
		}
	}
	if n := strings.Count(stdout.String(), "::error::no end"); n != 4 {
		t.Errorf("%d of 4 outputs are in the fence:\n%s", n, &stdout)
	}
}
