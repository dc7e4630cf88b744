package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/nearest"
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
	facts []Fact
	// certain are the guards for which it holds whatever the other facts are.
	certain []core.GuardID
	// skip says that a rule that forbids does not hold either where nothing is certain.
	skip bool
}

// holdsAlways reports whether no fact but the guard can keep it from holding.
func (c *condition) holdsAlways(guard core.GuardID) bool {
	return c.text == "" || slices.Contains(c.certain, guard)
}

// compile reads the condition at the path and reports all that is wrong with it.
func compile(r *report, text string, scope []core.GuardID, known Known, path []any) condition {
	c := condition{text: oneLine(text), raw: text}
	switch {
	case c.text == "":
		r.value(`"when" is empty`, "write a condition, or remove the key for a rule that always holds", path...)
		return c
	case strings.ContainsFunc(c.text, func(c rune) bool { return !unicode.IsGraphic(c) }):
		r.value("the condition holds a control character", "remove it", path...)
		return c
	case len(text) > maxCondition:
		r.value(fmt.Sprintf("the condition has %d bytes", len(text)), fmt.Sprintf("shorten it to at most %d", maxCondition), path...)
		return c
	}
	root, faults := read(text, known)
	for _, f := range faults {
		r.in(f.at, f.text, f.remedy, path...)
	}
	if len(faults) > 0 {
		return c
	}
	if c.root = root; !c.weigh(scope) {
		r.value("the condition can never hold for "+join(scope), "remove the rule, or correct the condition", path...)
	}
	return c
}

// weigh notes what the condition depends on; false when it can never hold for
// any of the guards.
func (c *condition) weigh(scope []core.GuardID) bool {
	names := c.root.facts()
	for _, fact := range FactList() {
		if slices.Contains(names, fact.Name) {
			c.facts = append(c.facts, fact)
		}
	}
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
			v, _ := c.compare(n, UnknownFacts(guard), false)
			return v
		})
		possible = possible || v != no
		if v == yes && onlyGuard { // others could be unknown, or fail
			c.certain = append(c.certain, guard)
		}
	}
	return possible
}

// eval reports whether the condition holds, and why not. Both kinds of rule fail closed
// where that is not certain, because a fact is not known or a comparison cannot be
// evaluated: a condition that forbids holds then, with the doubt as the reason, unless
// its rule says unknown: skip. Any other does not.
func (c *condition) eval(f Facts, forbids bool) (holds bool, why string) {
	if c.text == "" {
		return true, ""
	}
	if c.root == nil {
		return false, "the condition was not compiled"
	}
	switch c.root.verdict(func(n *node) verdict {
		v, doubt := c.compare(n, f, forbids)
		if why == "" {
			why = doubt
		}
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
	var values []string
	for _, fact := range c.facts {
		values = append(values, fact.Name+" is "+show(f.value(fact.Name)))
	}
	return false, fmt.Sprintf("%s does not hold: %s", c.text, strings.Join(values, ", "))
}

// compare evaluates a comparison; the text says why nothing is certain. That there is
// no such thing, as no tag in a build of a branch, is certain enough for a condition
// that forbids, and makes tag == "" true. Of what is not known only -1 is true, as no
// fact has that value otherwise.
func (c *condition) compare(n *node, f Facts, forbids bool) (v verdict, why string) {
	names := n.facts()
	for _, fact := range FactList() {
		settled := n.settles(fact)
		if slices.Contains(names, fact.Name) && f.unknown(fact) && !(settled && plain(fact.Unknown) == -1.0) && !((settled || forbids) && f.none(fact.Name)) {
			return maybe, fmt.Sprintf("%s is not known, and %s does not say what holds then", fact.Name, c.shown(n))
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
	if v != n.sound() && f.someUnnamed() && slices.Contains(names, "checks") {
		return maybe, fmt.Sprintf("%d of %d failing checks are named, which is not enough for %s", len(f.Checks), f.Failing, c.shown(n))
	}
	return v, ""
}

// shown is how a part of the condition is written.
func (c *condition) shown(n *node) string {
	if n == c.root {
		return c.text
	}
	return oneLine(c.raw[n.from:n.to])
}

// someUnnamed reports whether more checks fail than have a name: outputs count
// what they do not list, and a signature keeps no more than fifty.
func (f Facts) someUnnamed() bool { return len(f.Checks) < f.Failing }

// unknown reports whether nothing is known of the fact. No names of failing
// checks are known only where none fails.
func (f Facts) unknown(fact Fact) bool {
	if fact.Name == "checks" {
		return len(f.Checks) == 0 && f.Failing != 0
	}
	return fact.Unknown != nil && f.value(fact.Name) == fact.Unknown
}

// none reports whether a fact that has its unknown value is known not to be there. A CI
// system that looprun knows says what is built; outside of CI nothing is.
func (f Facts) none(fact string) bool {
	switch fact {
	case "label", "outcome", "last_exit_code", "task", "reason_type", "attempts":
		return true
	case "agent":
		return isGuard(core.GuardID(f.Guard))
	case "cause":
		return f.Guard != string(core.Blocked) && f.Guard != string(core.Clarification)
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

// settles reports whether the comparison says what holds where the fact is not known: it
// names the unknown value itself, or parts it from all others, as failing >= 0 does. That
// failing != 0 is no such comparison is the point: read aloud it does not hold for what
// nobody counted.
func (n *node) settles(fact Fact) bool {
	if len(n.parts) != 2 {
		return false
	}
	left, right := n.parts[0], n.parts[1]
	if left.op == "fact" && left.name == fact.Name && (mirrored(n.op) != "" || n.op == "in" || n.op == "notin") {
		return slices.ContainsFunc(literals(right), func(with *node) bool { return separates(fact.Unknown, n.op, with) })
	}
	return right.op == "fact" && right.name == fact.Name && separates(fact.Unknown, mirrored(n.op), left)
}

// separates reports whether a comparison with that value tells the unknown value from
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

// facts are the names of the facts that an expression mentions, as often as it does.
func (n *node) facts() (names []string) {
	n.walk(func(n *node) {
		if n.op == "fact" {
			names = append(names, n.name)
		}
	})
	return names
}

// sound is the outcome of a comparison that needs no more than some of the names of
// failing checks: that one of them is auth stays true whatever the others are.
func (n *node) sound() verdict {
	names := func(i int) bool { return n.parts[i].op == "fact" && n.parts[i].name == "checks" }
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

// verdict is what is certain of a condition, or of a part of one, as far as the
// facts are known.
type verdict int

const (
	maybe verdict = iota
	yes
	no
)

// not turns a verdict round.
func not(v verdict) verdict { return [...]verdict{maybe: maybe, yes: no, no: yes}[v] }

// verdict joins what of says of the comparisons, from left to right, and asks for no
// more of them than are needed. Joining them here keeps apart what is false and what is
// not known: "failing < 3 || improved" holds when improved does, whatever is known of
// failing, and "not (failing > 2)" does not hold when nothing is.
func (n *node) verdict(of func(*node) verdict) verdict {
	switch n.op {
	case "!":
		return not(n.parts[0].verdict(of))
	case "&&":
		return n.decidedBy(no, of)
	case "||":
		return n.decidedBy(yes, of)
	case "?":
		switch n.parts[0].verdict(of) {
		case yes:
			return n.parts[1].verdict(of)
		case no:
			return n.parts[2].verdict(of)
		}
		if v := n.parts[1].verdict(of); v == n.parts[2].verdict(of) {
			return v
		}
		return maybe
	}
	return of(n)
}

// decidedBy joins two parts of which one decides alone if its verdict is strong.
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

// valuesOf are the values that a fact can have; nil: any.
func valuesOf(fact string, known Known) (values []string) {
	switch fact {
	case "guard":
		for _, id := range known.guards() {
			values = append(values, string(id))
		}
	case "outcome":
		values = []string{string(core.OutcomeDone), string(core.OutcomeNotDone), string(core.OutcomeError)}
	case "reason_type":
		for _, reason := range rejection.Reasons() {
			values = append(values, string(reason))
		}
	case "cause":
		values = signal.Causes()
	case "ci_name":
		values = []string{"github", "gitlab", "buildkite", "azure"}
	}
	return values
}

// unlisted reports whether a value is accepted without being listed: that there is none,
// and what policies of recorded runs may name, which holds no more since an
// iteration that was cut off is no evidence.
func unlisted(fact, value string) bool {
	return value == "" || fact == "outcome" && value == string(core.OutcomeInterrupted)
}

// show writes a fact's value on one line; texts come from the command and are
// quoted.
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

// factNames lists what a condition can mention.
func factNames() []string {
	var names []string
	for _, f := range FactList() {
		names = append(names, f.Name)
	}
	return names
}

func nearestFact(name string) string {
	if near := nearest.Word(name, factNames()); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "use one of " + strings.Join(factNames(), ", ")
}
