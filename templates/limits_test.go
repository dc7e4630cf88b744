package templates

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each rule of a template at its limit, and one step past it.
func TestLimitsOfTemplates(t *testing.T) {
	const cancel = "  - {id: cancel, label: Cancel, action: cancel}\n"
	options := func(n int) string {
		var b strings.Builder
		for i := range n - 1 {
			fmt.Fprintf(&b, "  - {id: o%d, label: Option %d, action: accept}\n", i, i)
		}
		return b.String() + cancel
	}
	option := func(text string) string { return "  - {" + text + "}\n" + cancel }
	long := func(n int) string { return strings.Repeat("ä", n) }
	for _, c := range []struct{ name, top, options, want string }{
		{"two options", "", options(2), ""},
		{"one option", "", options(1), "option"},
		{"nine options", "", options(9), ""},
		{"ten options", "", options(10), "option"},
		{"no option that cancels", "", "  - {id: a, label: A, action: accept}\n  - {id: b, label: B, action: pause}\n", "no option cancels"},
		{"a description of 500", "", option("id: a, label: A, action: accept, description: " + long(500)), ""},
		{"a description of 501", "", option("id: a, label: A, action: accept, description: " + long(501)), "the description has 501 characters"},
		{"an id of 40", "", option("id: " + strings.Repeat("a", 40) + ", label: A, action: accept"), ""},
		{"an id of 41", "", option("id: " + strings.Repeat("a", 41) + ", label: A, action: accept"), "is not an option id"},
		{"an id twice", "", option("id: a, label: A, action: accept}\n  - {id: a, label: B, action: accept"), "is that of option 1 too"},
		{"a label twice", "", option("id: a, label: A, action: accept}\n  - {id: b, label: a, action: accept"), "is that of option 1 too"},
		{"a label of 60", "", option("id: a, label: " + long(60) + ", action: accept"), ""},
		{"a label of 61", "", option("id: a, label: " + long(61) + ", action: accept"), `"label" has 61 characters`},
		{"one iteration more", "", option("id: a, label: A, action: continue, extend: {iterations: 1}"), ""},
		{"no iteration more", "", option("id: a, label: A, action: continue, extend: {iterations: 0}"), "iterations has to be above 0"},
		{"another limit extended", "", option("id: a, label: A, action: continue, extend: {tokens: 1}"), "without extending the limit"},
		{"no tokens more", "", option("id: a, label: A, action: continue, extend: {iterations: 1, tokens: 0}"), "not an amount to extend a limit by"},
		{"a percentage of which not everybody reads the same", "", option("id: a, label: A, action: continue, extend: {iterations: 1, tokens: 010%}"), "not an amount to extend a limit by"},
		{"a default", "default: cancel\n", options(2), ""},
		{"a default that is none", "default: cancl\n", options(2), "no option has the id"},
		{"a default that runs a command", "default: a\n", option("id: a, label: A, action: run, command: make"), "which decides nothing"},
		{"a default that reviews", "default: a\n", option("id: a, label: A, action: review"), "which decides nothing"},
		{"an option that runs nothing", "", option("id: a, label: A, action: run, command: ' '"), "has no command"},
		{"an option called as an action it has not", "", option("id: accept, label: A, action: continue, extend: {iterations: 1}"), "a policy would be misread"},
		{"a rejection's action elsewhere", "", option("id: a, label: A, action: decompose, extend: {iterations: 1}"), "is for rejections only"},
	} {
		file := filepath.Join(t.TempDir(), "max_iterations.yaml")
		text := "guard: max_iterations\nheader: Limit\nshort: Limit\nquestion: How to go on?\n" + c.top + "options:\n" + c.options
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Check(file); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// However long the values are, a wording is cut where its limit is, between two
// characters.
func TestWordingsAreCut(t *testing.T) {
	const wording = "{{.Max}}{{.Summary}}"
	if faults := faultsIn(wording, Variables()); len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, c := range []struct{ first, second, want string }{
		{"12345", "67890", "1234567890"},
		{"12345", "678901", "1234567890…"},
		{"12345678901", "x", "1234567890…"},
		{"123456789", "é", "123456789…"},
		{"12345678", "é", "12345678é"},
	} {
		if got, err := fill(wording, facts{"Max": c.first, "Summary": c.second}, 10); got != c.want || err != nil {
			t.Errorf("%q and %q: %q, %v; want %q", c.first, c.second, got, err, c.want)
		}
	}
}
