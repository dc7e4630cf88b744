//go:build dist && linux

package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"gopkg.in/yaml.v3"
)

// made is the release of this processor's Linux, as make dist makes it, twice.
func made(t *testing.T) (dir, base, version string) {
	t.Helper()
	nfpm := os.Getenv("NFPM")
	if nfpm == "" {
		t.Fatal("NFPM does not name the package of nfpm; make dist-test sets it")
	}
	version = "9.8.7-rc.6"
	var dirs [2]string
	for i, mask := range []int{0o022, 0o077} {
		dirs[i] = t.TempDir()
		t.Setenv("TMPDIR", t.TempDir())
		t.Setenv("TZ", []string{"Asia/Tokyo", "America/New_York"}[i])
		old := syscall.Umask(mask)
		err := attempt(func() { dist(dirs[i], version, nfpm, "linux/"+runtime.GOARCH, io.Discard) })
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
	}
	one, two := read(t, dirs[0], "checksums.txt"), read(t, dirs[1], "checksums.txt")
	if one != two || strings.Count(one, "\n") != 3 {
		t.Errorf("the same commit gives other bytes:\n%s%s", one, two)
	}
	if _, err := os.Stat(filepath.Join(dirs[0], "looprun.rb")); err == nil {
		t.Error("there is a formula, which names archives that were not made")
	}
	return dirs[0], filepath.Join(dirs[0], "looprun_"+version+"_linux_"+runtime.GOARCH), version
}

// TestPackages tries what is released as somebody does who installs it.
func TestPackages(t *testing.T) {
	dir, base, version := made(t)
	sum := exec.Command("sha256sum", "--check", "--strict", "--quiet", "checksums.txt")
	sum.Dir = dir
	if out, err := sum.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	text, err := os.ReadFile(base + ".tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	files := unpack(t, "tar", text)
	for _, p := range programs {
		if !strings.HasPrefix(files[p.name], "-rwxr-xr-x ") || p.name != "looprun-serve" && len(files[p.name+".cdx.json"]) < 100 {
			t.Errorf("%s is not in the archive as a program with its bill", p.name)
		}
	}
	for _, name := range []string{"LICENSE", "LICENCES-OF-DEPENDENCIES.txt", "README.md", "completions/looprun.bash", "completions/_looprun", "completions/looprun.fish", "man/man1/looprun.1", "man/man1/looprun-run.1"} {
		if len(files[name]) < 100 {
			t.Errorf("%s is not in the archive, or is empty", name)
		}
	}
	for _, notice := range []string{"std/LICENSE of Go", "gopkg.in/yaml.v3/LICENSE v", "github.com/AlecAivazis/survey/v2/terminal/LICENSE.txt v", "github.com/modelcontextprotocol/go-sdk/LICENSE v"} {
		if l := files["LICENCES-OF-DEPENDENCIES.txt"]; !strings.Contains(l, "==== "+notice) {
			t.Errorf("the notice of %s is not there: %.300s", notice, l)
		}
	}
	program := []byte(strings.TrimPrefix(files["looprun"], "-rwxr-xr-x "))
	t.Run("action", func(t *testing.T) { tryAction(t, dir, version, program) })
	t.Run("deb", func(t *testing.T) { tryDeb(t, base+".deb", version, program) })
	t.Run("rpm", func(t *testing.T) { tryRPM(t, base+".rpm", program) })
}

// tryAction runs the script by which the GitHub action installs a release, with
// the release in a folder in place of the one that is downloaded.
func tryAction(t *testing.T, dir, version string, program []byte) {
	text, err := os.ReadFile(filepath.Join("..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Runs struct {
			Steps []struct{ ID, Run string }
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil || len(action.Runs.Steps) == 0 || action.Runs.Steps[0].ID != "install" {
		t.Fatalf("the action has no step install: %v", err)
	}
	server, temp := t.TempDir(), t.TempDir()
	releases := filepath.Join(server, "looprun/looprun/releases/download")
	if err := os.MkdirAll(releases, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(releases, "v"+version)); err != nil {
		t.Fatal(err)
	}
	output(t, append(os.Environ(), "INPUT_VERSION="+version, "RUNNER_TEMP="+temp, "RUNNER_OS=Linux", "RUNNER_ARCH="+map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH],
		"GITHUB_SERVER_URL=file://"+server, "ACTION_REPOSITORY=looprun/looprun", "ACTION_SOURCE="+t.TempDir(), "GITHUB_OUTPUT="+filepath.Join(temp, "output"), "GITHUB_PATH="+filepath.Join(temp, "path")),
		"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", action.Runs.Steps[0].Run)
	installed, err := os.ReadFile(filepath.Join(temp, "looprun-action/looprun"))
	if err != nil || !bytes.Equal(installed, program) {
		t.Errorf("the action installs another program: %v", err)
	}
}

// tryDeb installs the package into a root of its own with dpkg, uses it, and
// removes it. Without root's rights fakeroot pretends them.
func tryDeb(t *testing.T, deb, version string, program []byte) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("there is no dpkg here to install the package with")
	}
	root := filepath.Join(t.TempDir(), "root")
	dpkg := func(args ...string) string {
		t.Helper()
		words := append([]string{"dpkg", "--root=" + root, "--log=" + filepath.Join(root, "log"), "--force-not-root"}, args...)
		if os.Geteuid() != 0 {
			words = append([]string{"fakeroot"}, words...)
		}
		return output(t, nil, words...)
	}
	for _, sub := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dpkg("--install", deb)
	if got := dpkg("--status", "looprun"); !strings.Contains(got, "Status: install ok installed") || !strings.Contains(got, "Version: "+strings.Replace(version, "-", "~", 1)+"\n") {
		t.Error(got)
	}
	if got := dpkg("--verify", "looprun"); got != "" {
		t.Error(got)
	}
	installed, err := os.ReadFile(filepath.Join(root, "usr/bin/looprun"))
	if err != nil || !bytes.Equal(installed, program) {
		t.Errorf("the program of the package is another than that of the archive: %v", err)
	}
	useInstalled(t, root, version)
	dpkg("--purge", "looprun")
	if _, err := os.Stat(filepath.Join(root, "usr")); err == nil {
		t.Error("something is left when the package was removed")
	}
}

// useInstalled runs what was installed, with what comes with it.
func useInstalled(t *testing.T, root, version string) {
	usr := filepath.Join(root, "usr")
	env := append(os.Environ(), "PATH="+filepath.Join(usr, "bin")+":"+os.Getenv("PATH"), "CI=", "LOOPRUN_STATE_DIR="+t.TempDir(), "MANPAGER=cat", "MANWIDTH=80", "LC_ALL=C.UTF-8")
	program := filepath.Join(usr, "bin/looprun")
	got := output(t, env, program, "version")
	commit, _ := git("", "rev-parse", "HEAD")
	for _, want := range []string{"looprun   " + version + "\n", "commit    " + commit, "date      20", "platform  linux/" + runtime.GOARCH} {
		if !strings.Contains(got, want) {
			t.Errorf("version does not say %q:\n%s", want, got)
		}
	}
	for _, beside := range []string{"looprun-mcp", "looprun-notify", "looprun-fleet"} {
		if got := output(t, env, filepath.Join(usr, "bin", beside), "--version"); got != version+"\n" {
			t.Errorf("%s has the version %q", beside, got)
		}
	}
	loop := exec.Command(program, "--max-iterations", "5", "--non-interactive", "-c", `echo "--- FAIL: TestA (0.0${LOOPRUN_ITERATION}s)"; exit 1`)
	loop.Env, loop.Dir = env, t.TempDir()
	out, _ := loop.CombinedOutput()
	if code := loop.ProcessState.ExitCode(); code != 111 || !strings.Contains(string(out), "tripped (loop_detected) after 3 of 5 iterations") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if file, _ := os.ReadFile(program); bytes.Contains(file[:min(len(file), 1<<16)], []byte("ld-linux")) {
		t.Error("the program is not static")
	}
	if _, err := exec.LookPath("man"); err == nil {
		if page := output(t, env, "man", "-M", filepath.Join(usr, "share/man"), "looprun-run"); !strings.Contains(page, "--max-iterations") {
			t.Errorf("%.500s", page)
		}
	} else {
		t.Log("there is no man; the page is only unpacked")
		if page := unzip(t, filepath.Join(usr, "share/man/man1/looprun-run.1.gz")); !strings.Contains(page, ".TH") {
			t.Errorf("%.500s", page)
		}
	}
	const complete = `source "$1/share/bash-completion/completions/looprun"
COMP_WORDS=(looprun signatu); COMP_CWORD=1 COMP_LINE='looprun signatu' COMP_POINT=15
_looprun looprun signatu looprun; printf '%s\n' "${COMPREPLY[@]}"`
	if words := output(t, env, "bash", "--norc", "--noprofile", "-c", complete, "bash", usr); strings.TrimSpace(words) != "signature" {
		t.Errorf("bash completes signatu to %q", words)
	}
}

func unzip(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// output runs a command that has to succeed.
func output(t *testing.T, env []string, words ...string) string {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", words, err, out)
	}
	return string(out)
}
