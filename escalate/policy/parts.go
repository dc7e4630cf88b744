package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

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
