package policy

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/rounds"
)

// What is not known makes nothing true, unless the comparison itself says what
// holds then; and it hides nothing that is true without it.
func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		when string
		want bool // when nothing is known but that this is CI
	}{
		{"failing < 3", false},
		{"not (failing > 2)", false},
		{"failing < 3 || ci", true},
		{"ci || failing < 3", true},
		{"failing < 3 && ci", false},
		{"failing < 3 || failing == -1 && not ci", false},
		{"failing == -1 && not ci || failing < 3", false},
		{"failing in [-1] && not ci || failing < 2", false},
		{"total >= 0 && failing < 0 || failing < 3", false},
		{`branch != "" && not ci || branch != "release"`, false},
		{"pull_request == 0 && not ci || pull_request < 10", false},
		{"last_exit_code != 1 || last_exit_code == -1 && not ci", false},
		{"not (failing < 3 && not ci)", true},
		{"(failing == -1) == true && failing < 3", false},
		{"(failing == -1) == (failing < 3)", false},
		{"failing + 0 < 3", false},
	} {
		p, err := rule(t, "max_iterations", c.when)
		if err != nil {
			t.Errorf("%s: %v", c.when, err)
			continue
		}
		f := core.UnknownFacts("max_iterations")
		f.CI = true
		if got, why := p.Rules[0].when.eval(f, false); got != c.want || got != (why == "") {
			t.Errorf("%s: %v %q, want %v", c.when, got, why, c.want)
		}
	}
}

// Where only some of the failing checks are named, nothing holds that the
// others could change.
func TestSomeUnnamed(t *testing.T) {
	for when, want := range map[string]bool{
		`any(failing_checks, # startsWith "auth")`:                     true,
		`"auth" in failing_checks`:                                     true,
		`not none(failing_checks, # == "auth")`:                        true,
		`any(failing_checks, # == "db")`:                               false,
		`not ("db" in failing_checks)`:                                 false,
		`not any(failing_checks, # == "db")`:                           false,
		`none(failing_checks, # == "db")`:                              false,
		`all(failing_checks, # startsWith "auth")`:                     false,
		`len(failing_checks) <= 50`:                                    false,
		`any(failing_checks, # == "auth" && len(failing_checks) == 1)`: false,
		`any(failing_checks, # == "auth") && failing == 2`:             true,
	} {
		p, err := rule(t, "max_iterations", when)
		if err != nil {
			t.Errorf("%s: %v", when, err)
			continue
		}
		got, why := p.Rules[0].when.eval(core.Facts{Failing: 2, FailingChecks: []string{"auth"}}, false)
		if got != want || got != (why == "") {
			t.Errorf("%s: %v %q, want %v", when, got, why, want)
		}
	}
	p, err := rule(t, "max_iterations", `none(failing_checks, # == "db")`)
	if err != nil {
		t.Fatal(err)
	}
	if _, why := p.Rules[0].when.eval(core.Facts{Failing: 2, FailingChecks: []string{"auth"}}, false); !strings.Contains(why, "1 of 2 failing checks are named") {
		t.Errorf("why: %q", why)
	}
	if got, why := p.Rules[0].when.eval(core.Facts{Failing: 1, FailingChecks: []string{"auth"}}, false); !got {
		t.Errorf("all are named: %s", why)
	}
}

// randomCondition writes a condition over facts that can be unknown, none of
// which it compares with its unknown value.
func randomCondition(r *rand.Rand, depth int) string {
	leaves := []string{
		"failing < 2", "failing != 1", "2 > total", "passing >= 1", "failing + passing == total", "improved", "ci",
		`branch == "a"`, `branch != "b"`, `signature startsWith "a"`, "cost < 1.5", "tokens > 1", `guard == "max_runtime"`,
		`any(failing_checks, # == "a")`, `none(failing_checks, # == "b")`, `all(failing_checks, # in ["a", "b"])`, `"a" in failing_checks`, "len(failing_checks) < 2", "pull_request in [1, 2]",
	}
	if depth == 0 || r.IntN(4) == 0 {
		return leaves[r.IntN(len(leaves))]
	}
	a, b := randomCondition(r, depth-1), randomCondition(r, depth-1)
	switch r.IntN(3) {
	case 0:
		return "not (" + a + ")"
	case 1:
		return "(" + a + ") and (" + b + ")"
	}
	return "((" + a + ") || (" + b + "))"
}

// randomFacts are facts that are all known.
func randomFacts(r *rand.Rand) core.Facts {
	texts := []string{"a", "b", "c"}
	f := core.UnknownFacts("max_iterations")
	f.Failing, f.Passing, f.Total, f.Tokens, f.Cost, f.PullRequest = r.IntN(3), r.IntN(3), r.IntN(3), r.IntN(3), float64(r.IntN(3)), 1+r.IntN(3)
	f.Branch, f.Signature, f.CI, f.Improved = texts[r.IntN(3)], texts[r.IntN(3)], r.IntN(2) == 0, r.IntN(2) == 0
	for i := range f.Failing {
		f.FailingChecks = append(f.FailingChecks, texts[(i+r.IntN(2))%3])
	}
	return f
}

// blot takes some of the facts away.
func blot(r *rand.Rand, f core.Facts) core.Facts {
	blank := core.UnknownFacts("max_iterations")
	if r.IntN(2) == 0 {
		f.Failing, f.FailingChecks = blank.Failing, nil
	}
	if r.IntN(2) == 0 {
		f.Passing, f.Cost, f.Branch = blank.Passing, blank.Cost, blank.Branch
	}
	if r.IntN(2) == 0 {
		f.Total, f.Tokens, f.Signature, f.PullRequest = blank.Total, blank.Tokens, blank.Signature, blank.PullRequest
	}
	if n := len(f.FailingChecks); n > 0 {
		f.FailingChecks = f.FailingChecks[:r.IntN(n+1)]
	}
	return f
}

// compiled is the condition that a text compiles to.
func compiled(t *testing.T, text string) condition {
	t.Helper()
	root, faults := read(text, nil)
	if len(faults) > 0 {
		t.Fatal(text, faults)
	}
	return condition{text: text, raw: text, root: root}
}

// With every fact known a condition is what its expression is. With some of
// them taken away it never holds where the whole of them says that it does not.
func TestLessIsNeverMore(t *testing.T) {
	for seed := range uint64(rounds.Of(4000)) {
		r := rand.New(rand.NewPCG(seed, 7))
		c := compiled(t, randomCondition(r, 3))
		for range 5 {
			f := randomFacts(r)
			want, err := c.root.evaluate(f)
			if err != nil {
				t.Fatal(c.text, err)
			}
			if got, why := c.eval(f, false); got != want {
				t.Fatalf("%s of %+v: %v %q, want %v", c.text, f, got, why, want)
			}
			less := blot(r, f)
			if got, _ := c.eval(less, false); got && want == false {
				t.Fatalf("%s holds of %+v, and not of %+v", c.text, less, f)
			}
		}
	}
}

// FuzzCondition: a condition that can be read can be evaluated, and its parts mean what
// the whole does.
func FuzzCondition(f *testing.F) {
	for _, text := range []string{
		"improved && continues < 2", `not (signature matches "^a|\\bb\"") or "\u202e\x00é" == branch`, `any(failing_checks, # in ["a", 'b']) or cost < 1.5e3`,
		`runtime < 5m and -failing / 2 == 0`, "branch == `x`", "failing not in [1, 2] and !!ci", "runtime / 2 + 1h > 90s",
	} {
		f.Add(text)
	}
	facts := randomFacts(rand.New(rand.NewPCG(1, 1)))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxCondition {
			return
		}
		root, faults := read(text, nil)
		if len(faults) > 0 {
			for _, f := range faults {
				if f.at < 0 || f.at > len(text) {
					t.Errorf("%q: a fault at byte %d", text, f.at)
				}
			}
			return
		}
		c := condition{text: text, raw: text, root: root}
		want, err := root.evaluate(facts)
		if got, why := c.eval(facts, false); err == nil && got != (want == true) && !strings.Contains(why, "known") {
			t.Errorf("%s: %v %q, want %v", text, got, why, want)
		}
	})
}
