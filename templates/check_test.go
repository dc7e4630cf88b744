package templates

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/problem"
)

// Each file in testdata/bad has a golden file with all its problems.
func TestCheckGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			err := Check(file)
			var problems problem.List
			if !errors.As(err, &problems) {
				t.Fatalf("error %v is no Problems", err)
			}
			golden(t, "bad-"+strings.TrimSuffix(filepath.Base(file), ".yaml")+".txt", filepath.ToSlash(err.Error())+"\n")
		})
	}
	if err := Check("testdata/bad"); err == nil || strings.Count(err.Error(), "\n") < 40 {
		t.Errorf("the folder as a whole gives\n%v", err)
	}
}

func TestCheckPaths(t *testing.T) {
	dir := t.TempDir()
	if err := Check(dir); err == nil || !strings.Contains(err.Error(), "holds no *.yaml file") {
		t.Errorf("empty folder: %v", err)
	}
	if err := Check(filepath.Join(dir, "missing")); err == nil || !strings.Contains(err.Error(), "missing: the folder of templates cannot be read: no such file") {
		t.Errorf("missing folder: %v", err)
	}
	link := filepath.Join(dir, "link.yaml")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), link); err != nil {
		t.Fatal(err)
	}
	if err := Check(dir); err == nil || !strings.Contains(err.Error(), "link.yaml: cannot be read") {
		t.Errorf("dangling link: %v", err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	if err := Check(dir); err == nil || !strings.Contains(err.Error(), "it is not a regular file") {
		t.Errorf("device: %v", err)
	}
	if err := Check(); err != nil {
		t.Errorf("nothing to check: %v", err)
	}
	if err := Check("builtin", "starter"); err != nil {
		t.Errorf("own files: %v", err)
	}
}

func TestCompile(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "How to proceed?", ""},
		{"variables", "{{.Max}} {{$.Max}} {{- .Summary -}}", ""},
		{"conditions", `{{if and .Improved (gt .Iteration 5)}}a{{else if eq .Guard "x" "y"}}b{{else}}c{{end}}`, ""},
		{"lists", `{{range .LastErrors}}{{.}} {{$.Max}}{{else}}none{{end}}{{join ", " .Tripped}}{{.LastErrors | join "; "}}`, ""},
		{"numbered list", `{{range $i, $e := .LastErrors}}{{$i}} {{$e}}{{if gt $i 1}}{{break}}{{end}}{{end}}`, ""},
		{"with", `{{with .LastError}}{{.}}{{else with .Signature}}{{.}}{{end}}`, ""},
		{"comment", `{{/* a note */}}`, ""},
		{"length", `{{if len .LastErrors}}{{len .Summary}}{{end}}`, ""},
		{"unknown variable", "ab {{.Maxx}}", `5: unknown variable {{.Maxx}}; did you mean {{.Max}}?`},
		{"two at once", "{{.Foo}}{{.Sumary}}", "2: unknown variable {{.Foo}}; the variables are"},
		{"part of a text", "{{.Max.Foo}}", "6: {{.Max}} is a text and has no parts"},
		{"method", "{{.Max.String}}", "6: {{.Max}} is a text and has no parts"},
		{"dot", "{{.}}", "2: {{.}} has no value here"},
		{"root", "{{$}}", "2: {{.}} has no value here"},
		{"list shown", "{{.LastErrors}}", "2: a list cannot be shown as it is"},
		{"variable in range", "{{range .LastErrors}}{{.Max}}{{end}}", "23: .Max is not known inside range and with; write $.Max"},
		{"range over a number", "{{range .Iteration}}x{{end}}", "8: range wants a list; lists are .FailingChecks, .LastErrors, .Cycle, .Tripped"},
		{"range without a declaration", "{{range $i, $e = .LastErrors}}x{{end}}", "8: range declares its variables with :="},
		{"endless range", "{{range 1000000000}}x{{end}}", "8: range wants a list"},
		{"deep ranges", "{{range .LastErrors}}{{range $.LastErrors}}{{range $.LastErrors}}{{end}}{{end}}{{end}}", "51: range is nested more than 2 deep"},
		{"function", `{{printf "%1000000000d" 1}}`, `2: unknown function "printf"`},
		{"call", `{{call .Max}}`, `2: unknown function "call"`},
		{"index", `{{index .LastErrors 0}}`, `2: unknown function "index"`},
		{"near function", `{{joi ", " .LastErrors}}`, `2: unknown function "joi"; did you mean "join"?`},
		{"joined in the wrong order", `{{join .LastErrors ", "}}`, "2: join wants a text and a list"},
		{"compared types", `{{if eq .Max 5}}a{{end}}`, "5: eq wants two or more values of one type"},
		{"compared lists", `{{if eq .LastErrors .LastErrors}}a{{end}}`, "5: eq wants two or more values of one type"},
		{"ordered bools", `{{if lt .Known .Improved}}a{{end}}`, "5: lt wants two numbers or two texts"},
		{"fraction", `{{if gt .Iteration 1.5}}a{{end}}`, "19: 1.5 is not a whole number"},
		{"length of a number", `{{len .Iteration}}`, "2: len wants one list or text"},
		{"not of two", `{{if not .Known .Known}}a{{end}}`, "5: not wants one value"},
		{"no values", `{{if and}}a{{end}}`, "5: and wants values"},
		{"mixed choice compared", `{{if eq (or .Max .Iteration) 1}}a{{end}}`, "5: eq wants"},
		{"no function", `{{.Max .Summary}}`, "2: .Max is not a function and takes nothing"},
		{"piped into a variable", `{{.Max | .Summary}}`, "9: .Summary is not a function"},
		{"declaration", `{{$x := .Max}}{{$x}}`, "2: variables of one's own are only supported in range"},
		{"define", `{{define "x"}}a{{end}}`, "0: define and block are not supported"},
		{"template", `{{template "x"}}`, "11: only variables, if, with and range are supported"},
		{"nil", `{{if eq nil .Max}}a{{end}}`, "8: nil is not supported"},
		{"chain", `{{(.Max).Foo}}`, "8: (.Max).Foo is not supported"},
		{"unfinished", "a {{.Max", "0: bad template syntax: unclosed action"},
		{"second line", "a\nb {{if}}{{end}}", "2: bad template syntax: missing value for if"},
		{"no end", "{{if .Known}}", "0: bad template syntax: if, with or range has no end; add {{end}}"},
		{"number that may be unknown", "{{if .Failing}}a{{end}}", "5: {{.Failing}} is -1 when it is not known, which holds here; write gt .Failing 0"},
		{"unknown number in a choice", "{{if and .Known (not $.Passing)}}a{{end}}", "22: {{.Passing}} is -1"},
		{"number that may be unknown, with", "{{with .Tokens}}a{{end}}", "7: {{.Tokens}} is -1"},
		{"number compared", "{{if ge .Failing 0}}a{{end}}", ""},
		{"not a variable", "{{Max}}", `2: unknown function "Max"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			faults := faultsIn(c.text, Variables())
			if c.want == "" {
				if len(faults) > 0 {
					t.Fatalf("faults %+v", faults)
				}
				return
			}
			if len(faults) == 0 {
				t.Fatal("no fault found")
			}
			got := strings.TrimPrefix(problem.Problem{Line: faults[0].offset, Text: faults[0].text, Remedy: faults[0].remedy}.Error(), ":")
			if faults[0].offset == 0 {
				got = "0: " + got
			}
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
	if faults := faultsIn("{{.A}} {{.B}} {{bad}}", Variables()); len(faults) != 3 {
		t.Errorf("not all faults at once: %+v", faults)
	}
}

// Whatever wording is taken can be filled in, from a run and from nothing.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"{{.Max}}", "{{range $i, $e := .LastErrors}}{{$i}}{{$e}}{{break}}{{end}}", `{{join ", " .Cycle}}`, "{{with .LastError}}{{.}}{{else with .Task}}{{.}}{{end}}",
		`{{if and (gt .Iteration 5) (not .Known) (or .Task .LastErrors)}}a{{end}}`, "{{range .LastErrors}}{{range $.Cycle}}{{.}}{{continue}}{{end}}{{end}}",
		`{{.LastErrors | join "x" | len}}`, `{{eq .Max "10" .Task}}`, "{{- /* a */ -}}", `{{"a" | len}}{{true}}{{1}}`, "{{range 3}}{{end}}", "{{$.Max}}{{lt 1 2}}",
		"{{range $i, $e = .LastErrors}}{{$e}}{{end}}",
	} {
		f.Add(s)
	}
	builtin, err := Load()
	if err != nil {
		f.Fatal(err)
	}
	s, trip := Sample(core.LoopDetected)
	values := []facts{
		(&source{state: s, trip: trip, texts: builtin.texts}).facts(),
		(&source{state: &core.State{}, texts: builtin.texts}).facts(),
	}
	f.Fuzz(func(t *testing.T, text string) {
		faults := faultsIn(text, Variables())
		for _, fault := range faults {
			if fault.offset < 0 || fault.offset > len(text) || fault.text == "" {
				t.Errorf("fault %+v", fault)
			}
		}
		if len(faults) > 0 {
			return
		}
		for _, v := range values {
			got, err := fill(text, v, 200)
			if err != nil || len(got) > 3*200+3 {
				t.Errorf("%q: %d bytes, %v", text, len(got), err)
			}
		}
	})
}

// The pattern in the schema and the code agree.
func TestIDs(t *testing.T) {
	pattern := regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	for _, id := range []string{"", "a", "A", "new_approach", "a-1", "1a", "_a", "a b", "ä", "aä", "a.", "a\n", "z9_-"} {
		if got, want := isID(id), pattern.MatchString(id); got != want {
			t.Errorf("isID(%q) = %v, the pattern says %v", id, got, want)
		}
	}
}
