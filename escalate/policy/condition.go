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
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
	"github.com/looprun/looprun/core"
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
	certain []core.GuardID
}

// holdsAlways reports whether no fact but the guard can keep it from holding.
func (c *condition) holdsAlways(guard core.GuardID) bool {
	return c.text == "" || slices.Contains(c.certain, guard)
}

// compile reads the condition at the path and reports all that is wrong with it.
func compile(r *report, text string, scope []core.GuardID, known Known, path []any) condition {
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
func (c *condition) weigh(found *inspection, scope []core.GuardID) bool {
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

// part is a piece of a condition that is true or false by itself. Joining the
// pieces here, and not in the expression, keeps apart what is false and what is
// not known: "failing < 3 || improved" holds when improved does, whatever is
// known of failing, and "not (failing > 2)" does not hold when nothing is.
type part struct {
	// op joins the parts below it: and, or, not, if; empty for a comparison,
	// which is anything else.
	op    string
	parts []part

	// The rest is of a comparison.
	text    string
	program *vm.Program
	// facts are the facts that it mentions; tacit are those of them for which
	// it does not say itself what holds if they are unknown.
	facts []string
	tacit []Fact
	// sound is the verdict that stands where some failing checks have no name:
	// that one of them is auth stays true whatever the others are.
	sound verdict
}

// takeApart compiles the comparisons of the expression.
func takeApart(n ast.Node) (part, error) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			return joined("not", n.Node)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and":
			return joined("and", n.Left, n.Right)
		case "||", "or":
			return joined("or", n.Left, n.Right)
		}
	case *ast.ConditionalNode:
		return joined("if", n.Cond, n.Exp1, n.Exp2)
	}
	return comparison(n)
}

func joined(op string, nodes ...ast.Node) (part, error) {
	p := part{op: op}
	for _, n := range nodes {
		below, err := takeApart(n)
		if err != nil {
			return part{}, err
		}
		p.parts = append(p.parts, below)
	}
	return p, nil
}

func comparison(n ast.Node) (part, error) {
	p := part{text: n.String(), facts: inspect(n, nil).facts, sound: soundOf(n)}
	var settled []string
	if b, ok := n.(*ast.BinaryNode); ok {
		in := inspection{}
		in.binary(b)
		settled = in.settled
	}
	for _, fact := range FactList() {
		if fact.Unknown != nil && slices.Contains(p.facts, fact.Name) && !slices.Contains(settled, fact.Name) {
			p.tacit = append(p.tacit, fact)
		}
	}
	var err error
	p.program, err = compileText(p.text)
	return p, err
}

// soundOf looks for comparisons of which one outcome needs no more than some of
// the names of failing checks.
func soundOf(n ast.Node) verdict {
	names := func(n ast.Node) bool {
		id, ok := n.(*ast.IdentifierNode)
		return ok && id.Value == "checks"
	}
	mentions := slices.DeleteFunc(inspect(n, nil).facts, func(name string) bool { return name != "checks" })
	if len(mentions) != 1 {
		return maybe
	}
	switch n := n.(type) {
	case *ast.BinaryNode:
		if n.Operator == "in" && names(n.Right) {
			return yes
		}
	case *ast.BuiltinNode:
		switch {
		case len(n.Arguments) == 0 || !names(n.Arguments[0]):
		case n.Name == "any":
			return yes
		case n.Name == "all" || n.Name == "none":
			return no
		}
	}
	return maybe
}

// verdict joins what is said of the comparisons, from left to right, and asks
// for no more of them than are needed.
func (p *part) verdict(of func(*part) verdict) verdict {
	switch p.op {
	case "not":
		return not(p.parts[0].verdict(of))
	case "and":
		return p.decidedBy(no, of)
	case "or":
		return p.decidedBy(yes, of)
	case "if":
		switch p.parts[0].verdict(of) {
		case yes:
			return p.parts[1].verdict(of)
		case no:
			return p.parts[2].verdict(of)
		}
		if v := p.parts[1].verdict(of); v == p.parts[2].verdict(of) {
			return v
		}
		return maybe
	}
	return of(p)
}

// decidedBy joins two parts of which one decides alone if it comes to strong.
func (p *part) decidedBy(strong verdict, of func(*part) verdict) verdict {
	a := p.parts[0].verdict(of)
	if a == strong {
		return strong
	}
	switch b := p.parts[1].verdict(of); {
	case b == strong:
		return strong
	case a == b:
		return a
	}
	return maybe
}

// compare evaluates a comparison; the text says why nothing is certain.
func (p *part) compare(f Facts) (v verdict, why string) {
	for _, fact := range p.tacit {
		if f.unknown(fact) {
			return maybe, fmt.Sprintf("%s is not known, and %s does not say what holds then", fact.Name, p.text)
		}
	}
	got, err := expr.Run(p.program, f)
	if err != nil {
		return maybe, runError(p.text, err)
	}
	v = no
	if got == true {
		v = yes
	}
	if v != p.sound && f.someUnnamed() && slices.Contains(p.facts, "checks") {
		return maybe, fmt.Sprintf("%d of %d failing checks are named, which is not enough for %s", len(f.Checks), f.Failing, p.text)
	}
	return v, ""
}

// runError says why an expression could not be evaluated.
func runError(text string, err error) string {
	message, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Sprintf("%s cannot be evaluated: %s", text, strconv.QuoteToGraphic(message))
}
