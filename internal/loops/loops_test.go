package loops

import (
	"slices"
	"strings"
	"testing"
)

const whole = `
jobs: 4
total_cost: 20
total_tokens: 2M
min_free: 2GiB
keep_trees: 72h
defaults:
  check: go test ./{pkg}
  max_iterations: 5
  max_cost: 2
  templates: [pack]
  needs: [gpu]
  env: {GOFLAGS: -mod=mod, PKG: "{pkg}"}
  cost_from: claude
  wait_on: ["@claude"]
loops:
  - name: fix
    command: ["./fix.sh", "{pkg}", "{go}"]
    matrix: {pkg: [a, b], go: ["1.25", "1.26"]}
    max_iterations: 7
  - command: ./all.sh "${HOME}"
    check: make test
    copy: [.env]
`

func TestParse(t *testing.T) {
	f, err := Parse("loops.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range f.Loops {
		names = append(names, l.Name)
	}
	want := []string{"fix (1.25, a)", "fix (1.25, b)", "fix (1.26, a)", "fix (1.26, b)", `./all.sh "${HOME}"`}
	if !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	l := f.Loops[1]
	if got := l.Command.Words; !slices.Equal(got, []string{"./fix.sh", "b", "1.25"}) {
		t.Errorf("command %q", got)
	}
	if l.Check != "go test ./b" || l.Env["PKG"] != "b" || l.Keys()["max_iterations"] != "7" || l.Keys()["max_cost"] != "2" || l.Keys()["templates"] == nil || l.Keys()["check"] != "go test ./b" {
		t.Errorf("loop %+v", l)
	}
	if !slices.Equal(f.Loops[4].Needs, []string{"gpu"}) || f.Loops[4].Check != "make test" || f.Loops[4].Keys()["max_iterations"] != "5" {
		t.Errorf("loop %+v", f.Loops[4])
	}
	if *f.MinFree != 2<<30 || *f.MaxTokens != 2_000_000 {
		t.Errorf("file %+v", f)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"loops: []":                                                          "there is no loop in it",
		"jobs: 0\nloops: [{command: a}]":                                     "jobs: 0 is too few",
		"loops: [{name: a}]":                                                 "the loop has no command",
		"loops: [{command: a}, {command: a}]":                                `two loops are called "a"`,
		"loops: [{command: [a, [b]]}]":                                       "a command is a list of words",
		"loops: [{command: a, dir: ../x}]":                                   "leads out of the work tree",
		"loops: [{command: a, dir: '{d}', matrix: {d: [../x]}}]":             "leads out of the work tree",
		"loops: [{command: a, copy: [/etc/passwd]}]":                         "is not a file in the repository",
		"loops: [{command: a, env: {LOOPRUN_TRUST: x}}]":                     "cannot be set",
		"loops: [{command: 'x {a}', matrix: {a: [$(id)]}}]":                  "has characters that a shell interprets",
		"loops: [{command: [x], check: 'y \"{a}\"', matrix: {a: ['`id`']}}]": "has characters that a shell interprets",
		"loops: [{command: [x], check: 'y {a}', matrix: {a: ['-rf']}}]":      "has characters that a shell interprets",
		"loops: [{command: a, matrix: {'x}{y': [b]}}]":                       "needs a name of letters",
		"loops: [{command: a, matrix: {x: []}}]":                             "at least one value",
		"loops: [{command: a, matrix: {x: [b, '']}}]":                        "a value of {x} is empty",
		"min_free: 3\nloops: [{command: a}]":                                 "is not a size",
		"loops: [{command: a, max_iterations: 0}]":                           "loops.yaml:1:38: ",
		"loops: [{command: a, max_iteration: 3}]":                            `1:22: unknown key "max_iteration"; did you mean "max_iterations"?`,
		"loops: [{command: a, policy: }]":                                    `"policy" has no value`,
		"loops: [{command: a, state_dir: x}]":                                "state_dir is set for all loops; leave it out",
		"loops: [{command: a, comand: b}]":                                   `did you mean`,
		"loops: [{command: a, needs: [gpu, 'a b']}]":                         `needs: "a b" is not one word`,
		"defaults: {name: x}\nloops: [{command: a}]":                         "defaults have no name",
	} {
		_, err := Parse("loops.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n gives %v, want %s", text, err, want)
		}
	}
	big := "loops: [{command: '{a}{b}', matrix: {a: [" + strings.Repeat("x,", 200) + "x], b: [" + strings.Repeat("y,", 200) + "y]}}]"
	if _, err := Parse("loops.yaml", []byte(big)); err == nil || !strings.Contains(err.Error(), "more than 10000 loops") {
		t.Errorf("40000 loops give %v", err)
	}
}

// A value never becomes more of a shell line than one plain word.
func FuzzValueInShellLine(f *testing.F) {
	f.Add("a b")
	f.Add("$(id)")
	f.Fuzz(func(t *testing.T, value string) {
		l, err := (Loop{Command: Command{Shell: `run "{x}" '{x}' {x}`}}).With(map[string]string{"x": value})
		if err == nil && strings.ContainsAny(value, " \t\n\"'`$\\;&|<>(){}[]*?!#~^") {
			t.Fatalf("%q became %q", value, l.Command.Shell)
		}
	})
}
