package rejection

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func equal(a, b Rejection) bool { return reflect.DeepEqual(a, b) }

// chars is a text of n code points, each of several bytes, within white space
// that does not count.
func chars(n int) string { return " \n" + strings.Repeat("界", n) + "\u00a0\t" }

func evidence(data ...string) []Evidence {
	var list []Evidence
	for _, d := range data {
		list = append(list, Evidence{Type: "status_check", Data: d})
	}
	return list
}

func titles(names ...string) []Task {
	var list []Task
	for _, n := range names {
		list = append(list, Task{Title: n})
	}
	return list
}

// ruleCase changes one thing about a valid rejection. Rule is the one rule that
// breaks, or ("ok:" before it) the one that the case shows to be kept.
type ruleCase struct {
	rule   string
	reason Reason
	change func(r *Rejection)
}

func attempted(list ...string) func(*Rejection) { return func(r *Rejection) { r.Attempted = list } }
func suggested(s string) func(*Rejection)       { return func(r *Rejection) { r.Suggested = s } }
func factor(s string) func(*Rejection)          { return func(r *Rejection) { r.BlockingFactor = s } }
func detail(s string) func(*Rejection)          { return func(r *Rejection) { r.Detail = s } }
func shows(list []Evidence) func(*Rejection)    { return func(r *Rejection) { r.Evidence = list } }
func splits(list []Task) func(*Rejection)       { return func(r *Rejection) { r.Alternatives = list } }
func growth(g float64) func(*Rejection)         { return func(r *Rejection) { r.Growth = g } }

func general() []ruleCase {
	cases := []ruleCase{
		{"effort.count", ScopeCreep, attempted("Ran it")},
		{"effort.count", ScopeCreep, attempted("Ran it", " \t\n", "\u200b")},
		{"ok:effort.count", ScopeCreep, attempted("Ran it", "Ran it in a container")},
		{"ok:effort.count", ScopeCreep, attempted("Ran it", "Ran it in a container", "Ran it as root")},
		{"ok:effort.count", ScopeCreep, attempted("Ran it", "", "Ran it as root")},
		{"effort.concrete", ScopeCreep, attempted("I tried to run it", "Checked, and looked at the log")},
		{"ok:effort.concrete", ScopeCreep, attempted("I tried to run it", "Ran it")},
		{"ok:effort.concrete", ScopeCreep, attempted("Ran it", "Considered another way")},
		{"effort.concrete", ScopeCreep, attempted("un-checked", "double-checked")},
		{"ok:effort.concrete", ScopeCreep, attempted("Found it unchecked", "considered")},
		{"ok:effort.concrete", ScopeCreep, attempted("checked_out the branch", "considered")},
		{"ok:effort.concrete", ScopeCreep, attempted("The re\u0301checked list", "considered")},
		{"effort.concrete", ScopeCreep, attempted("TRIED\u00a0\n to", "looKed at")}, // the Kelvin sign folds to k
		{"effort.concrete", ScopeCreep, attempted("che\u200bcked", "“considered”")},
		{"ok:effort.concrete", ScopeCreep, attempted("I was tried together with others", "checked")},
		{"ok:effort.concrete", ScopeCreep, attempted("checkedé it", "checked")},
		{"effort.concrete", ScopeCreep, attempted("foo", "bar")},

		{"alternative.missing", Blocker, suggested("")},
		{"alternative.missing", Blocker, suggested(" \n\u00a0")},
		{"alternative.missing", Blocker, suggested(strings.Repeat("\u200b", 30))},
		{"alternative.short", Blocker, suggested(chars(1))},
		{"alternative.short", Blocker, suggested(chars(19))},
		{"ok:alternative.short", Blocker, suggested(chars(20))},
		{"ok:alternative.short", Blocker, suggested(chars(21))},
		{"alternative.vague", Blocker, suggested("Clarify requirements")},
		{"alternative.vague", Blocker, suggested("Break  into\nSMALLER tasks!")},
		{"alternative.vague", Blocker, suggested("Please just ask the user.")},
		{"alternative.vague", Blocker, suggested("We should ask the user, then get more context")},
		{"alternative.vague", Blocker, suggested("ask someone else to do that")},
		{"alternative.vague", Blocker, suggested("Have another agent take care of it.")},
		{"alternative.vague", Blocker, suggested("Please ask the user about it")},
		{"ok:alternative.vague", Blocker, suggested("Ask somebody else for the storage token")},
		{"ok:alternative.vague", Blocker, suggested("Ask the user for a token that may write")},
		{"ok:alternative.vague", Blocker, suggested("Please do just what we should")},
		{"ok:alternative.vague", Blocker, suggested("Reclarify requirements")},
		{"ok:alternative.vague", Blocker, func(r *Rejection) {
			r.Suggested, r.Alternatives = "Break into smaller tasks", titles("One")
		}},
		{"alternative.vague", Blocker, func(r *Rejection) {
			r.Suggested, r.Alternatives = "Break into smaller tasks", []Task{{Scope: "no title"}}
		}},

		{"blocking.missing", Blocker, factor("")},
		{"blocking.missing", Blocker, factor("\u2028\t")},
		{"blocking.short", Blocker, factor(chars(14))},
		{"ok:blocking.short", Blocker, factor(chars(15))},
		{"ok:blocking.short", Blocker, factor(chars(16))},
		{"blocking.vague", Blocker, factor("it just does not work")},
		{"blocking.vague", Blocker, factor("It still doesn't work at all.")},
		{"ok:blocking.vague", Blocker, factor("TLS does not work")},
		{"blocking.vague", Blocker, factor("The format is Unclear.")},
		{"ok:blocking.vague", Blocker, factor("The format is clear to all")},
		{"ok:blocking.vague", Blocker, factor("The format is unclearable")},
		{"ok:blocking.vague", Blocker, factor("It is toocomplex, ensure, unconfusing")},
		{"ok:blocking.vague", UnclearRequirements, factor("The format is unclear")},
		{"blocking.vague", UnclearRequirements, factor("The format is unclear and confusing")},
		{"blocking.vague", UnclearRequirements, factor("The format is not sure to hold")},

		{"reason.unknown", "", func(*Rejection) {}},
		{"reason.unknown", "blocker", func(*Rejection) {}},
		{"reason.unknown", "BLOCKERS", func(*Rejection) {}},
		{"ok:reason.unknown", Blocker, func(r *Rejection) { r.ReasonType = " BLOCKER\n" }},
	}
	for _, phrase := range vagueAttempts {
		cases = append(cases, ruleCase{"effort.concrete", Blocker, attempted(phrase, "then I "+phrase+" it")},
			ruleCase{"ok:effort.concrete", Blocker, attempted(phrase, phrase+"x x"+phrase)})
	}
	for _, phrase := range vagueAlternatives {
		cases = append(cases, ruleCase{"alternative.vague", Blocker, suggested(phrase + strings.Repeat(".", 20))},
			ruleCase{"ok:alternative.vague", Blocker, suggested(phrase + " of the other product")})
	}
	for _, phrase := range vagueFactors {
		cases = append(cases, ruleCase{"blocking.vague", Blocker, factor("It is (" + strings.ToUpper(phrase) + ") to me")},
			ruleCase{"ok:blocking.vague", Blocker, factor("The name is " + phrase + "x or x" + phrase)})
	}
	return cases
}

func byType() []ruleCase {
	cases := []ruleCase{
		{"blocker.evidence", Blocker, shows(nil)},
		{"blocker.evidence", Blocker, shows(evidence(" "))},
		{"blocker.evidence_type", Blocker, shows([]Evidence{{Type: "opinion", Data: "x"}})},
		{"blocker.evidence_type", Blocker, shows([]Evidence{{Type: "opinion", Data: "x"}, {Type: "error_log"}})},
		{"blocker.evidence_type", Blocker, shows([]Evidence{{Type: "error_logs", Data: "x"}})},
		{"ok:blocker.evidence", Blocker, shows(evidence("x"))},
		{"ok:blocker.evidence_type", Blocker, shows([]Evidence{{Type: "opinion", Data: "x"}, {Type: " Error_Log ", Data: "x"}})},

		{"scope.original", ScopeCreep, func(r *Rejection) { r.OriginalScope = " " }},
		{"ok:scope.original", ScopeCreep, func(r *Rejection) { r.OriginalScope = "x" }},
		{"scope.growth", ScopeCreep, growth(0)},
		{"scope.growth", ScopeCreep, growth(math.Nextafter(2, 0))},
		{"scope.growth", ScopeCreep, growth(math.NaN())},
		{"scope.growth", ScopeCreep, growth(math.Inf(1))},
		{"scope.growth", ScopeCreep, growth(-3)},
		{"ok:scope.growth", ScopeCreep, growth(2)},
		{"ok:scope.growth", ScopeCreep, growth(math.Nextafter(2, 3))},
		{"scope.tasks", ScopeCreep, splits(nil)},
		{"scope.tasks", ScopeCreep, splits(titles("One"))},
		{"scope.tasks", ScopeCreep, splits(titles("One", " "))},
		{"ok:scope.tasks", ScopeCreep, splits(titles("One", "Two"))},
		{"ok:scope.tasks", ScopeCreep, splits(titles("One", "Two", "Three"))},

		{"dependency.id", MissingDependency, factor("The upload needs TASK-12")},
		{"dependency.id", MissingDependency, factor("TASK-12 is what it depends on")},
		{"dependency.id", MissingDependency, factor("It depends on the other team. See TASK-12")},
		{"dependency.id", MissingDependency, factor("It depends ontology TASK-12")},
		{"dependency.id", MissingDependency, factor("It depends on something - else")},
		{"ok:dependency.id", MissingDependency, factor("It depends on the other team, and depends on TASK-12")},
		{"ok:dependency.required", MissingDependency, detail("REQUIRED\n because")},
		{"dependency.required", MissingDependency, detail("")},
		{"dependency.required", MissingDependency, detail("It is required, because")},
		{"dependency.required", MissingDependency, detail("unrequired because")},

		{"infeasible.evidence", Infeasible, shows(nil)},
		{"infeasible.evidence", Infeasible, shows(evidence("x"))},
		{"infeasible.evidence", Infeasible, shows(evidence("x", "\n"))},
		{"ok:infeasible.evidence", Infeasible, shows(evidence("x", "y"))},
		{"ok:infeasible.evidence", Infeasible, shows(evidence("x", "y", "z"))},
		{"infeasible.conflict", Infeasible, detail("The rules contradict each other")},
		{"infeasible.conflict", Infeasible, detail("The rules are unconflicted")},
		{"ok:infeasible.conflict", Infeasible, detail("One rule conflicts with the other")},
		{"ok:infeasible.conflict", Infeasible, detail("These are conflicting constraints")},
		{"ok:infeasible.conflict", Infeasible, detail("CONFLICT: one rule, the other")},
		{"infeasible.alternative", Infeasible, suggested(chars(49))},
		{"ok:infeasible.alternative", Infeasible, suggested(chars(50))},
		{"ok:infeasible.alternative", Infeasible, suggested(chars(51))},

		{"unclear.question", UnclearRequirements, detail("It can be interpreted as UTC.")},
		{"ok:unclear.question", UnclearRequirements, detail("interpreted as UTC?")},
		{"unclear.interpreted", UnclearRequirements, detail("Is it UTC?")},
		{"unclear.interpreted", UnclearRequirements, detail("Is it misinterpreted as UTC?")},
		{"unclear.interpreted", UnclearRequirements, detail("Is it interpreted aspirationally?")},
		{"ok:unclear.interpreted", UnclearRequirements, detail("Is it Interpreted As: UTC?")},
	}
	for _, t := range blockerEvidence {
		cases = append(cases, ruleCase{"ok:blocker.evidence_type", Blocker, shows([]Evidence{{Type: t, Data: "x"}})})
	}
	for _, id := range []string{"TASK-12", "#45", "(#45).", "v2", "`users`", "\"users\"", "auth_service", "auth-service,", "internal/auth", "lib@2", "the task named T1"} {
		cases = append(cases, ruleCase{"ok:dependency.id", MissingDependency, factor("It depends on " + id)})
	}
	for _, prose := range []string{"the database", "it", "", "#", "another team -", "` `", "the work. 12 days"} {
		cases = append(cases, ruleCase{"dependency.id", MissingDependency, factor("It really depends on " + prose)})
	}
	return cases
}

// Each rule is shown at its threshold, on both sides of it, alone.
func TestRules(t *testing.T) {
	broken, kept := map[string]int{}, map[string]int{}
	for _, c := range slices.Concat(general(), byType()) {
		r := valid(c.reason)
		c.change(&r)
		got := ids(r.Validate())
		rule, ok := strings.CutPrefix(c.rule, "ok:")
		want := []string{}
		if ok {
			kept[rule]++
		} else {
			broken[rule]++
			want = append(want, rule)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s (%s): %v, want %v, of %+v", c.rule, c.reason, got, want, r)
		}
	}
	for _, rule := range rules() {
		if broken[rule.id] == 0 || kept[rule.id] == 0 && !strings.HasSuffix(rule.id, ".missing") {
			t.Errorf("%s: shown broken %d times, kept %d times", rule.id, broken[rule.id], kept[rule.id])
		}
	}
}

// A rule of one type does not apply to the others: evidence, for one, is
// required by type only.
func TestRulesByTypeOnly(t *testing.T) {
	for _, rule := range rules() {
		for _, reason := range Reasons() {
			r := Rejection{ReasonType: reason}
			if rule.reason != "" && rule.reason != reason && slices.Contains(ids(r.Validate()), rule.id) {
				t.Errorf("%s applies to %s", rule.id, reason)
			}
		}
	}
	if r := valid(ScopeCreep); len(r.Evidence) != 0 || len(r.Validate()) != 0 {
		t.Errorf("a SCOPE_CREEP without evidence: %v", r.Validate())
	}
}

// Something too short for INFEASIBLE may be too short for every type: both are
// said, so that one correction is enough.
func TestBothLengths(t *testing.T) {
	r := valid(Infeasible)
	r.Suggested = chars(19)
	if got, want := ids(r.Validate()), []string{"alternative.short", "infeasible.alternative"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
