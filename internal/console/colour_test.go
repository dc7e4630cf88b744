package console

import (
	"strings"
	"testing"
)

func environment(text string) func(string) string {
	env := map[string]string{}
	for _, v := range strings.Fields(text) {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	return func(name string) string { return env[name] }
}

// The flag beats the environment, the environment beats the terminal.
func TestColours(t *testing.T) {
	for _, c := range []struct {
		flag, env string
		terminal  bool
		want      bool
	}{
		{"auto", "", true, true},
		{"auto", "", false, false},
		{"always", "NO_COLOR=1 TERM=dumb", false, true},
		{"never", "FORCE_COLOR=1", true, false},
		{"auto", "NO_COLOR=1", true, false},
		{"auto", "NO_COLOR=", true, true},
		{"auto", "NO_COLOR=1 FORCE_COLOR=1", true, false},
		{"auto", "FORCE_COLOR=1", false, true},
		{"auto", "FORCE_COLOR=0", true, false},
		{"auto", "FORCE_COLOR=false", true, false},
		{"auto", "FORCE_COLOR=", false, false},
		{"auto", "CLICOLOR=0", true, false},
		{"auto", "CLICOLOR=1", false, false},
		{"auto", "CLICOLOR_FORCE=1", false, true},
		{"auto", "CLICOLOR_FORCE=0", false, false},
		{"auto", "TERM=dumb", true, false},
		{"auto", "TERM=dumb FORCE_COLOR=1", true, true},
	} {
		if got := Colours(c.flag, c.terminal, environment(c.env)); got != c.want {
			t.Errorf("--color %s, %q, terminal %v: %v", c.flag, c.env, c.terminal, got)
		}
	}
}
