package policy

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/plural"
)

// Evaluation is a policy's result for one question: the fate of each rule, and the answer.
type Evaluation struct {
	Guard core.GuardID `json:"guard"`
	Facts core.Facts   `json:"facts"`
	Rules []Verdict    `json:"rules"`
	// Answer is nil if the policy does not answer.
	Answer *core.Answer `json:"answer"`
	// Why is why no rule was considered; empty if they were.
	Why string `json:"why,omitempty"`
}

// Verdict is the fate of one rule.
type Verdict struct {
	Rule    string         `json:"rule"` // FILE:LINE
	Guards  []core.GuardID `json:"guards"`
	Answer  string         `json:"answer"`
	Matched bool           `json:"matched"`
	// Why is why the rule did not match, or what is unknown if it matched for that reason;
	// otherwise empty.
	Why string `json:"why,omitempty"`
	// Verify is how its verify command ended; nil if it was not run.
	Verify *core.VerifyFinished `json:"verify,omitempty"`
}

// Used is how much of the budget is spent, or may be spent.
type Used struct {
	Continues  int           `yaml:"continues" json:"continues" doc:"Answers that continued the run."`
	Iterations int           `yaml:"iterations" json:"iterations" doc:"Iterations added to the limit."`
	Runtime    time.Duration `yaml:"runtime" json:"runtime_ns" doc:"Time added to the limit."`
	Cost       float64       `yaml:"cost" json:"cost" doc:"US dollars added to the limit."`
	Tokens     int           `yaml:"tokens" json:"tokens" doc:"Tokens added to the limit."`
}

// UsedIn returns what the policy's continuing answers have used in a run.
func UsedIn(s *core.State) Used {
	return Used{s.PolicyContinues, s.PolicyIterations, s.PolicyRuntime, s.PolicyCost, int(min(s.PolicyTokens, math.MaxInt))}
}

// Add returns the sum of both.
func (u Used) Add(v Used) Used {
	return Used{u.Continues + v.Continues, u.Iterations + v.Iterations, u.Runtime + v.Runtime, u.Cost + v.Cost, u.Tokens + v.Tokens}
}

// Evaluate decides the question in that state of the run: the first rule that matches answers.
// It modifies neither. The error is from ctx, Options.BeforeVerify or Options.AfterVerify;
// there is then no answer.
func (p *Policy) Evaluate(ctx context.Context, q core.Question, s *core.State, o Options) (Evaluation, error) {
	c := decision{
		policy: p, question: q, state: s, facts: core.FactsOf(q.Guard, s, o.CI), verify: o.verifier(),
		used: UsedIn(s),
	}
	if p.Budget.Daily && o.Earlier != nil {
		c.used = c.used.Add(o.Earlier())
	}
	o.Given.set(&c.facts)
	return c.decide(ctx)
}

// decision is a question being decided.
type decision struct {
	policy   *Policy
	question core.Question
	state    *core.State // nil in the tests of a file
	facts    core.Facts
	used     Used
	verify   verifier
}

func (c *decision) decide(ctx context.Context) (Evaluation, error) {
	e := Evaluation{Guard: c.question.Guard, Facts: c.facts, Rules: []Verdict{}}
	if e.Why = c.notOurs(); e.Why != "" {
		return e, nil
	}
	for i := range c.policy.Rules {
		r := &c.policy.Rules[i]
		v := Verdict{Rule: r.Where, Guards: r.Guards, Answer: r.Answer}
		if e.Answer != nil {
			v.Why = "an earlier rule answered"
			e.Rules = append(e.Rules, v)
			continue
		}
		unlisted, err := c.match(ctx, r, &v)
		if err != nil {
			return Evaluation{Guard: e.Guard, Facts: e.Facts, Rules: append(e.Rules, v), Why: err.Error()}, err
		}
		e.Rules = append(e.Rules, v)
		if v.Matched {
			e.Answer = &core.Answer{
				Option: r.Answer, Responder: core.RespondedByPolicy,
				Reason: r.Reason + v.inBrackets(), Rule: r.Where, Unlisted: unlisted,
				Mandatory: c.question.Mandatory && r.answersMandatory(), Guidance: r.Guidance, Notify: r.Notify,
			}
		}
	}
	return e, nil
}

// notOurs returns why a policy does not answer the question; empty if it does.
func (c *decision) notOurs() string {
	switch q := c.question; {
	case q.Exclusive:
		return "only a person may answer this question"
	case q.From == core.FromCommand, q.Guard == "":
		return "a policy answers the questions of guards"
	case q.Kind != core.KindSelect && q.Kind != "":
		return "a policy answers questions with options"
	case len(c.policy.Rules) == 0:
		return "the policy has no rules"
	}
	return ""
}

// match fills in the verdict. The verify command runs last, and only if nothing else keeps the
// rule from matching.
func (c *decision) match(ctx context.Context, r *Rule, v *Verdict) (unlisted bool, err error) {
	var o core.Option
	if o, unlisted, v.Why = c.applies(r); v.Why != "" {
		return false, nil
	}
	holds, doubt := r.when.eval(c.facts, o.Action.Stops())
	if !holds {
		v.Why = doubt
		return false, nil
	}
	if v.Why = c.overBudget(o); v.Why != "" {
		return false, nil
	}
	if r.Verify != "" {
		if v.Verify, v.Why, err = c.verify(ctx, r); err != nil || v.Why != "" {
			return false, err
		}
	}
	v.Matched, v.Why = true, doubt
	return unlisted, nil
}

// inBrackets returns, in brackets, what is unknown if the rule matched for that reason.
func (v Verdict) inBrackets() string {
	if v.Why == "" {
		return ""
	}
	return " (" + v.Why + ")"
}

// applies returns the option that the rule chooses, or why the rule does not apply to this
// question.
func (c *decision) applies(r *Rule) (o core.Option, unlisted bool, why string) {
	q := c.question
	if !r.covers(q.Guard) {
		return o, false, "it is for " + scopeText(r.Guards)
	}
	if q.Mandatory && !r.answersMandatory() {
		return o, false, "the question is for a person, unless a rule names ladder_exhausted too"
	}
	if o, unlisted, why = r.option(q); why != "" {
		return o, false, why
	}
	if never := c.policy.forbids(o.Action); never != nil {
		return o, false, fmt.Sprintf("%s forbids this: %s", never.where, never.action)
	}
	if q.Forbids(o.Action) {
		return o, false, "the template forbids " + string(o.Action)
	}
	if q.Advice != nil && !o.Action.Stops() {
		return o, false, "an assistant recommended rejecting it, and only a person may continue"
	}
	if slices.Contains(q.Given, core.Given{Option: r.Answer, Responder: core.RespondedByPolicy, Rule: r.Where}) {
		return o, false, "it gave this answer in this trip already"
	}
	return o, unlisted, c.undoable(o)
}

// undoable returns why the loop would refuse to carry the option out, such as nothing to skip,
// so that the next rule gets its turn.
func (c *decision) undoable(o core.Option) string {
	if c.state == nil || c.state.Trip == nil || c.state.Trip.Guard != c.question.Guard {
		return ""
	}
	if _, err := c.state.Effect(o, core.Answer{Responder: core.RespondedByPolicy, Reason: "the rule’s"}); err != nil {
		return "it cannot be carried out: " + err.Error()
	}
	return ""
}

func scopeText(guards []core.GuardID) string {
	if slices.Contains(guards, EveryGuard) {
		return "looprun's own guards"
	}
	return join(guards)
}

// overBudget returns which bounds the answer would exceed. Time is counted in whole seconds,
// because the limit that tripped is always exceeded by a little.
func (c *decision) overBudget(o core.Option) string {
	if !o.Action.Continues() {
		return ""
	}
	b, add := c.policy.Budget, c.adds(o.Extend)
	var over []string
	if b.Continues > 0 && c.used.Continues+1 > b.Continues {
		over = append(over, fmt.Sprintf("%d of %d continues", c.used.Continues, b.Continues))
	}
	if b.Iterations > 0 && c.used.Iterations+add.Iterations > b.Iterations {
		over = append(over, fmt.Sprintf("%d of %d iterations%s", c.used.Iterations, b.Iterations, more(add.Iterations > 0, fmt.Sprint(add.Iterations))))
	}
	if b.Runtime > 0 && (c.used.Runtime+add.Runtime).Truncate(time.Second) > b.Runtime {
		over = append(over, fmt.Sprintf("%s of %s%s", plural.Duration(c.used.Runtime.Truncate(time.Second)), plural.Duration(b.Runtime), more(add.Runtime > 0, plural.Duration(add.Runtime))))
	}
	if b.Cost > 0 && c.used.Cost+add.Cost > b.Cost {
		over = append(over, fmt.Sprintf("$%.2f of $%.2f%s", c.used.Cost, b.Cost, more(add.Cost > 0, fmt.Sprintf("$%.2f", add.Cost))))
	}
	if b.Tokens > 0 && int64(c.used.Tokens)+add.Tokens > int64(b.Tokens) {
		over = append(over, fmt.Sprintf("%d of %d tokens%s", c.used.Tokens, b.Tokens, more(add.Tokens > 0, fmt.Sprint(add.Tokens))))
	}
	if len(over) == 0 {
		return ""
	}
	return "the budget is spent: used are " + strings.Join(over, ", ")
}

// adds returns by how much an answer raises the limits: by what it promises, and by what was
// spent beyond them.
func (c *decision) adds(e core.Extend) core.Extend {
	var begun, now, then core.Limits
	if c.state != nil {
		begun, now, then = c.state.Initial, c.state.Limits, c.state.Extended(e)
	}
	cost, tokens := e.Spending(begun)
	return core.Extend{
		Iterations: max(e.Iterations, then.Iterations-now.Iterations), Runtime: max(e.Runtime, then.Runtime-now.Runtime),
		Cost: max(cost, then.Cost-now.Cost), Tokens: max(tokens, then.Tokens-now.Tokens),
	}
}

func more(some bool, text string) string {
	if !some {
		return ""
	}
	return ", and it adds " + text
}
