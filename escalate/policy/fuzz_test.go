package policy

import (
	"errors"
	"os"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/problem"
)

// FuzzParse: whatever a file holds, it is either refused with places, or a
// policy that decides every question without running anything, and never with
// what its rules do not say.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("../../examples/ci/policy.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	f.Add(tested)
	for _, when := range []string{"improved && continues < 2", "failing >= 0 and not (signature matches branch)", `any(failing_checks, # in ["a"])`, `runtime < duration("5m") ? ci : failing[0]`, "((((", "1 ?? 2"} {
		f.Add("version: 1\nrules: [{guard: max_runtime, when: '" + when + "', answer: pause, reason: r}]\n")
	}
	f.Add("version: 1\nrules: [{guard: [max_cost, \"*\"], answer: reviw, verify: , reason: |\n}]\nexit_codes: {a: -1}\nbudget: {runtime: x}\n")
	k := known(f)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("p.yaml", []byte(text), k)
		if err != nil {
			var problems problem.List
			if p != nil || !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("%v %v", p, err)
			}
			return
		}
		for _, guard := range core.GuardIDs() {
			q := core.Question{Guard: guard, Options: k.question(guard).Options}
			s := state(guard)
			improving(s)
			e, err := p.Evaluate(t.Context(), q, s, Options{Verifying: VerifyPass})
			if err != nil {
				t.Fatal(err)
			}
			if e.Answer == nil {
				continue
			}
			if _, err := q.Resolve(*e.Answer); err != nil {
				t.Errorf("the loop would not take it: %v", err)
			}
			said := false
			for _, r := range p.Rules {
				said = said || (r.Answer == e.Answer.Option && r.Where == e.Answer.Rule && r.Reason == e.Answer.Reason && r.covers(guard))
			}
			if !said {
				t.Errorf("no rule says %+v", e.Answer)
			}
		}
		_, _ = p.RunTests()
	})
}
