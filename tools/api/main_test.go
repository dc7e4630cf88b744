package main

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const library = `package lib

const Limit = 3

var Names []string

type Kind string

type Config struct {
	Name string ` + "`json:\"name\" doc:\"What it is called.\"`" + `
	Size int
}

func (c *Config) Grow(by int) error { return nil }
func (c Config) Empty() bool { return false }
func (c Config) hidden() {}

type Guard interface {
	Check(s string) (found bool)
}

func Run(name string, options ...Kind) (code int, err error) { return 0, nil }

func Map[T any](list []T) map[string]T { return nil }

func internal() {}
`

// api is what a package of one file exports.
func api(t *testing.T, source string) map[string][]string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "lib.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("example.com/lib", files, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]string{"lib.txt": lines(pkg)}
}

func TestLines(t *testing.T) {
	want := `const Limit untyped int = 3
func Map[T any]([]T) map[string]T
func Run(string, ...Kind) (int, error)
method (*Config) Grow(int) error
method (Config) Empty() bool
type Config struct
type Config struct, Name string ` + "`json:\"name\"`" + `
type Config struct, Size int
type Guard interface
type Guard interface, Check(string) bool
type Kind string
var Names []string`
	if got := strings.Join(api(t, library)["lib.txt"], "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Each change is found, and what is none is not.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		gone, added    int
	}{
		{"a method is removed", "func (c Config) Empty() bool { return false }", "", 1, 0},
		{"a method is added", "func internal() {}", "func (c Config) Full() bool { return true }", 0, 1},
		{"an interface wants more", "Check(s string) (found bool)", "Check(s string) (found bool)\n\tName() string", 0, 1},
		{"a parameter has another type", "by int", "by int64", 1, 1},
		{"a receiver becomes a pointer", "func (c Config) Empty", "func (c *Config) Empty", 1, 1},
		{"a field has another type", "Size int", "Size int64", 1, 1},
		{"a field is removed", "Size int\n", "\n", 1, 0},
		{"a field is added", "Size int", "Size, Depth int", 0, 1},
		{"the first unexported field", "Size int", "Size int\n\tsecret int", 0, 1},
		{"another key in JSON", `json:\"name\"`, `json:\"title\"`, 1, 1},
		{"another value of a constant", "Limit = 3", "Limit = 4", 1, 1},
		{"another underlying type", "type Kind string", "type Kind int", 1, 1},
		{"another constraint", "[T any]", "[T comparable]", 1, 1},
		{"a function becomes unexported", "func Run", "func run", 1, 0},

		{"nothing", "", "", 0, 0},
		{"other names of parameters", "name string, options ...Kind", "title string, kinds ...Kind", 0, 0},
		{"other names of results", "(found bool)", "(yes bool)", 0, 0},
		{"another description", "What it is called.", "Its name.", 0, 0},
		{"something unexported", "func internal() {}", "func other() {}", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := strings.ReplaceAll(c.old, `\"`, `"`)
			if !strings.Contains(library, old) {
				t.Fatalf("%q is not in the library", old)
			}
			changed := strings.Replace(library, old, strings.ReplaceAll(c.new, `\"`, `"`), 1)
			var out bytes.Buffer
			err := compare(api(t, library), api(t, changed), &out)
			if want := c.gone+c.added > 0; errors.Is(err, errChanged) != want {
				t.Errorf("changed: %v, want %v", err, want)
			}
			if got := strings.Count("\n"+out.String(), "\n- lib: "); got != c.gone {
				t.Errorf("%d lines are gone, want %d:\n%s", got, c.gone, out.String())
			}
			if got := strings.Count("\n"+out.String(), "\n+ lib: "); got != c.added {
				t.Errorf("%d lines are new, want %d:\n%s", got, c.added, out.String())
			}
		})
	}
}

// A package that is gone, or new, is a change of all its lines.
func TestComparePackages(t *testing.T) {
	one := map[string][]string{"a.txt": {"func A()"}}
	two := map[string][]string{"b.txt": {"func B()"}}
	var out bytes.Buffer
	if err := compare(one, two, &out); !errors.Is(err, errChanged) || !strings.Contains(out.String(), "- a: func A()") || !strings.Contains(out.String(), "+ b: func B()") {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

// The whole way: a module is compiled, written down, changed, refused, accepted.
// What nobody can import is left out.
func TestRun(t *testing.T) {
	module := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		file := filepath.Join(module, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put("go.mod", "module example.com/lib\n\ngo 1.26.0\n")
	put("lib.go", library)
	put("part/part.go", "package part\n\nimport \"example.com/lib\"\n\n// Of is one.\nfunc Of() *lib.Config { return nil }\n")
	put("internal/hidden/hidden.go", "package hidden\n\nfunc Hidden() {}\n")
	put("cmd/tool/main.go", "package main\n\nfunc main() {}\n")
	t.Chdir(module)
	var out bytes.Buffer
	if err := run("api", false, &out); err == nil || !strings.Contains(err.Error(), "make api") {
		t.Errorf("without files to compare with: %v", err)
	}
	if err := run("api", true, &out); err != nil {
		t.Fatal(err)
	}
	files, err := listed("api")
	if err != nil || strings.Join(files, " ") != "lib.txt part.txt" {
		t.Errorf("the files are %v (%v)", files, err)
	}
	if err := run("api", false, &out); err != nil || out.Len() > 0 {
		t.Errorf("nothing was changed: %v\n%s", err, out.String())
	}
	put("part/part.go", "package part\n\n// None is none.\nfunc None() {}\n")
	if err := run("api", false, &out); !errors.Is(err, errChanged) || !strings.Contains(out.String(), "- part: func Of() *example.com/lib.Config") || !strings.Contains(out.String(), "+ part: func None()") {
		t.Errorf("a change is not found: %v\n%s", err, out.String())
	}
	if err := os.RemoveAll("part"); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := run("api", true, &out); err != nil {
		t.Fatal(err)
	}
	if files, err = listed("api"); err != nil || len(files) != 1 {
		t.Errorf("the file of a package that is gone stays: %v (%v)", files, err)
	}
}

// The library has no state of its own: what a package exports as a variable is an
// error to compare with, or the one signature that is the same everywhere. A list
// that anybody could write to is a function.
func TestNoStateIsExported(t *testing.T) {
	all, err := load(filepath.Join("..", "..", "docs", "api"))
	if err != nil {
		t.Fatal(err)
	}
	errs := 0
	for file, lines := range all {
		for _, l := range lines {
			switch {
			case !strings.HasPrefix(l, "var "):
			case strings.HasPrefix(l, "var Err") && strings.HasSuffix(l, " error"):
				errs++
			case file == "signature.txt" && l == "var Pass Signature":
			default:
				t.Errorf("%s: %s", file, l)
			}
		}
	}
	if errs == 0 {
		t.Error("no errors were found: these are not the files")
	}
}

// A program cannot name the types of internal packages: the library takes and returns none, but
// for an alias that gives one a public name.
func TestNoInternalTypeIsExported(t *testing.T) {
	all, err := load(filepath.Join("..", "..", "docs", "api"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%d packages: %v", len(all), err)
	}
	for file, lines := range all {
		for _, line := range lines {
			if strings.Contains(line, "/internal/") && !strings.Contains(line, " = ") {
				t.Errorf("%s: %s", file, line)
			}
		}
	}
}
