package policy

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/termsafe"
)

// Bounds of a condition. Together with what [inspection] refuses they bound
// the time that it can take.
const (
	maxCondition = 1000 // bytes
	maxNodes     = 300
)

// condition is a compiled expression over the facts. The zero value always holds.
type condition struct {
	text    string
	program *vm.Program // of the whole
	root    part        // of the same, in parts
	// facts are the facts that it mentions, in their documented order.
	facts []Fact
	// certain are the guards for which it holds whatever the other facts are.
	certain []looprun.GuardID
}

// holdsAlways reports whether no fact but the guard can keep it from holding.
func (c *condition) holdsAlways(guard looprun.GuardID) bool {
	return c.text == "" || slices.Contains(c.certain, guard)
}

// compile reads the condition at the path and reports all that is wrong with it.
func compile(r *report, text string, scope []looprun.GuardID, known Known, path []any) condition {
	c := condition{text: strings.Join(strings.Fields(text), " ")}
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
	tree, err := parseText(text)
	if err != nil {
		r.expression(text, err, path)
		return c
	}
	found := inspect(tree.Node, known)
	for _, f := range found.faults {
		r.in(byteOffset(text, f.at), f.text, f.remedy, path...)
	}
	if len(found.faults) > 0 {
		return c
	}
	if c.program, err = compileText(text); err != nil {
		r.expression(text, err, path)
		return c
	}
	if c.root, err = takeApart(tree.Node); err != nil {
		c.program = nil
		r.expression(text, err, path)
		return c
	}
	if !c.weigh(found, scope) {
		r.value("the condition can never hold for "+join(scope), "remove the rule, or mend the condition", path...)
	}
	return c
}

// weigh notes what the condition depends on; false when it can never hold for
// any of the guards.
func (c *condition) weigh(found *inspection, scope []looprun.GuardID) bool {
	onlyGuard := true
	for _, fact := range FactList() {
		if !slices.Contains(found.facts, fact.Name) {
			continue
		}
		c.facts = append(c.facts, fact)
		onlyGuard = onlyGuard && fact.Name == "guard"
	}
	possible := len(scope) == 0
	for _, guard := range scope {
		v := c.root.verdict(func(p *part) verdict {
			if slices.ContainsFunc(p.facts, func(name string) bool { return name != "guard" }) {
				return maybe
			}
			v, _ := p.compare(UnknownFacts(guard))
			return v
		})
		possible = possible || v != no
		if v == yes && onlyGuard { // others could be unknown, or fail
			c.certain = append(c.certain, guard)
		}
	}
	return possible
}

// parseText and compileText read an expression; the second one has to be true
// or false. A panic in them is an error: no file may end the program.
func parseText(text string) (tree *parser.Tree, err error) {
	defer recovered(&err)
	return parser.Parse(text)
}

func compileText(text string) (p *vm.Program, err error) {
	defer recovered(&err)
	return expr.Compile(text, expr.Env(Facts{}), expr.AsBool(), expr.WarnOnAny(), expr.MaxNodes(maxNodes))
}

func recovered(err *error) {
	if e := recover(); e != nil {
		*err = fmt.Errorf("it cannot be read: %v", e)
	}
}

// expression reports what parser or compiler said about the condition.
func (r *report) expression(text string, err error, path []any) {
	message, remedy, offset := err.Error(), "", -1
	if where, ok := errors.AsType[*file.Error](err); ok {
		message, offset = where.Message, byteOffset(text, where.From)
	}
	switch {
	case strings.HasPrefix(message, "expected bool"):
		message, remedy = "it is neither true nor false: "+message, "compare it with something, as in failing < 3"
	case strings.Contains(message, "Duration"):
		remedy = `write times as duration("10m")`
	case strings.Contains(message, `Operator("=")`):
		remedy = "compare with =="
	}
	r.in(offset, "not a condition: "+message, remedy, path...)
}

// byteOffset is where the character with that number begins.
func byteOffset(text string, character int) int {
	n := 0
	for i := range text {
		if n == character {
			return i
		}
		n++
	}
	return len(text)
}

// eval says whether the condition holds, and if not, why. It holds only where
// that is certain: what is not known, and what cannot be evaluated, is no yes.
func (c *condition) eval(f Facts) (holds bool, why string) {
	if c.text == "" {
		return true, ""
	}
	if c.program == nil {
		return false, "the condition was not compiled"
	}
	switch c.root.verdict(func(p *part) verdict {
		v, doubt := p.compare(f)
		if why == "" {
			why = doubt
		}
		return v
	}) {
	case maybe:
		return false, why
	case yes:
		got, err := expr.Run(c.program, f)
		if err != nil {
			return false, runError(c.text, err)
		}
		if got == true {
			return true, ""
		}
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

// someUnnamed reports whether more checks fail than have a name: outputs count
// what they do not list, and a signature keeps no more than fifty.
func (f Facts) someUnnamed() bool { return len(f.Checks) < f.Failing }

// unknown reports whether nothing is known of the fact. No names of failing
// checks are known only where none fails.
func (f Facts) unknown(fact Fact) bool {
	if fact.Name == "checks" {
		return len(f.Checks) == 0 && f.Failing != 0
	}
	return f.value(fact.Name) == fact.Unknown
}

// value is the fact of that name; nil when there is none.
func (f Facts) value(name string) any {
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("expr") == name {
			return v.Field(i).Interface()
		}
	}
	return nil
}

// show writes a fact's value on one line; texts come from the command and are
// quoted.
func show(value any) string {
	const long = 100
	switch v := value.(type) {
	case string:
		return strconv.Quote(termsafe.Cut(v, long))
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
