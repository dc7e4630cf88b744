package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/nearest"
)

// functions are what a condition can call, operators what it can write between
// two values. All take time in proportion to what they are given.
var (
	functions  = []string{"all", "any", "none", "one", "count", "len", "abs", "min", "max", "lower", "upper", "trim", "hasPrefix", "hasSuffix", "duration"}
	predicates = functions[:5]
	operators  = []string{
		"&&", "||", "and", "or", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%",
		"in", "contains", "startsWith", "endsWith", "matches",
	}
)

// fault is what is wrong at the character with that number.
type fault struct {
	at           int
	text, remedy string
}

// inspection looks through an expression for what a condition cannot be.
type inspection struct {
	known   Known
	facts   []string // mentioned
	settled []string // compared with their unknown value
	faults  []fault
}

func inspect(root ast.Node, known Known) *inspection {
	in := &inspection{known: known}
	in.walk(root, 0)
	return in
}

func (in *inspection) fault(n ast.Node, text, remedy string) {
	in.faults = append(in.faults, fault{n.Location().From, text, remedy})
}

// walk looks at the node and at what is below it; depth counts the predicates
// around it.
func (in *inspection) walk(n ast.Node, depth int) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		in.identifier(n)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
	case *ast.PointerNode:
		if n.Name != "" {
			in.fault(n, "#"+n.Name+" is not supported in a condition", "write # for the item")
		}
	case *ast.UnaryNode:
		in.walk(n.Node, depth)
	case *ast.BinaryNode:
		in.binary(n)
		in.walk(n.Left, depth)
		in.walk(n.Right, depth)
	case *ast.ConditionalNode:
		in.all(depth, n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		in.all(depth, n.Nodes...)
	case *ast.MemberNode:
		if _, named := n.Property.(*ast.StringNode); named || n.Optional {
			in.fault(n, "a fact has no parts with names", "")
			return
		}
		in.all(depth, n.Node, n.Property)
	case *ast.BuiltinNode:
		in.call(n, depth)
	case *ast.PredicateNode:
		in.walk(n.Node, depth)
	case *ast.CallNode:
		in.unknownFunction(n, callee(n))
	default:
		in.fault(n, quote(n.String())+" is not supported in a condition", "use facts, comparisons, and, or, not")
	}
}

func (in *inspection) all(depth int, nodes ...ast.Node) {
	for _, n := range nodes {
		in.walk(n, depth)
	}
}

func (in *inspection) identifier(n *ast.IdentifierNode) {
	if !slices.Contains(factNames(), n.Value) {
		in.fault(n, "unknown fact "+quote(n.Value), nearestFact(n.Value))
		return
	}
	in.facts = append(in.facts, n.Value)
}

func callee(n *ast.CallNode) string {
	if id, ok := n.Callee.(*ast.IdentifierNode); ok {
		return id.Value
	}
	return n.Callee.String()
}

func (in *inspection) unknownFunction(n ast.Node, name string) {
	remedy := "use one of " + strings.Join(functions, ", ")
	if near := nearest.Word(name, functions); near != "" {
		remedy = fmt.Sprintf("did you mean %q?", near)
	}
	in.fault(n, "unknown function "+quote(name), remedy)
}

func (in *inspection) call(n *ast.BuiltinNode, depth int) {
	switch {
	case !slices.Contains(functions, n.Name):
		in.unknownFunction(n, n.Name)
		return
	case slices.Contains(predicates, n.Name):
		if depth++; depth > 1 {
			in.fault(n, n.Name+" inside another predicate is not supported", "split the condition into two rules")
			return
		}
	case n.Name == "duration":
		in.duration(n)
	}
	in.all(depth, n.Arguments...)
}

// duration: a time that cannot be read would only show when the rule is needed.
func (in *inspection) duration(n *ast.BuiltinNode) {
	for _, arg := range n.Arguments {
		text, ok := arg.(*ast.StringNode)
		if !ok {
			in.fault(arg, "duration wants a time in quotes", `write it as duration("10m")`)
			continue
		}
		if _, err := time.ParseDuration(text.Value); err != nil {
			in.fault(arg, "duration wants a time, not "+quote(text.Value), "write it with a unit, such as 90s, 10m or 1h30m")
		}
	}
}

func (in *inspection) binary(n *ast.BinaryNode) {
	if !slices.Contains(operators, n.Operator) {
		in.fault(n, fmt.Sprintf("the operator %s is not supported in a condition", n.Operator), "")
		return
	}
	if _, ok := n.Right.(*ast.StringNode); !ok && n.Operator == "matches" {
		in.fault(n.Right, "matches wants a pattern in quotes", `write it as label matches "^test-fail:"`)
	}
	if id, ok := n.Left.(*ast.IdentifierNode); ok {
		values := []ast.Node{n.Right}
		if list, ok := n.Right.(*ast.ArrayNode); ok && n.Operator == "in" {
			values = list.Nodes
		}
		for _, v := range values {
			in.compared(id.Value, n.Operator, v)
		}
	}
	if id, ok := n.Right.(*ast.IdentifierNode); ok && mirrored[n.Operator] != "" {
		in.compared(id.Value, mirrored[n.Operator], n.Left)
	}
}

// mirrored are the comparisons as they read from the right.
var mirrored = map[string]string{"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

// compared notes that a fact is compared with a value as it is written.
func (in *inspection) compared(name, operator string, with ast.Node) {
	if mirrored[operator] == "" && operator != "in" {
		return
	}
	for _, fact := range FactList() {
		if fact.Name == name && settles(fact.Unknown, operator, with) {
			in.settled = append(in.settled, name)
		}
	}
	text, ok := with.(*ast.StringNode)
	if !ok {
		return
	}
	var values []string
	switch name {
	case "guard":
		for _, id := range in.known.guards() {
			values = append(values, string(id))
		}
	case "outcome":
		// There is none, or it is what policies of recorded runs may say, which holds
		// no more: an iteration that was cut off is no evidence.
		if text.Value == "" || text.Value == string(core.OutcomeInterrupted) {
			return
		}
		values = []string{string(core.OutcomeDone), string(core.OutcomeNotDone), string(core.OutcomeError)}
	default:
		return
	}
	if !slices.Contains(values, text.Value) {
		in.fault(text, fmt.Sprintf("%s is never %s", name, quote(text.Value)), nearest.DidYouMean(text.Value, values))
	}
}

// settles reports whether the comparison says what holds where a fact with that
// unknown value is not known: it names the value itself, or parts it from all
// others, as failing >= 0 does. That failing != 0 is no such comparison is the
// point: read aloud it does not hold for what nobody counted.
func settles(unknown any, operator string, with ast.Node) bool {
	below := unknown == -1 || unknown == float64(-1)
	switch n := with.(type) {
	case *ast.StringNode:
		return unknown == n.Value
	case *ast.IntegerNode:
		return unknown == n.Value || (below && n.Value == 0 && (operator == "<" || operator == ">="))
	case *ast.UnaryNode:
		one, ok := n.Node.(*ast.IntegerNode)
		return ok && n.Operator == "-" && one.Value == 1 && below
	}
	return false
}
