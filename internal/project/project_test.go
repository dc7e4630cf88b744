package project

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/strictyaml"
)

func TestDetect(t *testing.T) {
	const script = `{"scripts": {"test": "jest"}}`
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string // kind: check (file) verify
	}{
		{"nothing", map[string]string{"README.md": "go test"}, nil},
		{"go", map[string]string{"go.mod": ""}, []string{"go: go test ./... (go.mod) go build ./..."}},
		{"npm", map[string]string{"package.json": script}, []string{"npm: npm test (package.json) "}},
		{"npm with a lock file", map[string]string{"package.json": script, "package-lock.json": ""}, []string{"npm: npm test (package.json) "}},
		{"yarn", map[string]string{"package.json": script, "yarn.lock": ""}, []string{"npm: yarn test (package.json) "}},
		{"pnpm", map[string]string{"package.json": script, "pnpm-lock.yaml": ""}, []string{"npm: pnpm test (package.json) "}},
		{"bun", map[string]string{"package.json": script, "bun.lock": ""}, []string{"npm: bun run test (package.json) "}},
		{"an older bun", map[string]string{"package.json": script, "bun.lockb": ""}, []string{"npm: bun run test (package.json) "}},
		{"npm with a build", map[string]string{"package.json": `{"scripts": {"test": "jest", "build": "tsc"}}`}, []string{"npm: npm test (package.json) npm run build"}},
		{"no test script", map[string]string{"package.json": `{"scripts": {"build": "tsc"}}`}, nil},
		{"the script that npm init writes", map[string]string{"package.json": `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`}, nil},
		{"broken package.json", map[string]string{"package.json": `{"scripts": `}, nil},
		{"cargo", map[string]string{"Cargo.toml": ""}, []string{"cargo: cargo test (Cargo.toml) cargo check"}},
		{"pytest.ini", map[string]string{"pytest.ini": ""}, []string{"pytest: pytest (pytest.ini) pytest --collect-only -q"}},
		{"pyproject", map[string]string{"pyproject.toml": "[tool.pytest.ini_options]"}, []string{"pytest: pytest (pyproject.toml) pytest --collect-only -q"}},
		{"pyproject without pytest", map[string]string{"pyproject.toml": "[project]"}, nil},
		{"setup.cfg", map[string]string{"setup.cfg": "[tool:pytest]"}, []string{"pytest: pytest (setup.cfg) pytest --collect-only -q"}},
		{"setup.cfg without pytest", map[string]string{"setup.cfg": "[metadata]"}, nil},
		{"a folder of tests", map[string]string{"tests/test_a.py": "", "uv.lock": ""}, []string{"pytest: uv run pytest (tests/test_a.py) uv run pytest --collect-only -q"}},
		{"a folder of other tests", map[string]string{"tests/a.py": ""}, nil},
		{"poetry", map[string]string{"test_a.py": "", "poetry.lock": ""}, []string{"pytest: poetry run pytest (test_a.py) poetry run pytest --collect-only -q"}},
		{"make", map[string]string{"Makefile": "test:\n"}, []string{"make: make test (Makefile) "}},
		{"make with a build", map[string]string{"makefile": "build:\ntest:\n"}, []string{"make: make test (makefile) make build"}},
		{"make without tests", map[string]string{"Makefile": "all:\n"}, nil},
		{"all, in order", map[string]string{"Makefile": "test:", "pytest.ini": "", "Cargo.toml": "", "package.json": script, "go.mod": ""}, []string{
			"go: go test ./... (go.mod) go build ./...", "npm: npm test (package.json) ", "cargo: cargo test (Cargo.toml) cargo check",
			"pytest: pytest (pytest.ini) pytest --collect-only -q", "make: make test (Makefile) ",
		}},
	} {
		dir := filepath.Join(t.TempDir(), "with [a-z]* \\ in its name")
		for name, text := range tt.files {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, p := range Detect(dir) {
			got = append(got, p.Kind+": "+p.Check+" ("+p.File+") "+p.verify)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	// Folders with these names are no projects.
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "package.json", "Cargo.toml", "pytest.ini", "Makefile"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if found := Detect(dir); found != nil {
		t.Errorf("folders are projects: %+v", found)
	}
}

func TestMakeTargets(t *testing.T) {
	for text, want := range map[string]bool{
		"test:":                           true,
		"all:\n\ntest: all\n\tgo test":    true,
		"lint test: all":                  true,
		"test lint: all":                  true,
		"test:: all":                      true,
		"test :":                          true,
		"all:\r\ntest:\r\n":               true,
		"":                                false,
		"tests:":                          false,
		"unit-test:":                      false,
		"test-all:":                       false,
		"test := 1":                       false,
		"test ::= 1":                      false,
		"test = a:b":                      false,
		"# test:":                         false,
		"\ttest:":                         false,
		"all: test":                       false,
		".PHONY: test":                    false,
		"all:\n\techo a test: it is here": false,
	} {
		if got := hasTarget(text, "test"); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

var shellLines = []string{
	"go test ./...", "true", "yes", "no", "off", "null", "~", "1", "1.5", "a: b", "a #b", "#x", "- x", "'x'", `"x"`, `\n`, "{a: b}", "[x]", "*x", "&x", "!x", "|", ">",
	"%x", "@x", "`x`", "a && b || c > d 2>&1", "échо", "<a> & b", "\t", "a\u2028b", "make check: \"all\" # 1", "test =",
}

// FuzzYAMLText: whatever the line is, YAML reads it as that text.
func FuzzYAMLText(f *testing.F) {
	for _, line := range shellLines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ToValidUTF8(line, "") != line {
			return
		}
		var into struct {
			Check string `yaml:"check"`
		}
		text := yamlText(line)
		if _, err := strictyaml.Decode("x", []byte("check: "+text+"\n"), &into); err != nil || into.Check != line {
			t.Fatalf("%q became %s, which is %q: %v", line, text, into.Check, err)
		}
	})
}
