package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// Every command shows an example in its help, and says what each flag is for.
func TestHelp(t *testing.T) {
	parser, err := kong.New(new(cli), kong.Vars{"version": "test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range parser.Model.Leaves(true) {
		if !strings.Contains(n.Detail, "Example:\n  looprun ") {
			t.Errorf("%s has no example", n.Path())
		}
		for _, f := range n.Flags {
			if f.Help == "" || !strings.HasSuffix(f.Help, ".") {
				t.Errorf("%s --%s: the help %q is no sentence", n.Path(), f.Name, f.Help)
			}
		}
	}
}
