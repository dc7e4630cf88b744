package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// Whatever word is wrong, the nearest that is known is named.
func TestMistaken(t *testing.T) {
	for typed, want := range map[string]string{
		"policy chek":                `"chek" is not a command of looprun policy; did you mean looprun policy check?`,
		"policy chek p.yaml":         `"chek" is not a command of looprun policy; did you mean looprun policy check?`,
		"template lsit":              `"lsit" is not a command of looprun template; did you mean looprun template list?`,
		"template nonsense":          `"nonsense" is not a command of looprun template; use one of list, show, init, check, preview, schema`,
		"config shwo":                `"shwo" is not a command of looprun config; did you mean looprun config show?`,
		"--color alwys":              `--color: "alwys" is not known; did you mean "always"?`,
		"--color nonsense":           `--color: "nonsense" is not known; use one of auto, always, never`,
		"--assistant-for ask,gaurds": `--assistant-for: "gaurds" is not known; did you mean "guards"?`,
		"policy schema fact":         `of: "fact" is not known; did you mean "facts"?`,
		"completion bsh":             `shell: "bsh" is not known; did you mean "bash"?`,
		"ask x --to usr":             `--to: "usr" is not known; did you mean "user"?`,
		"ask x --to no":              `--to: "no" is not known; use one of user, assistant, assistant_with_escalation`,
		"show --format a\"b,\\x":     `--format: "a\"b,\\x" is not known; use one of `,
		"--max-runtime -5s":          `--max-runtime: "-5s" looks like a flag; write --max-runtime="-5s" if it is the value`,
		"--check --promise":          `--check: "--promise" looks like a flag; write --check="--promise" if it is the value`,
		"list -n -1":                 `--number: "-1" looks like a flag; write --number="-1" if it is the value`,
		"--exit-code done=x":         `--exit-code: "x" is not a whole number; write KEY=N, such as cancelled=1`,
		// Others are somebody else's.
		"nonsense":     "",
		"--nonsense":   "",
		"policy check": "",
		"show a b":     "",
		"policy":       "",
	} {
		parser, err := kong.New(new(cli), kong.Name("looprun"), kong.Vars{"version": "test"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(strings.Split(typed, " "))
		if err == nil {
			t.Fatalf("%s is no mistake", typed)
		}
		switch got := mistaken(err); {
		case want == "" && got != nil:
			t.Errorf("%s: %v, want nothing", typed, got)
		case want != "" && (got == nil || !strings.HasPrefix(got.Error(), want)):
			t.Errorf("%s: %v, want %s (%v)", typed, got, want, err)
		}
	}
	if got := mistaken(errors.New(`x must be one of "a"`)); got != nil {
		t.Errorf("%v", got)
	}
}

func TestHiddenCommandsAreNotSuggested(t *testing.T) {
	n := &kong.Node{Children: []*kong.Node{{Name: "complete", Hidden: true}, {Name: "completion"}}}
	if got := visibleNames(n); len(got) != 1 || got[0] != "completion" {
		t.Errorf("%q", got)
	}
}
