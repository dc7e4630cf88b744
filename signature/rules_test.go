package signature

import (
	"strings"
	"testing"
)

// ruleExample is a fixture of rules.yaml: the rule, a line, and the fact it gives.
type ruleExample struct{ rule, line, want string }

func TestRuleExamples(t *testing.T) {
	sc := &scanner{}
	for _, e := range ruleExamples {
		f := sc.split([]byte(e.line))
		var p pairs
		var fd fields
		p.fill(f.body)
		r := book().find(f.body, f.bar, &p, &fd)
		if e.want == "-" {
			if r != nil && r.id == e.rule {
				t.Errorf("%s takes %q, it must not", e.rule, e.line)
			}
			continue
		}
		if r == nil || r.id != e.rule {
			got := "no rule"
			if r != nil {
				got = r.id
			}
			t.Errorf("%q is taken by %s, want %s", e.line, got, e.rule)
			continue
		}
		kind, _, _ := strings.Cut(e.want, " ")
		if factNames[r.fact] != kind {
			t.Errorf("%q gives %s, want %s", e.line, factNames[r.fact], e.want)
		}
	}
}
