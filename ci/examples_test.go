//go:build unix

package ci

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/looprun/looprun/core"
)

// The files of examples/ci, with the documented keys that they use.

type githubFile struct {
	Name        string
	On          string
	Permissions map[string]string
	Jobs        map[string]struct {
		RunsOn         string `yaml:"runs-on"`
		TimeoutMinutes int    `yaml:"timeout-minutes"`
		Steps          []struct {
			Uses            string
			If              string
			ContinueOnError bool `yaml:"continue-on-error"`
			With            map[string]string
			actionStep      `yaml:",inline"`
		}
	}
}

type gitlabFile struct {
	Fix struct {
		Image        string
		BeforeScript []string `yaml:"before_script"`
		Script       []string
		AfterScript  []string `yaml:"after_script"`
		AllowFailure struct {
			ExitCodes []int `yaml:"exit_codes"`
		} `yaml:"allow_failure"`
		Artifacts struct {
			When    string
			Paths   []string
			Reports struct{ Junit string }
		}
	}
}

type buildkiteFile struct {
	Steps []struct {
		Label, Key, Command string
		SoftFail            []struct {
			ExitStatus int `yaml:"exit_status"`
		} `yaml:"soft_fail"`
		ArtifactPaths          []string `yaml:"artifact_paths"`
		DependsOn              string   `yaml:"depends_on"`
		AllowDependencyFailure bool     `yaml:"allow_dependency_failure"`
	}
}

type azureFile struct {
	Trigger string
	Pool    struct {
		VMImage string `yaml:"vmImage"`
	}
	Steps []struct {
		Task, Bash, Publish, Artifact, Condition string
		DisplayName                              string `yaml:"displayName"`
		Inputs                                   map[string]string
	}
}

// project copies an example that is to be fixed, with the policy beside it.
func project(t *testing.T, dir, name string) {
	t.Helper()
	syscall.ForkLock.RLock() // as in program
	err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "examples", name)))
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	policy := read(t, filepath.Join("..", "examples", "ci", "policy.yaml"))
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "fix.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// quickTests is a folder with a go that says what go test says of the demo projects: that they
// fail, with what is left to fix. TestExampleGitHub uses the real one, which builds a program for
// each check.
func quickTests(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program(t, filepath.Join(dir, "go"), `#!/bin/sh
test "$*" = "test ./..." || exit 2
if left=$(cat roman.go slug.go 2>/dev/null | grep -E '"VIIII"|n < 0 [|][|]|rest := 0, text$|^package stuck'); then
	printf -- '--- FAIL: TestProject (0.00s)\n    project_test.go:9: %s\nFAIL\nFAIL\tproject\t0.001s\nFAIL\n' "$left"
	exit 1
fi
printf 'ok  \tproject\t0.001s\n'
`)
	return dir
}

// shell runs the script of a job and returns its log and exit code.
func shell(t *testing.T, dir, script string, env ...string) (string, int) {
	t.Helper()
	cmd := exec.Command("bash", "-eo", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(withGo(t, "PATH="+looprunDir(t)+":"+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"), "CI=true", "GOWORK=off"), env...)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

// outcomes are the demo projects: one that ends as done, and one that is stuck
// and that the policy gives up; with -short that one alone.
func outcomes() map[string]int {
	stuck := map[string]int{"stuck": core.StatusCancelled.ExitCode()}
	if !testing.Short() {
		stuck["testfix"] = 0
	}
	return stuck
}

// carriedOut skips the rest of a test with -short, which has read its example: the one
// for GitHub alone is carried out.
func carriedOut(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds and tests packages again and again")
	}
}

// soft are exit codes that an example lets pass with a warning.
func soft(t *testing.T, codes ...int) {
	t.Helper()
	if want := []int{core.StatusAccepted.ExitCode(), core.StatusPaused.ExitCode()}; !slices.Equal(codes, want) {
		t.Errorf("passing with a warning: %d, want %d", codes, want)
	}
}

func TestExampleGitHub(t *testing.T) {
	t.Parallel()
	var f githubFile
	strict(t, "examples/ci/github.yml", &f)
	for name, code := range outcomes() {
		t.Run(name, func(t *testing.T) {
			j := newJob(t)
			project(t, j.dir, name)
			failed := false
			for _, s := range f.Jobs["fix"].Steps {
				switch {
				case strings.HasPrefix(s.Uses, "looprun/"):
					s.With["version"] = "installed" // TestActionBuilds builds it
					for output, value := range j.use(t, s.With) {
						j.context["steps."+s.ID+".outputs."+output] = value
					}
					if !s.ContinueOnError && j.code != 0 {
						failed = true
					}
				case strings.HasPrefix(s.Uses, "actions/upload-artifact"):
					if _, err := os.Stat(filepath.Join(j.expand(s.With["path"]), "journal.jsonl")); err != nil || s.If != "always()" {
						t.Errorf("what is uploaded is no run: %v", err)
					}
				case s.Run != "" && !failed:
					failed = !j.step(t, s.actionStep)
				}
			}
			if j.code != code {
				t.Errorf("exit code %d, want %d\n%s", j.code, code, &j.log)
			}
		})
	}
}

// The comment is made once, and written anew from then on; the report is looprun's.
func TestExampleGitHubComment(t *testing.T) {
	t.Parallel()
	var f githubFile
	strict(t, "examples/ci/github-comment.yml", &f)
	carriedOut(t)
	j := newJob(t)
	project(t, j.dir, "stuck")
	bin := t.TempDir()
	gh := "#!/bin/sh\necho \"$@\" >> '" + bin + "/calls'\ncase $* in *--paginate*) cat '" + bin + "/id' 2>/dev/null; exit 0 ;; esac\n" +
		"for a; do case $a in body=@*) cp \"${a#body=@}\" '" + bin + "/page' ;; esac; done\necho 77 > '" + bin + "/id'\n"
	program(t, filepath.Join(bin, "gh"), gh)
	j.path = bin + ":" + quickTests(t) + ":" + j.path
	j.env = append(j.env, "GITHUB_REPOSITORY=o/r")
	j.context["github.event.pull_request.number"] = "5"
	use := func() {
		t.Helper()
		for _, s := range f.Jobs["fix"].Steps {
			switch {
			case strings.HasPrefix(s.Uses, "looprun/"):
				s.With["version"] = "installed"
				for output, value := range j.use(t, s.With) {
					j.context["steps."+s.ID+".outputs."+output] = value
				}
			case s.Run != "":
				j.step(t, s.actionStep)
			}
		}
	}
	use()
	if page := read(t, filepath.Join(bin, "page")); j.code != outcomes()["stuck"] || !strings.HasPrefix(page, "<!-- looprun -->\n") || !strings.Contains(page, "looprun: cancelled") {
		t.Errorf("exit code %d, the comment: %.300s\n%s", j.code, page, &j.log)
	}
	use()
	delete(j.context, "steps.loop.outputs.run_dir")
	j.context["steps.loop.outputs.summary"] = "looprun: failed could not be built"
	for _, s := range f.Jobs["fix"].Steps {
		if strings.HasPrefix(s.Name, "Comment") {
			j.step(t, s.actionStep)
		}
	}
	if page := read(t, filepath.Join(bin, "page")); page != "<!-- looprun -->\nlooprun: failed could not be built\n" {
		t.Errorf("without a run: %q", page)
	}
	calls := read(t, filepath.Join(bin, "calls"))
	if strings.Count(calls, "\napi repos/o/r/issues/5/comments -F") != 1 || strings.Count(calls, "api --method PATCH repos/o/r/issues/comments/77 -F") != 2 {
		t.Errorf("gh was called with\n%s", calls)
	}
}

func TestExampleGitLab(t *testing.T) {
	t.Parallel()
	var f gitlabFile
	strict(t, "examples/ci/gitlab-ci.yml", &f)
	soft(t, f.Fix.AllowFailure.ExitCodes...)
	carriedOut(t)
	for name, code := range outcomes() {
		dir := t.TempDir()
		project(t, dir, name)
		env := []string{"GITLAB_CI=true", "PATH=" + quickTests(t) + ":" + looprunDir(t) + ":" + os.Getenv("PATH")}
		log, got := shell(t, dir, strings.Join(f.Fix.Script, "\n"), env...)
		if got != code {
			t.Errorf("%s: exit code %d, want %d\n%s", name, got, code, log)
		}
		if log, got := shell(t, dir, strings.Join(f.Fix.AfterScript, "\n"), env...); got != 0 {
			t.Errorf("%s: the report: exit code %d\n%s", name, got, log)
		}
		for _, path := range append(f.Fix.Artifacts.Paths, f.Fix.Artifacts.Reports.Junit) {
			if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if sections := gitlabSections(log); len(sections) == 0 || len(sections)%2 != 0 {
			t.Errorf("%s: sections %q", name, sections)
		}
	}
}

func TestExampleBuildkite(t *testing.T) {
	t.Parallel()
	var f buildkiteFile
	strict(t, "examples/ci/buildkite.yml", &f)
	var codes []int
	for _, s := range f.Steps[0].SoftFail {
		codes = append(codes, s.ExitStatus)
	}
	soft(t, codes...)
	carriedOut(t)
	for name, code := range outcomes() {
		dir, bin := t.TempDir(), t.TempDir()
		project(t, dir, name)
		agent := "#!/bin/sh\necho \"$@\" >> '" + bin + "/calls'\ncase $1 in annotate) cat > '" + bin + "/page' ;; esac\n"
		program(t, filepath.Join(bin, "buildkite-agent"), agent)
		env := []string{"BUILDKITE=true", "PATH=" + bin + ":" + quickTests(t) + ":" + looprunDir(t) + ":" + os.Getenv("PATH")}
		log, got := shell(t, dir, f.Steps[0].Command, env...)
		if got != code {
			t.Errorf("%s: exit code %d, want %d\n%s", name, got, code, log)
		}
		calls, _ := os.ReadFile(filepath.Join(bin, "calls")) // none: looprun was done
		if (code != 0) != strings.Contains(string(calls), "annotate --style error --context looprun-") {
			t.Errorf("%s: called buildkite-agent %q", name, calls)
		}
		if log, got := shell(t, dir, f.Steps[1].Command, env...); got != 0 || !strings.Contains(read(t, filepath.Join(bin, "page")), `"status"`) {
			t.Errorf("%s: exit code %d\n%s", name, got, log)
		}
	}
}

func TestExampleAzure(t *testing.T) {
	t.Parallel()
	var f azureFile
	strict(t, "examples/ci/azure-pipelines.yml", &f)
	scripts := map[string]string{}
	results := ""
	for _, s := range f.Steps {
		scripts[s.DisplayName] = s.Bash
		results += s.Inputs["testResultsFiles"]
	}
	script := scripts["Fix"]
	for code, want := range map[int]bool{100: true, 102: false, 111: false} {
		log, got := shell(t, t.TempDir(), fmt.Sprintf("looprun() { return %d; }\n", code)+script)
		if soft := strings.Contains(log, "##vso[task.complete result=SucceededWithIssues;]"); soft != want || soft != (got == 0) || !soft && got != code {
			t.Errorf("after %d: exit code %d\n%s", code, got, log)
		}
	}
	carriedOut(t)
	for name, code := range outcomes() {
		dir := t.TempDir()
		project(t, dir, name)
		env := []string{"TF_BUILD=True", "PATH=" + quickTests(t) + ":" + looprunDir(t) + ":" + os.Getenv("PATH")}
		log, got := shell(t, dir, script, env...)
		if got != code {
			t.Errorf("%s: exit code %d, want %d\n%s", name, got, code, log)
		}
		if strings.Contains(log, "##vso[task.complete") {
			t.Errorf("%s: succeeded with issues\n%s", name, log)
		}
		log, got = shell(t, dir, scripts["Report"], env...)
		if _, err := os.Stat(filepath.Join(dir, results)); got != 0 || err != nil {
			t.Errorf("%s: the report: exit code %d, %v\n%s", name, got, err, log)
		}
	}
}

func TestExampleGeneric(t *testing.T) {
	t.Parallel()
	carriedOut(t)
	file, err := filepath.Abs("../examples/ci/generic.sh")
	if err != nil {
		t.Fatal(err)
	}
	for name, code := range outcomes() {
		dir := t.TempDir()
		project(t, dir, name)
		log, got := shell(t, dir, "sh '"+file+"' policy.yaml 'go test ./...' ./fix.sh", "PATH="+quickTests(t)+":"+looprunDir(t)+":"+os.Getenv("PATH"))
		if got != code {
			t.Errorf("%s: exit code %d, want %d\n%s", name, got, code, log)
		}
		if _, err := os.Stat(filepath.Join(dir, "looprun.json")); err != nil {
			t.Error(err)
		}
	}
}
