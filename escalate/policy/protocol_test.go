package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/templates"
)

// sample is a made-up run in which that has come up, with its question.
func sample(t testing.TB, id core.GuardID) (core.Question, *core.State) {
	t.Helper()
	set, err := templates.Load()
	if err != nil {
		t.Fatal(err)
	}
	s, trip := templates.Sample(id)
	s.Trip = &trip
	q, err := set.Question(s, trip)
	if err != nil {
		t.Fatal(err)
	}
	q.ID = "q"
	return q, s
}

// "*" does not speak for what the command has said, whatever the options are
// called; a rule that names it does.
func TestEveryGuardIsNoProtocol(t *testing.T) {
	for _, id := range core.ProtocolIDs() {
		q, s := sample(t, id)
		q.Mandatory = false // what a rule may answer for itself
		for _, o := range q.Options {
			everything := `rules: [{guard: "*", answer: ` + o.ID + ", reason: r}]\n"
			if p, err := Parse("p.yaml", []byte("version: 1\n"+everything), known(t)); err == nil {
				if a, err := respond(t, p, q, s); !errors.Is(err, core.ErrNoAnswer) || a.Option != "" {
					t.Errorf("%s: %s by a rule for every guard: %+v %v", id, o.ID, a, err)
				}
			}
			named := string(id)
			if id == core.Clarification {
				named = "[" + named + ", ladder_exhausted]"
			}
			p := parse(t, "rules: [{guard: "+named+", answer: "+o.ID+", reason: r}]\n")
			a, err := respond(t, p, q, s)
			if err != nil || a.Option != o.ID || a.Unlisted {
				t.Errorf("%s: %s by a rule for it: %+v %v", id, o.ID, a, err)
			} else if _, err := q.Resolve(a); err != nil {
				t.Errorf("%s: the loop would not take %s: %v", id, o.ID, err)
			}
		}
	}
}

// Who may answer a mandatory question.
func TestMandatory(t *testing.T) {
	const naming = "the question is for a person, unless a rule names ladder_exhausted too"
	for _, c := range []struct {
		name   string
		id     core.GuardID
		guards string
		why    string // empty: the rule answers
	}{
		{"the ladder", core.LadderExhausted, "ladder_exhausted", ""},
		{"the ladder in a list", core.LadderExhausted, "[max_iterations, ladder_exhausted]", ""},
		{"the ladder, by another", core.LadderExhausted, "max_iterations", "it is for max_iterations"},
		{"a clarification, and the ladder", core.Clarification, "[clarification, ladder_exhausted]", ""},
		{"a clarification, by the ladder alone", core.Clarification, "ladder_exhausted", "it is for ladder_exhausted"},
		{"a guard", core.MaxIterations, "max_iterations", naming},
		{"a guard, by every guard", core.MaxIterations, `"*"`, naming},
		{"a guard, and the ladder", core.MaxIterations, "[max_iterations, ladder_exhausted]", ""},
	} {
		for _, answer := range []string{"continue", "cancel"} {
			q, s := sample(t, c.id)
			q.Mandatory = true
			p := parse(t, "rules: [{guard: "+c.guards+", answer: "+answer+", reason: r}]\n")
			e, err := p.Evaluate(t.Context(), q, s, Options{})
			if err != nil || len(e.Rules) != 1 || e.Rules[0].Why != c.why || (e.Answer != nil) != (c.why == "") {
				t.Errorf("%s: %s: %+v %v", c.name, answer, e, err)
				continue
			}
			if e.Answer != nil {
				if _, err := q.Resolve(*e.Answer); err != nil || !e.Answer.Mandatory || e.Answer.Person {
					t.Errorf("%s: the loop would not take %+v: %v", c.name, e.Answer, err)
				}
			}
		}
	}
}

// A person's alone stays a person's, whatever a rule names; and what the command
// asks is not a policy's, also where it looks like a guard's question.
func TestNotAPolicysQuestion(t *testing.T) {
	everything := "rules:\n"
	for _, id := range []string{"max_iterations", "rejection", "blocked", "clarification"} {
		everything += "  - {guard: [" + id + ", ladder_exhausted], answer: cancel, reason: r}\n"
	}
	p := parse(t, everything)
	for _, id := range append(slices.Clone(core.ProtocolIDs()), core.MaxIterations) {
		for why, change := range map[string]func(*core.Question){
			"only a person may answer":               func(q *core.Question) { q.Exclusive, q.Mandatory = true, true },
			"a policy answers the questions of guar": func(q *core.Question) { q.From = core.FromCommand },
		} {
			q, s := sample(t, id)
			if a, err := respond(t, p, q, s); err != nil || a.Option != "cancel" {
				t.Fatalf("%s: %+v %v", id, a, err)
			}
			change(&q)
			a, err := respond(t, p, q, s)
			e, _ := p.Evaluate(t.Context(), q, s, Options{})
			if !errors.Is(err, core.ErrNoAnswer) || a.Option != "" || !strings.Contains(e.Why, why) {
				t.Errorf("%s: %+v %v because %q, want %q", id, a, err, e.Why, why)
			}
		}
	}
}

// What the command has said is answered with what its question lists: what may
// be answered to every guard unlisted may not be answered here.
func TestProtocolRules(t *testing.T) {
	without := known(t)
	for _, id := range core.ProtocolIDs() {
		delete(without, id)
	}
	for _, c := range []struct {
		known Known
		rule  string
		want  string
	}{
		{known(t), "{guard: rejection, answer: override, reason: r}", ""},
		{known(t), "{guard: rejection, answer: accept, reason: r}", ""},
		{known(t), "{guard: rejection, answer: pause, reason: r}", `rejection has no option "pause"`},
		{known(t), "{guard: rejection, answer: overide, reason: r}", `did you mean "override"?`},
		{known(t), "{guard: clarification, answer: accept, verify: x, reason: r}", `clarification has no option "accept"`},
		{known(t), "{guard: [ladder_exhausted, max_runtime], answer: pause, reason: r}", ""},
		{known(t), `{guard: "*", answer: override, reason: r}`, "none of these guards"},
		{known(t), `{guard: "*", answer: reformulate, reason: r}`, "none of these guards"},
		{known(t), "{guard: clarification, answer: pause, reason: r}", "is for a person, unless the rule names ladder_exhausted too"},
		{known(t), "{guard: [clarification, ladder_exhausted], answer: pause, reason: r}", ""},
		{known(t), "{guard: rejektion, answer: override, reason: r}", `did you mean "rejection"?`},
		{known(t), `{guard: blocked, when: 'guard == "blocked"', answer: cancel, reason: r}`, ""},
		{without, "{guard: rejection, answer: override, reason: r}", "no template asks about rejection, so that nothing can be answered to it"},
		{without, "{guard: ladder_exhausted, answer: cancel, reason: r}", "no template asks about ladder_exhausted"},
		{without, "{guard: [blocked, max_runtime], answer: cancel, reason: r}", ""},
		{nil, "{guard: clarification, answer: pause, reason: r}", "no template asks about clarification"},
		{Known{core.Rejection: {Options: []core.Option{{ID: "accept", Action: core.ActionContinue}}}}, "{guard: rejection, answer: accept, reason: r}", "does not do what its name says"},
		{Known{core.Blocked: {Options: []core.Option{{ID: "accept", Action: core.ActionReject}}}}, "{guard: blocked, answer: accept, reason: r}", "does not do what its name says"},
	} {
		_, err := Parse("p.yaml", []byte("version: 1\nrules: ["+c.rule+"]\nexit_codes: {ladder_exhausted: 9}\n"), c.known)
		if (c.want == "") != (err == nil) || (err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n"))) {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
}

// A rule behind one that always ends the run never comes to its turn.
func TestRuleBehindAnAcceptedRejection(t *testing.T) {
	for first, hidden := range map[string]bool{"accept": true, "cancel": true, "override": false, "defer": false, "decompose": false} {
		text := "version: 1\nrules: [{guard: rejection, answer: " + first + ", reason: r}, {guard: rejection, answer: override, reason: r}]\n"
		_, err := Parse("p.yaml", []byte(text), known(t))
		if (err != nil) != hidden || (err != nil && !strings.Contains(err.Error(), "can never match")) {
			t.Errorf("after %s: %v", first, err)
		}
	}
}

// The tests of a file can be about all of them.
func TestCasesOfProtocols(t *testing.T) {
	p := parse(t, `
rules:
  - {guard: [ladder_exhausted, clarification], when: iteration < 20, answer: continue, reason: r}
  - {guard: rejection, answer: override, reason: r}
  - {guard: "*", answer: cancel, reason: r}
tests:
  - {facts: {guard: ladder_exhausted, iteration: 7}, expect: continue}
  - {facts: {guard: ladder_exhausted, iteration: 20}, expect: none}
  - {facts: {guard: rejection}, expect: override}
  - {facts: {guard: blocked}, expect: none}
`)
	results, err := p.RunTests()
	if err != nil || len(results) != 4 || !results[0].Evaluation.Answer.Mandatory || results[2].Evaluation.Answer.Mandatory {
		t.Errorf("%+v %v", results, err)
	}
}
