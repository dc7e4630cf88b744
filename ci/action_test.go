//go:build unix

package ci

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/looprun/looprun/internal/rounds"
)

// action is action.yml, with the keys that GitHub documents for a composite
// action and the action uses; any other is an error.
type action struct {
	Name        string
	Description string
	Branding    struct{ Icon, Color string }
	Inputs      map[string]struct {
		Description string
		Required    bool
		Default     string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []actionStep
	}
}

type actionStep struct {
	Name, ID, Shell, Run string
	WorkingDirectory     string `yaml:"working-directory"`
	Env                  map[string]string
}

// strict reads a file of the repository without forgiving an unknown key.
func strict(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", file))
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// binary builds looprun once and returns the folder that it is in.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "looprun-ci-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", filepath.Join(dir, "looprun"), "../cmd/looprun").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	built = dir
	return dir, nil
})

// built is the folder to remove in the end, empty when no test needed it.
var built string

func looprunDir(t *testing.T) string {
	t.Helper()
	dir, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built) // a temporary folder
	}
	os.Exit(code)
}

// goSettings is what the Go tool needs in an environment of its own, to find what was
// fetched and built, and where it fetches from.
var goSettings = sync.OnceValues(func() ([]string, error) {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOTOOLCHAIN"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	values := strings.Split(string(out), "\n")
	if err != nil || len(values) != len(names)+1 {
		return nil, fmt.Errorf("go env: %w: %q", err, out)
	}
	for i, name := range names {
		names[i] = name + "=" + values[i]
	}
	return names, nil
})

// withGo is the environment env, in which the Go tool works as it does for the tests.
func withGo(t *testing.T, env ...string) []string {
	t.Helper()
	settings, err := goSettings()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(settings, []string{"GOFLAGS=-mod=mod -trimpath"}, env)
}

// job runs steps as GitHub's runner does: scripts in files, ${{ … }} replaced by
// values, files for the outputs of each step.
type job struct {
	dir     string // the workspace, with everything else beside it
	temp    string // what RUNNER_TEMP says; empty: the folder temp beside the workspace
	path    string
	env     []string
	context map[string]string // such as inputs.command
	log     bytes.Buffer
	code    int // of the last step that ran
	summary string
}

func newJob(t *testing.T) *job {
	t.Helper()
	root := t.TempDir()
	j := &job{dir: filepath.Join(root, "work"), path: looprunDir(t) + ":" + os.Getenv("PATH"), context: map[string]string{}}
	for _, dir := range []string{j.dir, filepath.Join(root, "temp")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	source, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	j.context["github.action_path"] = source
	return j
}

var expression = regexp.MustCompile(`\$\{\{ *([^}]*?) *\}\}`)

func (j *job) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(m string) string {
		for either := range strings.SplitSeq(expression.FindStringSubmatch(m)[1], " || ") {
			if value := j.context[either]; value != "" {
				return value
			}
		}
		return ""
	})
}

// step runs one step and takes its outputs; it reports whether it ended well.
func (j *job) step(t *testing.T, s actionStep) bool {
	t.Helper()
	temp := filepath.Join(filepath.Dir(j.dir), "temp")
	script, outputs, summary := filepath.Join(temp, "script.sh"), filepath.Join(temp, "output"), filepath.Join(temp, "summary")
	for name, text := range map[string]string{script: j.expand(s.Run), outputs: "", summary: ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
	cmd.Dir = filepath.Join(j.dir, j.expand(s.WorkingDirectory))
	cmd.Env = append(withGo(t,
		"PATH="+j.path, "HOME="+os.Getenv("HOME"), "CI=true", "GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+outputs, "GITHUB_STEP_SUMMARY="+summary, "GITHUB_PATH="+filepath.Join(temp, "path"),
		"GITHUB_SERVER_URL=https://github.invalid", "RUNNER_TEMP="+cmp.Or(j.temp, temp), "RUNNER_OS=Linux", "RUNNER_ARCH=X64",
	), j.env...)
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+j.expand(value))
	}
	cmd.Stdout, cmd.Stderr = &j.log, &j.log
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	} else if ok {
		t.Logf("%s: %v", s.Name, exit)
	}
	j.code = cmd.ProcessState.ExitCode()
	set, err := parseOutputs(read(t, outputs))
	if err != nil {
		t.Error(err)
	}
	for name, value := range set {
		j.context["steps."+s.ID+".outputs."+name] = value
	}
	j.summary = read(t, summary)
	return j.code == 0
}

// use runs the action with these inputs and returns its outputs.
func (j *job) use(t *testing.T, inputs map[string]string) map[string]string {
	t.Helper()
	var a action
	strict(t, "action.yml", &a)
	for name, input := range a.Inputs {
		j.context["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		if _, ok := a.Inputs[name]; !ok {
			t.Fatalf("the action has no input %s", name)
		}
		j.context["inputs."+name] = value
	}
	for _, s := range a.Runs.Steps {
		if !j.step(t, s) {
			break
		}
	}
	outputs := map[string]string{}
	for name, o := range a.Outputs {
		outputs[name] = j.expand(o.Value)
	}
	return outputs
}

// What an input says is never a part of a script.
func TestActionHasNoExpressionInAScript(t *testing.T) {
	var a action
	strict(t, "action.yml", &a)
	if a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Fatalf("%+v", a.Runs)
	}
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") || s.Shell != "bash" {
			t.Errorf("step %q takes a value into its script, or has the shell %q", s.Name, s.Shell)
		}
	}
	names := slices.Sorted(maps.Keys(a.Outputs))
	if want := []string{"decision", "exit_code", "failing", "guard", "result", "run_dir", "status", "summary", "total_attempts"}; !slices.Equal(names, want) {
		t.Errorf("outputs %q, want %q", names, want)
	}
	for _, n := range []string{"command", "check", "max-iterations", "max-runtime", "policy", "promise", "detached", "name", "args", "working-directory", "version"} {
		if in, ok := a.Inputs[n]; !ok || in.Description == "" {
			t.Errorf("the input %s is missing, or not described", n)
		}
	}
}

// recorder is a looprun that notes its arguments and its environment.
func recorder(t *testing.T, j *job) (args func() []string) {
	t.Helper()
	bin := t.TempDir()
	file := filepath.Join(bin, "args")
	script := "#!/bin/sh\nprintf '%s\\0' \"$@\" > '" + file + "'\nenv | grep -E '^(INPUT|ACTION)_' >> '" + file + "'\nexit 0\n"
	program(t, filepath.Join(bin, "looprun"), script)
	j.path = bin + ":" + j.path
	return func() []string {
		return strings.Split(strings.TrimSuffix(read(t, file), "\x00"), "\x00")
	}
}

// program makes the file one that can be run. A process that another test starts meanwhile
// would keep it open for writing, so that it could not.
func program(t *testing.T, file, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o755), os.Chmod(file, 0o755)); err != nil {
		t.Fatal(err)
	}
}

func TestActionPassesItsInputs(t *testing.T) {
	j := newJob(t)
	args := recorder(t, j)
	j.use(t, map[string]string{
		"version": "installed", "command": "make\nall", "check": "go test ./...", "max-iterations": "5", "max-runtime": "20m", "policy": "p.yaml",
		"promise": "ALL DONE", "detached": "defer", "name": "it's", "args": "--delay=1s\r\n\n-v\n",
	})
	want := []string{
		"run", "--shell=make\nall", "--check=go test ./...", "--max-iterations=5", "--max-runtime=20m", "--policy=p.yaml",
		"--promise=ALL DONE", "--detached=defer", "--name=it's", "--delay=1s", "-v",
	}
	if got := args(); !slices.Equal(got, want) || j.code != 0 {
		t.Errorf("exit code %d; called with\n%q\nwant\n%q\n%s", j.code, got, want, &j.log)
	}
}

// Whatever an input holds, it is one argument and nothing else happens.
func TestActionInputsAreData(t *testing.T) {
	evil := []string{
		"$(touch pwned)", "`touch pwned`", "'; touch pwned; '", "\"; touch pwned; \"", "a\ntouch pwned\n", "$HOME", "*", "a & touch pwned",
		"${{ github.token }}", "\\", "--", "-", "::error::x", "x\n::error::y", "%0A::error::z", "EOF\ntouch pwned\n", "x\nbin=/bin/false", "~", "<(touch pwned)", "!!",
	}
	var a action
	strict(t, "action.yml", &a)
	for i, input := range slices.Sorted(maps.Keys(a.Inputs)) {
		t.Run(input, func(t *testing.T) {
			t.Parallel()
			for n, text := range evil {
				if (n+i)%rounds.Step(3) != 0 {
					continue // each of them for some inputs
				}
				j := newJob(t)
				args := recorder(t, j)
				inputs := map[string]string{"version": "installed", "command": "true"}
				inputs[input] = text
				outside := filepath.Dir(j.dir)
				if input == "working-directory" { // the runner makes a folder of it, no shell sees it
					if err := os.MkdirAll(filepath.Join(j.dir, text), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				j.use(t, inputs)
				for _, dir := range []string{j.dir, outside, filepath.Join(outside, "temp"), filepath.Join(j.dir, "work"), "."} {
					if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
						t.Fatalf("%q was carried out", text)
					}
				}
				r := &githubRunner{}
				r.read(j.log.String())
				for _, c := range r.commands {
					if c.name != "error" || c.props["title"] != "looprun" {
						t.Errorf("%q: carried out %+v", text, c)
					}
				}
				if j.code != 0 { // refused: looprun was not called
					if j.code != 125 || input != "version" && input != "args" {
						t.Errorf("%s %q: exit code %d\n%s", input, text, j.code, &j.log)
					}
					continue
				}
				got := args()
				switch input {
				case "command":
					if !slices.Equal(got, []string{"run", "--shell=" + text}) {
						t.Errorf("%q: called with %q", text, got)
					}
				case "version", "working-directory":
					if !slices.Equal(got, []string{"run", "--shell=true"}) {
						t.Errorf("%q: called with %q", text, got)
					}
				default:
					if !slices.Equal(got, []string{"run", "--shell=true", "--" + input + "=" + text}) {
						t.Errorf("%q: called with %q", text, got)
					}
				}
			}
		})
	}
}

func TestActionRefuses(t *testing.T) {
	for _, c := range []struct {
		inputs map[string]string
		want   string
	}{
		{map[string]string{"version": "installed"}, "the input command is empty; give the shell line to run"},
		{map[string]string{"version": "installed", "command": "x", "args": "--delay\n1s"}, "the input args has a line that is no flag; write one flag a line, as --flag=value"},
		{map[string]string{"version": "installed", "command": "x", "args": "--\ntouch"}, "the input args has a line --; the input command is what is run"},
		{map[string]string{"version": "../1.2", "command": "x"}, "version is no version; give it as 1.2.3"},
	} {
		j := newJob(t)
		got := j.use(t, c.inputs)
		if got["status"] != "failed" || got["exit_code"] != "125" || got["summary"] != "looprun: failed "+c.want {
			t.Errorf("%v: outputs %q", c.inputs, got)
		}
		if r := (&githubRunner{}); j.code != 125 {
			t.Errorf("%v: exit code %d", c.inputs, j.code)
		} else if r.read(j.log.String()); len(r.commands) != 1 || r.commands[0].data != c.want {
			t.Errorf("%v: %+v", c.inputs, r.commands)
		}
	}
}

// Without a version looprun is built from the action's own source, for the machine
// that it runs on, whatever the job builds for.
func TestActionBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds looprun once more")
	}
	j := newJob(t)
	j.env = append(j.env, "GOOS=plan9", "GOARCH=arm", "GOARM=9", "GOEXPERIMENT=none such", "GOAMD64=v9")
	j.use(t, map[string]string{"command": "exit 0"})
	bin := j.context["steps.install.outputs.bin"]
	if j.code != 0 || bin != filepath.Join(filepath.Dir(j.dir), "temp", "looprun-action", "looprun") {
		t.Errorf("exit code %d, built %q\n%s", j.code, bin, &j.log)
	}
}

// A build that fails is said on the page of the job, and in the outputs.
func TestActionThatCannotBuild(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	j.context["github.action_path"] = t.TempDir()
	got := j.use(t, map[string]string{"command": "exit 0"})
	r := &githubRunner{}
	r.read(j.log.String())
	if j.code != 125 || len(r.commands) != 1 || !strings.HasPrefix(r.commands[0].data, "looprun could not be built") || got["status"] != "failed" || got["exit_code"] != "125" {
		t.Errorf("exit code %d, outputs %q, carried out %+v\n%s", j.code, got, r.commands, &j.log)
	}
}

// release puts a release beside the job, and returns the URL of the server.
func release(t *testing.T, j *job, sum func(asset []byte) string) {
	t.Helper()
	server := t.TempDir()
	dir := filepath.Join(server, "looprun", "looprun", "releases", "download", "v1.2.3")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	tw := tar.NewWriter(z)
	text := "#!/bin/sh\necho released \"$2\"\n"
	if err := tw.WriteHeader(&tar.Header{Name: "looprun", Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	_, _ = tw.Write([]byte(text))
	if err := errors.Join(tw.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	name := "looprun_1.2.3_linux_amd64.tar.gz"
	for file, text := range map[string]string{
		name: b.String(), "checksums.txt": "0000  looprun_1.2.3_darwin_arm64.tar.gz\n" + sum(b.Bytes()) + "  " + name + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j.env = append(j.env, "GITHUB_SERVER_URL=file://"+server)
}

func TestActionDownloadsARelease(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the release in the test is for Linux")
	}
	right := func(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
	wrong := func([]byte) string { return strings.Repeat("0", 64) }
	for _, c := range []struct {
		version, ref, changelog string
		sum                     func([]byte) string
		want                    string
		code                    int
	}{
		{version: "1.2.3", sum: right, want: "released --shell=x"},
		{version: "v1.2.3", sum: right, want: "released --shell=x"},
		{version: "1.2.3", sum: wrong, want: "it was not installed", code: 125},
		{version: "1.2.4", sum: right, want: "the release could not be downloaded", code: 125},
		{ref: "v1.2.3", sum: right, want: "released --shell=x"},
		{ref: "v1", changelog: "1.2.3 of today\n", sum: right, want: "released --shell=x"},
		{ref: "v1.2", changelog: "1.2.3", sum: right, want: "released --shell=x"},
		{ref: "v1.2.3", sum: wrong, want: "it was not installed", code: 125},
		// No release: it would be built, which this source cannot be.
		{ref: "v1", changelog: "Unreleased\n\n## 1.2.3", sum: right, want: "looprun could not be built", code: 125},
		{ref: "v2", changelog: "1.2.3", sum: right, want: "looprun could not be built", code: 125},
		{ref: "v1", changelog: "12.3.4", sum: right, want: "looprun could not be built", code: 125},
		{ref: "main", changelog: "1.2.3", sum: right, want: "looprun could not be built", code: 125},
		{ref: "v1.2.4", sum: right, want: "looprun could not be built", code: 125},
	} {
		j := newJob(t)
		release(t, j, c.sum)
		source := t.TempDir()
		if err := os.WriteFile(filepath.Join(source, "CHANGELOG.md"), []byte("# Changelog\n\n## "+c.changelog+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		j.context["github.action_path"], j.context["github.action_ref"] = source, c.ref
		j.use(t, map[string]string{"version": c.version, "command": "x"})
		if j.code != c.code || !strings.Contains(j.log.String(), c.want) || c.code != 0 && strings.Contains(j.log.String(), "released") {
			t.Errorf("%+v: exit code %d\n%s", c, j.code, &j.log)
		}
	}
}

// The release can be unpacked into a folder on a drive of Windows. GNU tar takes D:/… for a file
// on a host named D.
func TestActionUnpacksOnADrive(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the release in the test is for Linux")
	}
	j := newJob(t)
	release(t, j, func(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) })
	j.temp = "D:/a/_temp"
	if err := os.MkdirAll(filepath.Join(j.dir, j.temp), 0o755); err != nil {
		t.Fatal(err)
	}
	j.use(t, map[string]string{"command": "x", "version": "1.2.3"})
	if installed := filepath.Join(j.dir, j.temp, "looprun-action", "looprun"); j.code != 0 || read(t, installed) == "" {
		t.Errorf("exit code %d\n%s", j.code, &j.log)
	}
}

// A kept release is used again if it matches the check sums; otherwise it is downloaded again.
func TestActionKeepsTheRelease(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the release in the test is for Linux")
	}
	j := newJob(t)
	kept := filepath.Join(t.TempDir(), "tools")
	j.env = append(j.env, "RUNNER_TOOL_CACHE="+kept)
	release(t, j, func(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) })
	archive := filepath.Join(kept, "looprun", "1.2.3", "amd64", "looprun_1.2.3_linux_amd64.tar.gz")
	server := strings.TrimPrefix(j.env[len(j.env)-1], "GITHUB_SERVER_URL=file://")
	released := filepath.Join(server, "looprun", "looprun", "releases", "download", "v1.2.3", filepath.Base(archive))
	uses := func(want string, code int) {
		t.Helper()
		j.log.Reset()
		if j.use(t, map[string]string{"version": "1.2.3", "command": "x"}); j.code != code || !strings.Contains(j.log.String(), want) {
			t.Errorf("exit code %d\n%s", j.code, &j.log)
		}
	}
	uses("released --shell=x", 0)
	if err := os.Rename(released, released+".away"); err != nil {
		t.Fatal(err)
	}
	uses("released --shell=x", 0)
	if err := os.WriteFile(archive, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	uses("the release could not be downloaded", 125)
	if err := os.Rename(released+".away", released); err != nil {
		t.Fatal(err)
	}
	uses("released --shell=x", 0)
}
