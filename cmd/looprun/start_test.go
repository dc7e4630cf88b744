package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// atStart are the calls that a variable of a package may be made with. Each is
// cheap or puts off what is not: looprun starts twice for each run, and far more
// often than any one of its parts is used.
var atStart = []string{
	"errors.New", "fmt.Errorf", "sync.OnceValue", "sync.OnceValues", "sync.OnceFunc", "lazy.Regexp",
	"make", "new", "len", "string", "byte", "rune", "append", "min", "max", "int", "int64", "uint64", "float64",
	"strings.NewReplacer", "reflect.TypeFor", "reflect.TypeOf", "time.Date", "time.Duration",
	"conversion",
	"signalled", "rejected", "listed", // of templates and signature: closures
	"classes", "fold", // of signature: 256 bytes each
}

// TestNothingIsMadeAtStart looks for work in the variables and init functions of
// all packages that are in the program: no regular expression is compiled there,
// no document parsed, no schema built.
func TestNothingIsMadeAtStart(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if e.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"testdata", "tools", "bench", "examples", "bin", "dist", "looptest"}, name)) {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); path != root && err == nil {
				return filepath.SkipDir // a program of its own
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, problem := range workAtStart(set, file) {
			t.Error(problem)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// workAtStart lists what a file does before main.
func workAtStart(set *token.FileSet, file *ast.File) []string {
	var problems []string
	complain := func(at token.Pos, what string) {
		problems = append(problems, fmt.Sprintf("%s: %s when the program starts; use sync.OnceValue", set.Position(at), what))
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" && !sets(f.Body) {
			complain(f.Pos(), "init is run")
		}
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		ast.Inspect(g, func(n ast.Node) bool {
			if _, inside := n.(*ast.FuncLit); inside {
				return false // that is run when it is called
			}
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := called(c.Fun)
			if !slices.Contains(atStart, name) {
				complain(c.Pos(), name+" is called")
			}
			return true
		})
	}
	return problems
}

// sets reports whether all that a function does is to hand over functions, which is no work.
func sets(body *ast.BlockStmt) bool {
	for _, s := range body.List {
		a, ok := s.(*ast.AssignStmt)
		if !ok || slices.ContainsFunc(a.Rhs, func(e ast.Expr) bool { _, ok := e.(*ast.FuncLit); return !ok }) {
			return false
		}
	}
	return len(body.List) > 0
}

// called is the name of a function, without type parameters.
func called(e ast.Expr) string {
	switch f := e.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return called(f.X) + "." + f.Sel.Name
	case *ast.IndexExpr:
		return called(f.X)
	case *ast.IndexListExpr:
		return called(f.X)
	case *ast.ParenExpr:
		return called(f.X)
	case *ast.ArrayType, *ast.StarExpr:
		return "conversion"
	}
	return fmt.Sprintf("%T", e)
}

func TestWorkAtStartIsFound(t *testing.T) {
	for text, want := range map[string]int{
		`var a = regexp.MustCompile("x")`:                             1,
		`var a = map[string]any{"x": []any{regexp.MustCompile("x")}}`: 1,
		`var a = build()`:                                   1,
		`var a = func() int { return build() }()`:           1,
		`func init() {}`:                                    1,
		`func init() { a = func() int { return build() } }`: 0,
		`func init() { a = func() {}; b = build() }`:        1,
		`func init() { build() }`:                           1,
		`var a = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("x") })`:           0,
		`var a = sync.OnceValue(build())`:                                                            1,
		`var a, b = errors.New("x"), []byte("y")`:                                                    0,
		`func f() { var a = regexp.MustCompile("x"); _ = a }`:                                        0,
		`type t struct{}; func (t) init() {}`:                                                        0,
		`var a = template.Must(template.New("x").Parse("{{.}}"))`:                                    3,
		`var a = sync.OnceValues[int, error](func() (int, error) { return strconv.Atoi("1") }), b()`: 1,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "x.go", "package p\n"+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := workAtStart(set, file); len(got) != want {
			t.Errorf("%s: %q, want %d", text, got, want)
		}
	}
}
