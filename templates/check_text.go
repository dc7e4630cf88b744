package templates

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/termsafe"
)

// Types that no variable has.
const (
	typeRoot    VariableType = "root"    // the dot outside of range and with
	typeUnknown VariableType = "unknown" // of what is faulty already
)

const maxRangeDepth = 2

var functions = []string{"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "len", "join"}

// checker goes through a parsed text and gives every expression a type.
type checker struct {
	names  []string
	types  map[string]VariableType
	faults []fault
}

// scope is what a part of the text can refer to.
type scope struct {
	dot    VariableType
	own    map[string]VariableType // variables that a range declares
	ranges int
}

func (c *checker) fault(n parse.Node, text, remedy string) VariableType {
	c.faults = append(c.faults, fault{int(n.Position()), text, remedy})
	return typeUnknown
}

func (c *checker) list(l *parse.ListNode, s scope) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode, *parse.CommentNode, *parse.BreakNode, *parse.ContinueNode:
		case *parse.ActionNode:
			c.action(n, s)
		case *parse.IfNode:
			c.noDeclarations(n.Pipe)
			c.pipe(n.Pipe, s)
			c.list(n.List, s)
			c.list(n.ElseList, s)
		case *parse.WithNode:
			c.noDeclarations(n.Pipe)
			inner := s
			inner.dot = c.pipe(n.Pipe, s)
			c.list(n.List, inner)
			c.list(n.ElseList, s)
		case *parse.RangeNode:
			c.loop(n, s)
		default:
			c.fault(n, "only variables, if, with and range are supported", "write the text where it is needed")
		}
	}
}

func (c *checker) action(n *parse.ActionNode, s scope) {
	c.noDeclarations(n.Pipe)
	switch c.pipe(n.Pipe, s) {
	case TypeList:
		c.fault(n.Pipe, "a list cannot be shown as it is", `write {{join ", " .List}} or {{range .List}}{{.}}{{end}}`)
	case typeRoot:
		c.fault(n.Pipe, "{{.}} stands for nothing here", "name a variable, as in {{.Summary}}")
	}
}

func (c *checker) noDeclarations(p *parse.PipeNode) {
	if len(p.Decl) > 0 {
		c.fault(p.Decl[0], "variables of one's own are only supported in range", "")
	}
}

// loop checks a range. It goes over a list only: a number would say how long it runs.
func (c *checker) loop(n *parse.RangeNode, s scope) {
	if t := c.pipe(n.Pipe, s); t != TypeList && t != typeUnknown {
		c.fault(n.Pipe, "range wants a list", "lists are "+strings.Join(c.lists(), ", "))
	}
	inner := scope{dot: TypeText, own: map[string]VariableType{}, ranges: s.ranges + 1}
	for name, t := range s.own {
		inner.own[name] = t
	}
	for i, d := range n.Pipe.Decl {
		inner.own[d.Ident[0]] = TypeText
		if i == 0 && len(n.Pipe.Decl) == 2 {
			inner.own[d.Ident[0]] = TypeNumber
		}
	}
	if inner.ranges > maxRangeDepth {
		c.fault(n, fmt.Sprintf("range is nested more than %d deep", maxRangeDepth), "")
		return
	}
	c.list(n.List, inner)
	c.list(n.ElseList, s)
}

func (c *checker) lists() []string {
	var names []string
	for _, name := range c.names {
		if c.types[name] == TypeList {
			names = append(names, "."+name)
		}
	}
	return names
}

// pipe is the type of a | b | c.
func (c *checker) pipe(p *parse.PipeNode, s scope) VariableType {
	var t VariableType
	for i, cmd := range p.Cmds {
		var piped []VariableType
		if i > 0 {
			piped = []VariableType{t}
		}
		t = c.command(cmd, piped, s)
	}
	return t
}

func (c *checker) command(cmd *parse.CommandNode, piped []VariableType, s scope) VariableType {
	name, ok := cmd.Args[0].(*parse.IdentifierNode)
	if !ok {
		if len(cmd.Args) > 1 || len(piped) > 0 {
			return c.fault(cmd.Args[0], cmd.Args[0].String()+" is not a function and takes nothing", nearest.DidYouMean("", functions))
		}
		return c.operand(cmd.Args[0], s)
	}
	if !slices.Contains(functions, name.Ident) {
		return c.fault(name, fmt.Sprintf("unknown function %q", termsafe.Cut(name.Ident, 40)), nearest.DidYouMean(name.Ident, functions))
	}
	var args []VariableType
	for _, arg := range cmd.Args[1:] {
		args = append(args, c.operand(arg, s))
	}
	return c.call(name, append(args, piped...))
}

// operand is the type of one value.
func (c *checker) operand(n parse.Node, s scope) VariableType {
	switch n := n.(type) {
	case *parse.DotNode:
		return s.dot
	case *parse.FieldNode:
		if s.dot != typeRoot {
			return c.fault(n, fmt.Sprintf("%s is not known inside range and with", termsafe.Cut(n.String(), 40)), "write $"+termsafe.Cut(n.String(), 40))
		}
		return c.variable(n, n.Ident)
	case *parse.VariableNode:
		if t, ok := s.own[n.Ident[0]]; ok && len(n.Ident) == 1 {
			return t
		}
		if n.Ident[0] == "$" && len(n.Ident) > 1 {
			return c.variable(n, n.Ident[1:])
		}
		if n.Ident[0] == "$" {
			return typeRoot
		}
		return c.fault(n, termsafe.Cut(n.String(), 40)+" is not a value", "")
	case *parse.StringNode:
		return TypeText
	case *parse.BoolNode:
		return TypeBool
	case *parse.NumberNode:
		if n.IsInt {
			return TypeNumber
		}
		return c.fault(n, n.Text+" is not a whole number", "")
	case *parse.PipeNode:
		c.noDeclarations(n)
		return c.pipe(n, s)
	case *parse.IdentifierNode:
		return c.command(&parse.CommandNode{Args: []parse.Node{n}}, nil, s)
	}
	return c.fault(n, termsafe.Cut(n.String(), 40)+" is not supported", "name a variable, as in {{.Summary}}")
}

func (c *checker) variable(n parse.Node, path []string) VariableType {
	t, ok := c.types[path[0]]
	switch {
	case !ok:
		return c.fault(n, fmt.Sprintf("unknown variable {{.%s}}", termsafe.Cut(path[0], 40)), c.remedy(path[0]))
	case len(path) > 1:
		return c.fault(n, fmt.Sprintf("{{.%s}} is a %s and has no parts", path[0], t), "")
	}
	return t
}

func (c *checker) remedy(name string) string {
	if near := nearest.Word(name, c.names); near != "" {
		return "did you mean {{." + near + "}}?"
	}
	if len(c.names) == 0 {
		return "this text mentions no variables"
	}
	return "the variables are " + strings.Join(c.names, ", ")
}
