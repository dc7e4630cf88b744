package looprun_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// textReaders are the functions that look into the text of an error: at the borders
// where another program or library says in words alone what it means, and where the
// text is only set out anew. Everywhere else a fact is a field of the error.
var textReaders = map[string]string{
	"internal/strictyaml/document.go": "yaml puts its name and the line in front",
	"engine/loop_ask.go put":          "responders wrap the sentinels with the words that are shown",
	"protocol/signal/text.go":         "several lines are set out on one",
	"templates/text.go":               "text/template puts its name in front",
	"fleet/internal/cli/cli.go Main":  "an error is printed, each of its lines marked",
	"fleet/workflow.go decide":        "a history keeps an error as its words alone",
	"internal/workspace/git.go":       "git says in words alone that there is not a repository",
}

func TestTextOfErrorsIsNotRead(t *testing.T) {
	read := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !readsErrorText(f) {
				continue
			}
			name := filepath.ToSlash(path)
			if _, whole := textReaders[name]; !whole {
				name += " " + f.Name.Name
			}
			if read[name] = true; textReaders[name] == "" {
				t.Errorf("%s takes the text of an error apart; give the error a field, or list the border here", name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range textReaders {
		if !read[name] {
			t.Errorf("%s reads the text of no error any more; take it off the list", name)
		}
	}
}

// What the test finds, and what it does not mind.
func TestReadsErrorText(t *testing.T) {
	for body, want := range map[string]bool{
		`strings.Contains(err.Error(), "x")`:                                               true,
		`_ = strings.TrimSuffix(of.err.Error(), "x"+"y")`:                                  true,
		`text := err.Error(); if strings.HasPrefix(text, "x") {}`:                          true,
		`if text := fmt.Sprint(err.Error()); regexp.MustCompile("x").MatchString(text) {}`: true,
		`if err.Error() == "x" {}`:                                                         true,
		`switch err.Error() { case "x": }`:                                                 true,
		`text := err.Error(); print(text)`:                                                 false,
		`strings.Contains(name, "x"); _ = err.Error()`:                                     false,
		`log.Error("x"); strings.Contains("x", "y")`:                                       false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := readsErrorText(file.Decls[0].(*ast.FuncDecl)); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}

// readsErrorText reports whether a function gives the text of an error, or a variable
// that it put the text into, to a function of strings, bytes or a regular expression,
// or compares it.
func readsErrorText(f *ast.FuncDecl) bool {
	texts := map[string]bool{}
	holds := func(n ast.Node) (found bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Error" && len(n.Args) == 0 {
					found = true
				}
			case *ast.Ident:
				found = found || texts[n.Name]
			}
			return !found
		})
		return found
	}
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if !isText(n.Rhs[min(i, len(n.Rhs)-1)]) {
					continue
				}
				if name, ok := to.(*ast.Ident); ok && name.Name != "_" && holds(n.Rhs[min(i, len(n.Rhs)-1)]) {
					texts[name.Name] = true
				}
			}
		case *ast.BinaryExpr:
			found = found || (n.Op == token.EQL || n.Op == token.NEQ) && (holds(n.X) || holds(n.Y))
		case *ast.SwitchStmt:
			found = found || n.Tag != nil && holds(n.Tag)
		case *ast.CallExpr:
			of, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			pkg, _ := of.X.(*ast.Ident)
			if pkg != nil && (pkg.Name == "strings" && of.Sel.Name != "Join" || pkg.Name == "bytes") || strings.HasPrefix(of.Sel.Name, "Match") || strings.HasPrefix(of.Sel.Name, "FindString") {
				for _, arg := range n.Args {
					found = found || holds(arg)
				}
			}
		}
		return !found
	})
	return found
}

// isText reports whether an expression can be a text, and not something that only
// holds one.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CompositeLit, *ast.UnaryExpr:
		return false
	case *ast.CallExpr:
		name, ok := e.Fun.(*ast.Ident)
		return !ok || name.Name != "append"
	}
	return true
}
