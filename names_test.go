package looprun_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun"
)

// The page of this package shows the fields of its types, although most are defined elsewhere.
func TestThePageShowsFields(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			shown[spec.Name.Name] = spec.Doc.Text()
		}
		return true
	})
	short := strings.NewReplacer("core.", "", "engine.", "", "uint8", "byte")
	for _, of := range []reflect.Type{
		reflect.TypeFor[looprun.Limits](), reflect.TypeFor[looprun.Caps](), reflect.TypeFor[looprun.Trip](),
		reflect.TypeFor[looprun.Iteration](), reflect.TypeFor[looprun.IterationResult](), reflect.TypeFor[looprun.CostReported](),
		reflect.TypeFor[looprun.Backoff](), reflect.TypeFor[looprun.Result](), reflect.TypeFor[looprun.Question](),
		reflect.TypeFor[looprun.Option](), reflect.TypeFor[looprun.Answer](), reflect.TypeFor[looprun.Event](),
		reflect.TypeFor[looprun.Invocation](), reflect.TypeFor[looprun.Exit](),
	} {
		var want, got []string
		for f := range of.Fields() {
			switch {
			case f.Anonymous:
				want = append(want, f.Name)
			case f.IsExported():
				want = append(want, f.Name+" "+short.Replace(f.Type.String()))
			}
		}
		for line := range strings.Lines(shown[of.Name()]) {
			field, indented := strings.CutPrefix(line, "\t")
			if field, _, _ = strings.Cut(field, "//"); !indented {
				continue
			}
			names, kind, _ := strings.Cut(strings.ReplaceAll(strings.Join(strings.Fields(field), " "), ", ", ","), " ")
			for name := range strings.SplitSeq(names, ",") {
				got = append(got, strings.TrimSpace(name+" "+short.Replace(kind)))
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the page shows\n%q, and the fields are\n%q", of.Name(), got, want)
		}
	}
}
