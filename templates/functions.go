package templates

import (
	"fmt"
	"slices"
	"text/template/parse"
)

// call returns the type of a function's result for arguments of those types. A call that it
// accepts cannot fail when the text is filled in.
func (c *checker) call(name *parse.IdentifierNode, args []VariableType) VariableType {
	if slices.Contains(args, typeUnknown) {
		return typeUnknown
	}
	if slices.Contains(args, typeRoot) {
		return c.fault(name, name.Ident+" wants variables, such as .Summary", "")
	}
	switch name.Ident {
	case "and", "or":
		return c.choice(name, args)
	case "not":
		return c.fixed(name, args, 1, nil, TypeBool)
	case "eq":
		if len(args) >= 2 && alike(args, TypeText, TypeNumber, TypeBool) {
			return TypeBool
		}
		return c.fault(name, "eq wants two or more values of one type", "")
	case "ne":
		if len(args) == 2 && alike(args, TypeText, TypeNumber, TypeBool) {
			return TypeBool
		}
		return c.fault(name, "ne wants two values of one type", "")
	case "lt", "le", "gt", "ge":
		if len(args) == 2 && alike(args, TypeText, TypeNumber) {
			return TypeBool
		}
		return c.fault(name, name.Ident+" wants two numbers or two texts", "")
	case "len":
		return c.fixed(name, args, 1, []VariableType{TypeList, TypeText}, TypeNumber)
	}
	if len(args) == 2 && args[0] == TypeText && args[1] == TypeList {
		return TypeText
	}
	return c.fault(name, "join wants a text and a list", `write {{join ", " .LastErrors}}`)
}

// alike reports whether all arguments have the same type, and that type is in of.
func alike(args []VariableType, of ...VariableType) bool {
	for _, t := range args {
		if t != args[0] || !slices.Contains(of, t) {
			return false
		}
	}
	return true
}

func (c *checker) fixed(name *parse.IdentifierNode, args []VariableType, n int, of []VariableType, result VariableType) VariableType {
	if len(args) != n || (of != nil && !slices.Contains(of, args[0])) {
		want := "value"
		if of != nil {
			want = "list or text"
		}
		return c.fault(name, fmt.Sprintf("%s wants one %s", name.Ident, want), "")
	}
	return result
}

// choice returns the type of and, or. The result is one of the values, so it has their common
// type; if they differ, it can only be tested, like a bool.
func (c *checker) choice(name *parse.IdentifierNode, args []VariableType) VariableType {
	if len(args) == 0 {
		return c.fault(name, name.Ident+" wants values", "")
	}
	for _, t := range args {
		if t != args[0] {
			return typeMixed
		}
	}
	return args[0]
}

// typeMixed is the type of a value that has one of several types and can only be tested.
const typeMixed VariableType = "mixed"
