package templates

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/termsafe"
)

// Limits of a template.
const (
	minOptions     = 2
	maxOptions     = 9
	maxShort       = 12
	maxHeader      = 60
	maxLabel       = 60
	maxID          = 40
	maxDescription = 500
)

// isID reports whether a text can be an option's id; the schema has the same as a pattern.
func isID(s string) bool {
	letter := func(r rune) bool { return r >= 'a' && r <= 'z' }
	other := func(r rune) bool { return !letter(r) && (r < '0' || r > '9') && r != '_' && r != '-' }
	return s != "" && letter(rune(s[0])) && !strings.ContainsFunc(s, other)
}

// plain returns a text that is shown as written in the file.
func plain(s string) string { return termsafe.Line(s) }

func shown(s string) string { return termsafe.Quoted(s, 40) }

func guardIDs() []core.GuardID {
	return slices.Concat(core.GuardIDs(), core.ProtocolIDs(), []core.GuardID{AnyGuard})
}

// optionsRemedy is how to fix too many options (false) and too few (true).
var optionsRemedy = map[bool]string{false: "leave some out", true: "add one, such as {id: cancel, label: Cancel, action: cancel}"}

// check reports problems of the template that are not problems of its form.
func (t *Template) check(r *report) {
	t.checkWording(r)
	if r.Has("guard") && !slices.Contains(guardIDs(), t.Guard) {
		p := unknownGuard(t.Guard)
		r.Value(p.Text, p.Remedy, "guard")
	}
	t.checkTitles(r)
	if n := len(t.Options); r.Has("options") && (n < minOptions || n > maxOptions) {
		r.Key(fmt.Sprintf("a question has %d to %d options, this one has %d", minOptions, maxOptions, n), optionsRemedy[n < minOptions], "options")
	}
	for i := range t.Options {
		t.checkOption(r, i)
	}
	t.checkCancel(r)
	t.checkDefault(r)
	for i, action := range t.Never {
		switch {
		case !slices.Contains(core.CanForbid(), action):
			r.Value("unknown action "+shown(string(action)), "write accept or continue", "never", i)
		case slices.Contains(t.Never[:i], action):
			r.Value("the action "+shown(string(action))+" is in the list twice", "remove one of them", "never", i)
		}
	}
}

func (t *Template) checkWording(r *report) {
	variables := Variables()
	for i := range variables {
		of := questionsWith(variables[i].Name)
		if len(of) > 0 && t.Guard != AnyGuard && slices.Contains(guardIDs(), t.Guard) && !slices.Contains(of, string(t.Guard)) {
			variables[i].Type = typeEmpty
		}
	}
	r.faults(faultsIn(t.Question, variables), "question")
	for i, o := range t.Options {
		r.faults(faultsIn(o.Description, variables), "options", i, "description")
		r.faults(faultsIn(o.Guidance, variables), "options", i, "guidance")
	}
}

// rehearse reports a question that is empty in a sample run.
func (t *Template) rehearse(r *report) {
	text, err := fill(t.Question, sampleFacts(t.Guard, nil), textLimit)
	if err == nil && strings.TrimSpace(text) == "" {
		r.Value("the question is empty in a made-up run", "write a text for every case, as {{if …}}…{{else}}…{{end}}", "question")
	}
}

// beyond reports options that extend a limit by more than answers can without --cap-….
func (t *Template) beyond() (problems problem.List) {
	caps := core.DefaultCaps(core.DefaultLimits())
	for i, o := range t.Options {
		for unit, limit := range map[string]string{"iterations": fmt.Sprint(caps.Iterations), "runtime": plural.Duration(caps.Runtime)} {
			if unit == "iterations" && o.Extend.Iterations > caps.Iterations || unit == "runtime" && o.Extend.Runtime > caps.Runtime {
				problems = append(problems, t.doc.Problem(fmt.Sprintf("the option %s extends by more than the cap of %s", o.ID, limit),
					"lower it: it is cut to the cap, unless a run has a larger --cap-"+unit, "options", i, "extend", unit))
			}
		}
	}
	return problems
}

func (t *Template) checkTitles(r *report) {
	literal(r, t.Header, maxHeader, "header")
	if r.Has("short") {
		literal(r, t.Short, maxShort, "short")
	} else if n := utf8.RuneCountInString(t.Header); n > maxShort {
		r.Key(fmt.Sprintf("the header has %d characters, so a short one is needed", n),
			fmt.Sprintf("add \"short\" with at most %d", maxShort), "header")
	}
	if r.Has("question") && strings.TrimSpace(t.Question) == "" {
		r.Value("the question is empty", "say what happened and what is asked", "question")
	}
}

// literal checks a text that is shown as written: it must be present, must not be too long,
// and must mention no variables.
func literal(r *report, text string, most int, path ...any) {
	name := path[len(path)-1]
	n := utf8.RuneCountInString(text)
	switch {
	case !r.Has(path...): // reported already where it has to be there
	case n == 0:
		r.Value(fmt.Sprintf("%q is empty", name), "", path...)
	case n > most:
		r.Value(fmt.Sprintf("%q has %d characters", name, n), fmt.Sprintf("shorten it to at most %d", most), path...)
	case strings.Contains(text, "{{"):
		r.Value(fmt.Sprintf("%q cannot mention variables", name), "question, description and guidance can", path...)
	}
}

// checkKey checks the letter that chooses an option.
func (t *Template) checkKey(r *report, i int) {
	key := t.Options[i].Key
	at := []any{"options", i, "key"}
	switch {
	case len(key) != 1 || key[0] < 'a' || key[0] > 'z':
		r.Value(fmt.Sprintf("the key %s is not a letter", shown(key)), "write one small letter, a to z", at...)
	case strings.Contains(core.TakenKeys, key):
		r.Value(fmt.Sprintf("the key %s means the same at every question", shown(key)), "use a letter that is not one of "+takenLetters(), at...)
	}
	t.unique(r, i, func(o Option) bool { return o.Key == key }, "the key "+shown(key), at...)
}

// unique reports a value of an option that an earlier option has too.
func (t *Template) unique(r *report, i int, has func(Option) bool, what string, path ...any) {
	if j := slices.IndexFunc(t.Options[:i], has); j >= 0 {
		r.Value(fmt.Sprintf("%s is that of option %d too", what, j+1), "give each option its own", path...)
	}
}

// takenLetters returns the letters that no option can have.
func takenLetters() string {
	return strings.Join(strings.Split(strings.ReplaceAll(core.TakenKeys, "?", ""), ""), " ")
}

func (t *Template) checkOption(r *report, i int) {
	o := t.Options[i]
	at := func(key string) []any { return []any{"options", i, key} }
	if r.Has(at("id")...) {
		t.checkID(r, i)
	}
	literal(r, o.Label, maxLabel, at("label")...)
	if r.Has(at("key")...) {
		t.checkKey(r, i)
	}
	t.unique(r, i, func(p Option) bool { return o.Label != "" && strings.EqualFold(o.Label, p.Label) }, "the label "+shown(o.Label), at("label")...)
	if n := utf8.RuneCountInString(o.Description); n > maxDescription {
		r.Value(fmt.Sprintf("the description has %d characters", n), fmt.Sprintf("shorten it to at most %d", maxDescription), at("description")...)
	}
	for _, need := range o.Requires {
		if !slices.Contains(needs, need) {
			r.Value("unknown need "+shown(need), nearest.DidYouMean(need, needs), at("requires")...)
		}
	}
	if r.Has(at("action")...) {
		t.checkAction(r, i)
	}
}

func (t *Template) checkID(r *report, i int) {
	o := t.Options[i]
	path := []any{"options", i, "id"}
	switch {
	case !isID(o.ID) || len(o.ID) > maxID:
		r.Value(shown(o.ID)+" is not an option id", fmt.Sprintf("use at most %d of a-z, 0-9, _ and -, beginning with a letter", maxID), path...)
	case o.Misnamed(t.Guard) != "" && slices.Contains(core.Actions(), o.Action):
		r.Value(fmt.Sprintf("the option %s has the action %s", shown(o.ID), o.Action),
			fmt.Sprintf("give it the action %s, or another id; a policy would be misread", o.Misnamed(t.Guard)), path...)
	}
	t.unique(r, i, func(p Option) bool { return o.ID == p.ID }, "the id "+shown(o.ID), path...)
}

func (t *Template) checkAction(r *report, i int) {
	o := t.Options[i]
	at := func(key string) []any { return []any{"options", i, key} }
	if !slices.Contains(core.Actions(), o.Action) {
		r.Value("unknown action "+shown(string(o.Action)), nearest.DidYouMean(o.Action, core.Actions()), at("action")...)
		return
	}
	if (o.Action == core.ActionReject || o.Action.Retasks()) && t.Guard != core.Rejection && slices.Contains(guardIDs(), t.Guard) {
		r.Value(fmt.Sprintf("the action %s is for rejections only", o.Action), "no task is rejected where this is asked; use another action", at("action")...)
	}
	if o.Action == core.ActionDone && t.Guard != core.Weakened && slices.Contains(guardIDs(), t.Guard) {
		r.Value("the action done is for the guard weakened only", "elsewhere nothing has passed; use accept", at("action")...)
	}
	t.checkExtend(r, i)
	switch hasCommand := strings.TrimSpace(o.Command) != ""; {
	case o.Action == core.ActionRun && !hasCommand:
		r.Value("the action run has no command", "add \"command: …\", a shell line", at("action")...)
	case o.Action != core.ActionRun && r.Has(at("command")...):
		r.Key(fmt.Sprintf("the action %s runs no command", o.Action), "remove it, or use the action run", at("command")...)
	}
	if !o.Action.Continues() && r.Has(at("guidance")...) {
		r.Key(fmt.Sprintf("the action %s has no next iteration that guidance could reach", o.Action), "remove it", at("guidance")...)
	}
	if o.Action == core.ActionCancel && len(o.Requires) > 0 {
		r.Key("cancel has to be offered always", "remove \"requires\"", at("requires")...)
	}
}

// checkExtend checks that an option that continues extends the limit that tripped, and that an
// option that extends nothing does not appear to.
func (t *Template) checkExtend(r *report, i int) {
	o := t.Options[i]
	path := []any{"options", i, "extend"}
	given := r.Has(path...)
	unit := t.Guard.Spec().Unit()
	limit := unit != ""
	known := slices.Contains(guardIDs(), t.Guard)
	switch {
	case !known:
	case given && !o.Action.Continues():
		r.Key(fmt.Sprintf("the action %s extends nothing", o.Action), "remove \"extend\"", path...)
	case given && !limit:
		r.Key(fmt.Sprintf("%s is not a limit that can be extended", t.Guard), "remove \"extend\": continuing resets its counter", path...)
	case limit && o.Action.Continues() && !r.Has("options", i, "extend", unit):
		r.Value(fmt.Sprintf("the option continues without extending the limit of %s", t.Guard),
			fmt.Sprintf("add \"extend: {%s: %s}\"", unit, unitExample(unit)), "options", i, "action")
	}
	for key, bad := range map[string]bool{
		"iterations": o.Extend.Iterations <= 0,
		"runtime":    o.Extend.Runtime <= 0,
		"tokens":     o.Extend.Tokens <= 0 && o.Extend.TokensPercent <= 0,
	} {
		if bad && r.Has("options", i, "extend", key) {
			r.Value(key+" has to be above 0", "", "options", i, "extend", key)
		}
	}
}

func unitExample(unit string) string {
	switch unit {
	case "iterations":
		return "5"
	case "runtime":
		return "10m"
	}
	return "50%"
}

func (t *Template) checkCancel(r *report) {
	cancels := func(o Option) bool { return o.Action == core.ActionCancel }
	if len(t.Options) > 0 && !slices.ContainsFunc(t.Options, cancels) {
		r.Key("no option cancels", "add one with \"action: cancel\"", "options")
	}
}

func (t *Template) checkDefault(r *report) {
	if !r.Has("default") {
		return
	}
	i := slices.IndexFunc(t.Options, func(o Option) bool { return o.ID == t.Default })
	if i < 0 {
		ids := slices.DeleteFunc(t.OptionIDs(), func(id string) bool { return !isID(id) })
		r.Value("no option has the id "+shown(t.Default), nearest.DidYouMean(t.Default, slices.Compact(ids)), "default")
		return
	}
	if a := t.Options[i].Action; a == core.ActionReview || a == core.ActionRun {
		r.Value(fmt.Sprintf("the default has the action %s, which decides nothing", a), "name an option that does", "default")
	} else if q := (core.Question{Never: t.Never}); q.Forbids(a) {
		r.Value(fmt.Sprintf("the default has the action %s, and the question forbids it with never: %q", a, t.Never), "name another option", "default")
	}
}

// Types that no variable has.
const (
	typeRoot    VariableType = "root"    // the dot outside of range and with
	typeUnknown VariableType = "unknown" // of what is faulty already
	typeEmpty   VariableType = "empty"   // of what the guard's question never has
)

const maxRangeDepth = 2

var functions = []string{"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "len", "join"}

// checker walks a parsed text and determines the type of every expression.
type checker struct {
	names  []string
	known  map[string]Variable
	faults []fault
}

// scope is the set of names that a part of the text can refer to.
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
			c.tested(n.Pipe)
			c.list(n.List, s)
			c.list(n.ElseList, s)
		case *parse.WithNode:
			c.noDeclarations(n.Pipe)
			inner := s
			inner.dot = c.pipe(n.Pipe, s)
			c.tested(n.Pipe)
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
		c.fault(n.Pipe, "{{.}} has no value here", "name a variable, as in {{.Summary}}")
	}
}

func (c *checker) noDeclarations(p *parse.PipeNode) {
	if len(p.Decl) > 0 {
		c.fault(p.Decl[0], "variables of one's own are only supported in range", "")
	}
}

// loop checks a range, which must be over a list: a number would determine how long it runs.
func (c *checker) loop(n *parse.RangeNode, s scope) {
	if t := c.pipe(n.Pipe, s); t != TypeList && t != typeUnknown {
		c.fault(n.Pipe, "range wants a list", "lists are "+strings.Join(c.lists(), ", "))
	}
	if n.Pipe.IsAssign {
		c.fault(n.Pipe, "range declares its variables with :=", "write := in place of =")
	}
	inner := scope{dot: TypeText, own: map[string]VariableType{}, ranges: s.ranges + 1}
	maps.Copy(inner.own, s.own)
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
		if c.known[name].Type == TypeList {
			names = append(names, "."+name)
		}
	}
	return names
}

// pipe returns the type of a | b | c.
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
		remedy := nearest.DidYouMean(name.Ident, functions)
		if i := slices.IndexFunc(c.names, func(of string) bool { return strings.EqualFold(of, name.Ident) }); i >= 0 {
			remedy = "write {{." + c.names[i] + "}}"
		} else if slices.Contains(guardIDs(), core.GuardID(name.Ident)) {
			remedy = fmt.Sprintf("put quotes around a text: %q", name.Ident)
		}
		return c.fault(name, fmt.Sprintf("unknown function %q", termsafe.Cut(name.Ident, 40)), remedy)
	}
	var args []VariableType
	for _, arg := range cmd.Args[1:] {
		args = append(args, c.operand(arg, s))
		if slices.Contains([]string{"and", "or", "not"}, name.Ident) {
			c.tested(arg)
		}
	}
	return c.call(name, append(args, piped...))
}

// operand returns the type of one value.
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
	v, ok := c.known[path[0]]
	t := v.Type
	switch {
	case !ok:
		return c.fault(n, fmt.Sprintf("unknown variable {{.%s}}", termsafe.Cut(path[0], 40)), c.remedy(path[0]))
	case t == typeEmpty:
		return c.fault(n, fmt.Sprintf("{{.%s}} is always empty in this question", path[0]), fmt.Sprintf("remove it; the questions that have it are %s", strings.Join(questionsWith(path[0]), ", ")))
	case len(path) > 1:
		return c.fault(n, fmt.Sprintf("{{.%s}} is a %s and has no parts", path[0], t), "")
	}
	return t
}

// tested refuses a number as a condition if -1 stands for an unknown one, which would hold.
func (c *checker) tested(n parse.Node) {
	name := bare(n)
	if c.known[name].unsure {
		c.fault(n, fmt.Sprintf("{{.%s}} is -1 when it is not known, which holds here", name), fmt.Sprintf("write gt .%s 0, or ge .%[1]s 0", name))
	}
}

// bare returns the name of the variable that a node is.
func bare(n parse.Node) string { return strings.TrimPrefix(strings.TrimPrefix(n.String(), "$"), ".") }

func (c *checker) remedy(name string) string {
	if near := nearest.Word(name, c.names); near != "" {
		return "did you mean {{." + near + "}}?"
	}
	if len(c.names) == 0 {
		return "this text mentions no variables"
	}
	return "the variables are " + strings.Join(c.names, ", ")
}
