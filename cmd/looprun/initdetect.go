package main

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// project is a kind of project that was recognised.
type project struct {
	kind string
	file string // what it was recognised by
	// check says that the work is done, and verify, which may be empty, that a
	// partial result can be used.
	check, verify string
}

// detect recognises the projects in a folder, in the order in which init prefers
// them. Nothing that stands in their files becomes part of a command.
func detect(dir string) []project {
	var list []project
	for _, find := range []func(folder) (project, bool){findGo, findNpm, findCargo, findPytest, findMake} {
		if p, ok := find(folder(dir)); ok {
			list = append(list, p)
		}
	}
	return list
}

// folder is where the project is looked for.
type folder string

func (d folder) has(name string) bool { return isFile(filepath.Join(string(d), name)) }

// first is the first of the files that is there.
func (d folder) first(names ...string) string {
	for _, name := range names {
		if d.has(name) {
			return name
		}
	}
	return ""
}

// manifestLimit is how much of a project's file is looked at.
const manifestLimit = 1 << 20

// text is the file's, empty where it cannot be read.
func (d folder) text(name string) string {
	if !d.has(name) { // nor is a pipe opened, which would wait
		return ""
	}
	f, err := os.Open(filepath.Join(string(d), name))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, manifestLimit))
	if err != nil {
		return ""
	}
	return string(b)
}

func findGo(d folder) (project, bool) {
	return project{"go", "go.mod", "go test ./...", "go build ./..."}, d.has("go.mod")
}

func findCargo(d folder) (project, bool) {
	return project{"cargo", "Cargo.toml", "cargo test", "cargo check"}, d.has("Cargo.toml")
}

// findNpm wants a test script that is not the one that npm init puts there. The
// lock file says which program the project is used with.
func findNpm(d folder) (project, bool) {
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal([]byte(d.text("package.json")), &manifest) != nil {
		return project{}, false
	}
	test := manifest.Scripts["test"]
	if strings.TrimSpace(test) == "" || strings.Contains(test, "no test specified") {
		return project{}, false
	}
	tool := "npm"
	switch {
	case d.has("pnpm-lock.yaml"):
		tool = "pnpm"
	case d.has("yarn.lock"):
		tool = "yarn"
	case d.first("bun.lock", "bun.lockb") != "":
		tool = "bun"
	}
	p := project{kind: "npm", file: "package.json", check: tool + " run test"}
	if tool == "npm" || tool == "pnpm" || tool == "yarn" {
		p.check = tool + " test"
	}
	if strings.TrimSpace(manifest.Scripts["build"]) != "" {
		p.verify = tool + " run build"
	}
	return p, true
}

// findPytest wants a setting of pytest's, or a file that it would collect.
func findPytest(d folder) (project, bool) {
	found := d.first("pytest.ini", ".pytest.ini")
	for _, in := range []struct{ name, mark string }{{"pyproject.toml", "pytest"}, {"setup.cfg", "[tool:pytest]"}, {"tox.ini", "[pytest]"}} {
		if found == "" && strings.Contains(d.text(in.name), in.mark) {
			found = in.name
		}
	}
	for _, pattern := range []string{"tests/test_*.py", "tests/*_test.py", "test/test_*.py", "test/*_test.py", "test_*.py", "*_test.py", "tests/*/test_*.py"} {
		if found != "" {
			break
		}
		// Below the folder: its own name may hold what a pattern would read.
		if names, err := fs.Glob(os.DirFS(string(d)), pattern); err == nil && len(names) > 0 {
			found = names[0]
		}
	}
	run := "pytest"
	switch {
	case d.has("uv.lock"):
		run = "uv run pytest"
	case d.has("poetry.lock"):
		run = "poetry run pytest"
	}
	return project{"pytest", found, run, run + " --collect-only -q"}, found != ""
}

// findMake wants a target with the name test.
func findMake(d folder) (project, bool) {
	name := d.first("GNUmakefile", "makefile", "Makefile")
	text := d.text(name)
	p := project{kind: "make", file: name, check: "make test"}
	if hasTarget(text, "build") {
		p.verify = "make build"
	}
	return p, name != "" && hasTarget(text, "test")
}

// hasTarget reports whether the makefile has a rule for the target, alone or
// among others. An assignment such as test := 1 is none.
func hasTarget(makefile, target string) bool {
	rule := regexp.MustCompile(`(?m)^(?:[^\s:=#][^:=#\n]*[ \t])?` + regexp.QuoteMeta(target) + `(?:[ \t][^:=#\n]*)?::?(?:[^:=\n]|$)`)
	return rule.MatchString(strings.ReplaceAll(makefile, "\r\n", "\n"))
}
