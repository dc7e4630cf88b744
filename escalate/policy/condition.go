package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// condition is an expression over the facts. The zero value always holds.
type condition struct {
	text string // on one line
	raw  string // as it is in the file
	root *node  // nil: it was not compiled
	// facts are the facts that it mentions, in their documented order.
	facts []core.Fact
	// certain are the guards for which it holds regardless of the other facts.
	certain []core.GuardID
	// skip means that an uncertain condition does not hold even in a rule that forbids.
	skip bool
}

// holdsAlways reports whether the condition always holds for that guard, regardless of other
// facts.
func (c *condition) holdsAlways(guard core.GuardID) bool {
	return c.text == "" || slices.Contains(c.certain, guard)
}

// compile parses the condition at the path and reports everything that is wrong with it.
func compile(r *report, text string, scope []core.GuardID, known Known, path []any) condition {
	c := condition{text: oneLine(text), raw: text}
	switch {
	case c.text == "":
		r.Value(`"when" is empty`, "write a condition, or remove the key for a rule that always holds", path...)
		return c
	case strings.ContainsFunc(c.text, func(c rune) bool { return !unicode.IsGraphic(c) }):
		r.Value("the condition holds a control character", "remove it", path...)
		return c
	case len(text) > maxCondition:
		r.Value(fmt.Sprintf("the condition has %d bytes", len(text)), fmt.Sprintf("shorten it to at most %d", maxCondition), path...)
		return c
	}
	root, faults := read(text, known)
	for _, f := range faults {
		r.In(f.at, f.text, f.remedy, path...)
	}
	if len(faults) > 0 {
		return c
	}
	if c.root = root; !c.weigh(scope) {
		r.Value("the condition can never hold for "+join(scope), "remove the rule, or correct the condition", path...)
	}
	return c
}

// weigh records what the condition depends on. It returns false if the condition can never
// hold for any of the guards.
func (c *condition) weigh(scope []core.GuardID) bool {
	names := c.root.facts()
	c.facts = convert.Where(core.FactList(), func(f core.Fact) bool { return slices.Contains(names, f.Name) })
	onlyGuard := !slices.ContainsFunc(names, func(name string) bool { return name != "guard" })
	possible := len(scope) == 0
	for _, guard := range scope {
		if !c.root.satisfiable(guard) {
			continue
		}
		v := c.root.verdict(func(n *node) verdict {
			if slices.ContainsFunc(n.facts(), func(name string) bool { return name != "guard" }) {
				return maybe
			}
			v, _ := c.compare(n, core.UnknownFacts(guard), false)
			return v
		})
		possible = possible || v != no
		if v == yes && onlyGuard { // others could be unknown, or fail
			c.certain = append(c.certain, guard)
		}
	}
	return possible
}

// eval reports whether the condition holds, and why not. A condition is uncertain if a fact is
// not known or a comparison cannot be evaluated. Both kinds of rule then fail closed: a
// condition of a rule that forbids holds, with the doubt as the reason, unless the rule has
// unknown: skip; any other condition does not hold.
func (c *condition) eval(f core.Facts, forbids bool) (holds bool, why string) {
	if c.text == "" {
		return true, ""
	}
	if c.root == nil {
		return false, "the condition was not compiled"
	}
	switch c.root.verdict(func(n *node) verdict {
		v, doubt := c.compare(n, f, forbids)
		why = cmp.Or(why, doubt)
		return v
	}) {
	case yes:
		return true, ""
	case maybe:
		return forbids && !c.skip, why
	}
	if len(c.facts) == 0 {
		return false, c.text + " does not hold"
	}
	values := convert.Each(c.facts, func(fact core.Fact) string { return fact.Name + " is " + show(f.Value(fact.Name)) })
	return false, fmt.Sprintf("%s does not hold: %s", c.text, strings.Join(values, ", "))
}

// compare evaluates a comparison; the text is why the result is uncertain. If a thing is known
// not to exist, such as the tag in a build of a branch, that is certain enough for a condition
// that forbids, and makes tag == "" true. An unknown number has the value -1, so a comparison
// that separates -1 from all other values is certain as well.
func (c *condition) compare(n *node, f core.Facts, forbids bool) (v verdict, why string) {
	names := n.facts()
	for _, fact := range core.FactList() {
		settled := n.settles(fact)
		if slices.Contains(names, fact.Name) && f.Unknown(fact) && !(settled && plain(fact.Unknown) == -1.0) && !((settled || forbids) && none(f, fact.Name)) {
			return maybe, fmt.Sprintf("%s is not known, and %s does not handle that", fact.Name, c.shown(n))
		}
	}
	got, err := n.evaluate(f)
	if err != nil {
		return maybe, fmt.Sprintf("%s cannot be evaluated: %v", c.shown(n), err)
	}
	v = no
	if got == true {
		v = yes
	}
	if v != n.sound() && len(f.FailingChecks) < f.Failing && slices.Contains(names, "failing_checks") {
		return maybe, fmt.Sprintf("%d of %d failing checks are named, which is not enough for %s", len(f.FailingChecks), f.Failing, c.shown(n))
	}
	return v, ""
}

// shown returns a part of the condition as written.
func (c *condition) shown(n *node) string {
	if n == c.root {
		return c.text
	}
	return oneLine(c.raw[n.from:n.to])
}

// none reports whether a fact with its unknown value is known to be absent. A CI system that
// looprun knows reports what is built; outside CI nothing is built.
func none(f core.Facts, fact string) bool {
	switch fact {
	case "signature", "outcome", "last_exit_code", "task", "reason_type", "attempts":
		return true
	case "sender":
		return isGuard(core.GuardID(f.Guard))
	case "cause":
		return isGuard(core.GuardID(f.Guard)) || f.Guard == string(core.Rejection)
	case "branch":
		return f.Tag != ""
	case "ci_name", "ci_event", "ci_attempt":
		return !f.CI
	case "tag", "base_branch":
		return !f.CI || f.CIName != ""
	case "pull_request": // an event of one does not always say its number
		return !f.CI || f.CIName != "" && f.BaseBranch == ""
	}
	return false
}

// settles reports whether the comparison itself covers the case that the fact is unknown: it
// names the unknown value, or separates it from all others, as failing >= 0 does. failing != 0
// deliberately does not count: read aloud, it does not hold if nobody counted.
func (n *node) settles(fact core.Fact) bool {
	if len(n.parts) != 2 {
		return false
	}
	left, right := n.parts[0], n.parts[1]
	if left.op == "fact" && left.name == fact.Name && (mirrored(n.op) != "" || n.op == "in" || n.op == "notin") {
		return slices.ContainsFunc(literals(right), func(with *node) bool { return separates(fact.Unknown, n.op, with) })
	}
	return right.op == "fact" && right.name == fact.Name && separates(fact.Unknown, mirrored(n.op), left)
}

// separates reports whether a comparison with that value distinguishes the unknown value from
// all others.
func separates(unknown any, op string, with *node) bool {
	if op == "" {
		return false
	}
	value := with.constant
	if with.op == "minus" && with.parts[0].op == "value" {
		value = with.value(nil)
	}
	return value != nil && value == plain(unknown) || plain(unknown) == float64(-1) && value == float64(0) && (op == "<" || op == ">=")
}

// facts returns the names of the facts that an expression mentions, with repetitions.
func (n *node) facts() (names []string) {
	n.walk(func(n *node) {
		if n.op == "fact" {
			names = append(names, n.name)
		}
	})
	return names
}

// sound returns the outcome of a comparison that stays certain with only some of the names of
// failing checks: that one of them is auth stays true whatever the others are.
func (n *node) sound() verdict {
	names := func(i int) bool { return n.parts[i].op == "fact" && n.parts[i].name == "failing_checks" }
	switch {
	case strings.Count(strings.Join(n.facts(), ",")+",", "checks,") != 1:
	case n.op == "in" && names(1):
		return yes
	case n.op == "notin" && names(1):
		return no
	case n.op != "call" || !names(0):
	case n.name == "any":
		return yes
	case n.name == "all" || n.name == "none":
		return no
	}
	return maybe
}

// verdict is what is certain about a condition, or a part of one, given the known facts.
type verdict int

const (
	maybe verdict = iota
	yes
	no
)

// not negates a verdict.
func not(v verdict) verdict { return [...]verdict{maybe: maybe, yes: no, no: yes}[v] }

// verdict combines the verdicts of the comparisons, from left to right, and calls of for no
// more of them than needed. Combining them here keeps false apart from unknown: "failing < 3
// || improved" holds if improved does, even if failing is unknown, and "not (failing > 2)"
// does not hold if it is unknown.
func (n *node) verdict(of func(*node) verdict) verdict {
	switch n.op {
	case "!":
		return not(n.parts[0].verdict(of))
	case "&&":
		return n.decidedBy(no, of)
	case "||":
		return n.decidedBy(yes, of)
	}
	return of(n)
}

// decidedBy combines two parts, either of which decides alone if its verdict is strong.
func (n *node) decidedBy(strong verdict, of func(*node) verdict) verdict {
	a := n.parts[0].verdict(of)
	if a == strong {
		return strong
	}
	switch b := n.parts[1].verdict(of); {
	case b == strong:
		return strong
	case a == b:
		return a
	}
	return maybe
}

// valuesOf returns the possible values of a fact; nil if any value is possible.
func valuesOf(fact string, known Known) []string {
	return map[string][]string{
		"guard":       convert.Strings(known.guards()),
		"outcome":     {string(core.OutcomeDone), string(core.OutcomeNotDone), string(core.OutcomeError)},
		"reason_type": convert.Strings(rejection.Reasons()),
		"cause":       signal.Causes(),
		"ci_name":     {"github", "gitlab", "buildkite", "azure"},
	}[fact]
}

// unlisted reports whether a value is accepted without being listed: the empty value, and the
// outcome interrupted, which policies of recorded runs may name although it can no longer
// occur, since an iteration that was cut off is not evidence.
func unlisted(fact, value string) bool {
	return value == "" || fact == "outcome" && value == string(core.OutcomeInterrupted)
}

// show returns a fact's value on one line; texts come from the command and are quoted.
func show(value any) string {
	const long = 100
	switch v := value.(type) {
	case string:
		return termsafe.Quoted(v, long)
	case []string:
		return termsafe.Cut(fmt.Sprintf("%q", v), long)
	case time.Duration:
		return v.Round(time.Millisecond).String()
	}
	return fmt.Sprint(value)
}

// factNames returns the names of all facts.
func factNames() []string {
	return convert.Each(core.FactList(), func(f core.Fact) string { return f.Name })
}
