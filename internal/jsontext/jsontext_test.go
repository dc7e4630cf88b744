package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMapChangesTextsAndNoKeys(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"secret":["a secret",{"b":"secret"}],"n":1e400}`, `{"n":1e400,"secret":["a ***",{"b":"***"}]}`},
		{`"secret"`, `"***"`},
		{`"\u0073ecret"`, `"***"`},
		{`{ "secret" : 1 }`, `{ "secret" : 1 }`},
		{`{"secret":"secret"`, `{"secret":"secret"`},
		{``, ``},
	} {
		got, changed := Map(json.RawMessage(c.in), func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
		if string(got) != c.want || changed != (c.in != c.want) {
			t.Errorf("%s: got %s, %v; want %s", c.in, got, changed, c.want)
		}
	}
}
