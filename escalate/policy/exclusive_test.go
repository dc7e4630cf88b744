package policy

import (
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// No rule answers a question that is a person's alone, and the tests of a file
// see that as a run does.
func TestCasesOfExclusiveQuestions(t *testing.T) {
	without := known(t)
	delete(without, core.NoProgress)
	for _, c := range []struct {
		exclusive []core.GuardID
		known     Known
		answered  map[core.GuardID]bool
	}{
		{nil, known(t), map[core.GuardID]bool{"loop_detected": true, "max_cost": true}},
		{[]core.GuardID{"loop_detected"}, known(t), map[core.GuardID]bool{"loop_detected": false, "max_cost": true}},
		{[]core.GuardID{EveryGuard}, known(t), map[core.GuardID]bool{"loop_detected": true, "no_progress": true}},
		{[]core.GuardID{EveryGuard}, without, map[core.GuardID]bool{"loop_detected": true, "no_progress": false}},
	} {
		for _, id := range c.exclusive {
			q := c.known[id]
			q.Exclusive = true
			c.known[id] = q
		}
		p, err := Parse("p.yaml", []byte(`version: 1
rules: [{guard: "*", answer: cancel, reason: r}]
tests:
  - {facts: {guard: loop_detected}, expect: cancel}
  - {facts: {guard: max_cost}, expect: cancel}
  - {facts: {guard: no_progress}, expect: cancel}
`), c.known)
		if err != nil {
			t.Fatal(err)
		}
		results, err := p.RunTests()
		failed := 0
		for _, r := range results {
			guard := core.GuardID(r.Test.Facts.Guard)
			if !r.Passed() {
				failed++
			}
			if answered, ok := c.answered[guard]; ok && answered != r.Passed() {
				t.Errorf("%v: %s got %s", c.exclusive, guard, r.Got)
			}
		}
		if (failed > 0) != (err != nil) || err != nil && !strings.Contains(err.Error(), "; only a person may answer this question") {
			t.Errorf("%v: %v", c.exclusive, err)
		}
	}
}
