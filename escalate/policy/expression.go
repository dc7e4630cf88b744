package policy

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"text/scanner"
	"time"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/plural"
)

// Limits of a condition. No function takes more time than proportional to its arguments, so
// together the limits bound the time that a condition can take.
const (
	maxCondition = 1000 // bytes
	maxNodes     = 300
	maxDepth     = 100
)

// kind is the type of a value: bool, float64, string, float64 in nanoseconds, or []any.
type kind byte

const (
	anything kind = iota // of a part with a fault, which is reported once
	aTruth
	aNumber
	aText
	aTime
	aList // of numbers or texts
)

func (k kind) String() string {
	return [...]string{"anything", "true or false", "a number", "a text", "a time", "a list"}[k]
}

// node is a part of a condition. Its op is "value", "fact", "item" (# in a predicate),
// "list", "call", "!", "minus" or a binary operator.
type node struct {
	op         string
	name       string // of a fact or a function
	from, to   int    // where it is in the text, in bytes
	kind, item kind   // item is the type of a list's entries
	parts      []*node
	constant   any                 // of a value
	value      func(e *values) any // panics with an impossible
}

// values are the inputs for evaluating a condition.
type values struct {
	facts core.Facts
	item  any // what # is
	// given maps names of facts to values that override facts.
	given map[string]any
}

// impossible is why a condition has no value: a division by zero.
type impossible string

// evaluate returns the value of a part of a condition without faults.
func (n *node) evaluate(f core.Facts) (v any, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case impossible:
			err = errors.New(string(e))
		default:
			panic(e)
		}
	}()
	return n.value(&values{facts: f}), nil
}

// walk calls f for the part and all parts below it.
func (n *node) walk(f func(*node)) {
	f(n)
	for _, p := range n.parts {
		p.walk(f)
	}
}

// fault is a problem at one byte of the condition.
type fault struct {
	at           int
	text, remedy string
}

// parser parses a condition and determines the type of each part. A syntax fault stops it;
// other faults are collected.
type parser struct {
	text   string
	known  Known
	scan   scanner.Scanner
	token  string // an operator, "name", "value" or "end"
	word   string // as it is written
	value  any
	at     int
	end    int // of the token before
	nodes  int
	depth  int
	within kind // the type of # here; anything: there is no list around
	faults []fault
}

// read parses a condition, which must be true or false.
func read(text string, known Known) (n *node, faults []fault) {
	p := &parser{text: text, known: known}
	defer func() {
		if e := recover(); e != nil {
			f, ok := e.(fault)
			if !ok {
				panic(e)
			}
			n, faults = nil, append(p.faults, f)
		}
	}()
	p.scan.Init(strings.NewReader(text))
	p.scan.Mode = scanner.ScanIdents | scanner.ScanFloats | scanner.ScanStrings | scanner.ScanRawStrings
	p.scan.Error = func(s *scanner.Scanner, _ string) {
		p.fail(s.Position.Offset, "the number or text that begins here does not end", "close the quotes")
	}
	p.next()
	n = p.expression(0)
	if p.token != "end" {
		p.unexpected("")
	}
	if len(p.faults) == 0 {
		p.want(n, aTruth, "compare it with something, as in failing < 3")
	}
	return n, p.faults
}

func (p *parser) fail(at int, text, remedy string) {
	panic(fault{at, "not a condition: " + text, remedy})
}

func (p *parser) unexpected(instead string) {
	remedy := ""
	switch {
	case p.token == "end":
		remedy = fmt.Sprintf("it was read as %s; if a # was cut off, put single quotes around the condition", quote(oneLine(p.text)))
	case binding(p.token) > 0 && p.token != "-":
		remedy = fmt.Sprintf("%s is written between two values, as in %s", p.token, map[bool]string{true: `branch startsWith "release/"`, false: "failing < 3"}[len(p.token) > 2])
	case p.token == "name":
		remedy = nearest.DidYouMean(p.word, wordOperators())
	}
	p.fail(p.at, "unexpected "+cmp.Or(p.word, "end")+instead, remedy)
}

func (p *parser) fault(n *node, text, remedy string) *node {
	p.faults = append(p.faults, fault{n.from, text, remedy})
	n.kind = anything
	return n
}

// next reads the next token.
func (p *parser) next() {
	p.end = p.scan.Pos().Offset
	t := p.scan.Scan()
	p.at, p.word = p.scan.Position.Offset, p.scan.TokenText()
	p.token, p.value = p.word, nil
	switch t {
	case scanner.EOF:
		p.token, p.at = "end", p.end
	case scanner.Int, scanner.Float:
		p.number()
	case scanner.String, scanner.RawString:
		p.token = "value"
		text, err := strconv.Unquote(p.word)
		if err != nil {
			p.fail(p.at, "a backslash begins no known character here", `write \\ for a backslash, \" for a quote`)
		}
		p.value = text
	case '\'':
		p.quoted()
	case scanner.Ident:
		p.identifier()
	default:
		if two := p.word + string(p.scan.Peek()); slices.Contains([]string{"&&", "||", "==", "!=", "<=", ">=", "..", "??", "?.", "**"}, two) {
			p.scan.Next()
			p.token, p.word = two, two
		}
		p.foreign()
	}
}

// number reads a number, or a time such as 1h30m.
func (p *parser) number() {
	for c := p.scan.Peek(); c == '.' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'; c = p.scan.Peek() {
		p.word += string(p.scan.Next())
	}
	p.token = "value"
	if n, err := strconv.ParseFloat(p.word, 64); err == nil {
		p.value = n
	} else if d, err := time.ParseDuration(p.word); err == nil {
		p.value = d
	} else {
		p.fail(p.at, p.word+" is neither a number nor a time", "write a number such as 3 or 0.5, or a time with units such as 90s, 10m or 1h30m")
	}
}

// quoted reads a text in single quotes.
func (p *parser) quoted() {
	var b strings.Builder
	for c := p.scan.Next(); c != '\''; c = p.scan.Next() {
		if c == '\\' {
			c = p.scan.Next()
		}
		if c == scanner.EOF {
			p.fail(p.at, "the text that begins here has no closing quote", "end it with '")
		}
		b.WriteRune(c)
	}
	p.token, p.word, p.value = "value", "'"+b.String()+"'", b.String()
}

func (p *parser) identifier() {
	switch p.word {
	case "and":
		p.token = "&&"
	case "or":
		p.token = "||"
	case "not":
		p.token = "!"
	case "true", "false":
		p.token, p.value = "value", p.word == "true"
	default:
		if !slices.Contains(wordOperators(), p.word) {
			p.token = "name"
		}
	}
}

func wordOperators() []string {
	return []string{"and", "or", "not", "in", "contains", "startsWith", "endsWith", "matches"}
}

// foreign rejects the operators of other languages.
func (p *parser) foreign() {
	text, remedy := fmt.Sprintf("the operator %s is not supported in a condition", p.token), ""
	switch p.token {
	case "=":
		remedy = "compare with =="
	case "&":
		remedy = "write && or and"
	case "|":
		remedy = "write || or or"
	case ".", "?.":
		text, remedy = "a fact has no parts with names", "looprun policy schema facts lists the facts; nothing else is known"
	case "..", "??", "**", "?", "%", "^", ";", "~", "$", "@", "\\":
	default:
		return
	}
	p.fail(p.at, text, remedy)
}

func (p *parser) take(token string) bool {
	if p.token != token || p.value != nil {
		return false
	}
	p.next()
	return true
}

func (p *parser) need(token string) {
	if !p.take(token) {
		p.unexpected(" where " + token + " should be")
	}
}

// node creates a node that ends at the last token.
func (p *parser) node(op string, from int, k kind, parts ...*node) *node {
	if p.nodes++; p.nodes > maxNodes {
		p.fail(from, fmt.Sprintf("it has more than %d parts", maxNodes), "split it into several rules")
	}
	return &node{op: op, from: from, to: p.end, kind: k, parts: parts}
}

// binding returns how tightly a binary operator binds; 0 if it is not one.
func binding(op string) int {
	for i, ops := range [...]string{"|| ", "&& ", "== != < <= > >= in notin contains startsWith endsWith matches ", "+ - ", "* / "} {
		if strings.Contains(" "+ops, " "+op+" ") {
			return i + 1
		}
	}
	return 0
}

// unaryBinding is the binding of not and minus, which is tighter than that of all binary
// operators.
const unaryBinding = 6

// expression reads operands joined by operators that bind more tightly than least.
func (p *parser) expression(least int) *node {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.at, "it is nested too deeply", "split it into several rules")
	}
	defer func() { p.depth-- }()
	left := p.operand()
	for {
		op := p.token
		if op == "!" { // only in may follow
			p.next()
			if op = "notin"; p.token != "in" {
				p.unexpected(" after not")
			}
		}
		tight := binding(op)
		if tight <= least || p.value != nil {
			return left
		}
		p.next()
		left = p.binary(op, left, p.expression(tight))
	}
}

// operand reads a value with the unary operators before it.
func (p *parser) operand() *node {
	from := p.at
	switch {
	case p.take("!"):
		n := p.node("!", from, aTruth, p.expression(unaryBinding))
		n.to = p.end
		p.want(n.parts[0], aTruth, "put parentheses around a comparison: not (failing > 2)")
		n.value = func(e *values) any { return n.parts[0].value(e) != true }
		return n
	case p.take("-"):
		below := p.expression(unaryBinding)
		n := p.node("minus", from, below.kind, below)
		if n.kind != aTime {
			p.want(below, aNumber, "")
		}
		n.value = func(e *values) any { return -below.value(e).(float64) }
		return n
	}
	return p.single()
}

func (p *parser) single() *node {
	from, word, value := p.at, p.word, p.value
	switch {
	case p.token == "value":
		p.next()
		return p.literal(from, value)
	case p.take("#"):
		n := p.node("item", from, p.within)
		n.value = func(e *values) any { return e.item }
		if p.token == "name" && p.at == from+1 {
			return p.fault(n, "#"+p.word+" is not supported in a condition", "write # for the item")
		}
		if p.within == anything {
			return p.fault(n, "# is an entry of a list, and there is no list here", `write it inside all, any or none: any(failing_checks, # == "auth")`)
		}
		return n
	case p.take("("):
		n := p.expression(0)
		p.need(")")
		n.from, n.to = from, p.end
		return n
	case p.take("["):
		return p.list(from)
	case p.take("name"), p.token == "name" && p.value == nil:
		if p.take("(") {
			return p.call(from, word)
		}
		return p.fact(from, word)
	}
	p.unexpected("")
	return nil
}

func (p *parser) literal(from int, value any) *node {
	k := aText
	switch v := value.(type) {
	case bool:
		k = aTruth
	case float64:
		k = aNumber
	case time.Duration:
		k, value = aTime, float64(v)
	}
	n := p.node("value", from, k)
	n.constant, n.value = value, func(*values) any { return value }
	return n
}

func (p *parser) list(from int) *node {
	n := p.node("list", from, aList)
	for !p.take("]") {
		one := p.expression(0)
		if n.item == anything {
			n.item = one.kind
		}
		p.want(one, n.item, "the entries of a list must be of one type")
		if n.parts = append(n.parts, one); p.token != "]" {
			p.need(",")
		}
	}
	n.to = p.end
	n.value = func(e *values) any {
		return convert.Each(n.parts, func(one *node) any { return one.value(e) })
	}
	return n
}

func (p *parser) fact(from int, name string) *node {
	n := p.node("fact", from, anything)
	n.name, n.value = name, func(e *values) any {
		if v, ok := e.given[name]; ok {
			return v
		}
		return plain(e.facts.Value(name))
	}
	i := slices.Index(factNames(), name)
	if i < 0 {
		return p.fault(n, "unknown fact "+quote(name), nearest.OneOf(name, factNames()))
	}
	n.item = aText
	switch core.FactList()[i].Type {
	case "text":
		n.kind = aText
	case "number":
		n.kind = aNumber
	case "time":
		n.kind = aTime
	case "list of texts":
		n.kind = aList
	default:
		n.kind = aTruth
	}
	return n
}

// predicates are the functions of a list and a condition on its entries, #. They are called
// with the number of entries for which it holds, and the length of the list.
var predicates = map[string]func(hits, of int) bool{
	"all":  func(hits, of int) bool { return hits == of },
	"any":  func(hits, _ int) bool { return hits > 0 },
	"none": func(hits, _ int) bool { return hits == 0 },
}

// call reads the arguments of a function: a predicate, or len.
func (p *parser) call(from int, name string) *node {
	predicate, outer, takes := predicates[name], p.within, 2
	var args []*node
	for !p.take(")") {
		if args = append(args, p.expression(0)); p.token != ")" {
			p.need(",")
		}
		if predicate != nil {
			p.within = args[0].item
		}
	}
	p.within = outer
	n := p.node("call", from, aTruth, args...)
	n.name, n.value = name, func(e *values) any { return predicate(entries(e, args[0], args[1])) }
	if name == "len" {
		n.kind, n.value, takes = aNumber, func(e *values) any { return length(args[0].value(e)) }, 1
	}
	switch {
	case predicate == nil && name != "len":
		return p.fault(n, "unknown function "+quote(name), nearest.OneOf(name, []string{"all", "any", "none", "len"}))
	case len(args) != takes:
		return p.fault(n, fmt.Sprintf("%s takes %s, not %d", name, plural.Count(takes, "argument"), len(args)), "")
	case predicate == nil:
		if args[0].kind != aText {
			p.want(args[0], aList, "len counts the entries of a list, or the characters of a text")
		}
		return n
	case outer != anything:
		return p.fault(n, name+" inside another predicate is not supported", "split the condition into two rules")
	}
	p.want(args[0], aList, "")
	p.want(args[1], aTruth, "")
	return n
}

// entries returns for how many entries of a list a condition holds, and how many there are.
func entries(e *values, list, test *node) (hits, of int) {
	all := list.value(e).([]any)
	for _, one := range all {
		if test.value(&values{facts: e.facts, item: one, given: e.given}) == true {
			hits++
		}
	}
	return hits, len(all)
}

func length(of any) float64 {
	if list, ok := of.([]any); ok {
		return float64(len(list))
	}
	return float64(utf8.RuneCountInString(of.(string)))
}

// want reports a part of the wrong type, unless a fault in it was already reported.
func (p *parser) want(n *node, k kind, remedy string) {
	if n.kind != k && n.kind != anything && k != anything {
		p.fault(n, fmt.Sprintf("%s is %s, not %s", p.shown(n), n.kind, k), remedy)
	}
}

func (p *parser) shown(n *node) string { return oneLine(p.text[n.from:n.to]) }

func (p *parser) binary(op string, a, b *node) *node {
	n := p.node(op, a.from, aTruth, a, b)
	switch op {
	case "&&", "||":
		p.want(a, aTruth, "join conditions")
		p.want(b, aTruth, "join conditions")
		n.value = func(e *values) any {
			if v := a.value(e); v == (op == "||") {
				return v
			}
			return b.value(e)
		}
	case "in", "notin":
		p.want(b, aList, `write the values in brackets: signature in ["a", "b"]`)
		p.want(a, b.item, "the entries of the list are of another type")
		n.value = func(e *values) any { return slices.Contains(b.value(e).([]any), a.value(e)) == (op == "in") }
	case "contains", "startsWith", "endsWith":
		p.want(a, aText, "")
		p.want(b, aText, "")
		test := map[string]func(a, b string) bool{"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix}[op]
		n.value = func(e *values) any { return test(a.value(e).(string), b.value(e).(string)) }
	case "matches":
		p.want(a, aText, "")
		p.pattern(n, a, b)
	case "+", "-", "*", "/":
		p.arithmetic(n, a, b)
	default:
		p.comparison(n, a, b)
	}
	p.enumerated(a, op, b)
	p.enumerated(b, op, a)
	return n
}

func (p *parser) pattern(n, a, b *node) {
	written, ok := b.constant.(string)
	pattern, err := regexp.Compile(written)
	var wrong *syntax.Error
	switch {
	case !ok:
		p.fault(b, "matches wants a pattern in quotes", `write it as signature matches "^test-fail:"`)
	case errors.As(err, &wrong):
		p.fault(b, fmt.Sprintf("not a pattern: %s: `%s`", wrong.Code, wrong.Expr), "")
	}
	n.value = func(e *values) any { return pattern.MatchString(a.value(e).(string)) }
}

// arithmetic checks the types of an operation: numbers, times with times, times with numbers.
func (p *parser) arithmetic(n, a, b *node) {
	number, both := b.kind == aNumber, a.kind == b.kind
	switch n.kind = a.kind; {
	case a.kind == anything || b.kind == anything:
		n.kind = anything
	case a.kind != aNumber && a.kind != aTime,
		a.kind == aNumber && !number,
		a.kind == aTime && (n.op == "+" || n.op == "-") && !both,
		a.kind == aTime && (n.op == "*" || n.op == "/") && !number:
		p.fault(n, fmt.Sprintf("%s cannot join %s and %s", n.op, a.kind, b.kind), "")
	}
	n.value = func(e *values) any {
		x, y := a.value(e).(float64), b.value(e).(float64)
		switch n.op {
		case "+":
			return x + y
		case "-":
			return x - y
		case "*":
			return x * y
		}
		if y == 0 {
			panic(impossible("a division by zero"))
		}
		return x / y
	}
}

func (p *parser) comparison(n, a, b *node) {
	equal := n.op == "==" || n.op == "!="
	switch {
	case a.kind == anything || b.kind == anything:
	case a.kind != b.kind:
		remedy := ""
		if a.kind == aTime && b.kind == aNumber || a.kind == aNumber && b.kind == aTime {
			remedy = "write times with a unit, such as 90s, 10m or 1h30m"
		}
		p.fault(n, fmt.Sprintf("%s compares values of one type; %s is %s, and %s is %s", n.op, p.shown(a), a.kind, p.shown(b), b.kind), remedy)
	case a.kind == aList, !equal && a.kind != aNumber && a.kind != aTime:
		p.fault(n, fmt.Sprintf("%s does not compare values that are %s", n.op, a.kind), "")
	}
	n.value = func(e *values) any {
		v, w := a.value(e), b.value(e)
		if equal {
			return v == w == (n.op == "==")
		}
		c := cmp.Compare(v.(float64), w.(float64))
		return c < 0 && n.op[0] == '<' || c > 0 && n.op[0] == '>' || c == 0 && len(n.op) == 2
	}
}

// mirrored returns the comparison operator with its sides swapped; empty if it is not one.
func mirrored(op string) string {
	switch op {
	case "==", "!=":
		return op
	case "<", "<=":
		return ">" + op[1:]
	case ">", ">=":
		return "<" + op[1:]
	}
	return ""
}

// enumerated reports values that a fact can never have.
func (p *parser) enumerated(fact *node, op string, with *node) {
	values := valuesOf(fact.name, p.known)
	if fact.op != "fact" || values == nil || mirrored(op) == "" && op != "in" && op != "notin" {
		return
	}
	for _, n := range literals(with) {
		if written, ok := n.constant.(string); ok && !slices.Contains(values, written) && !unlisted(fact.name, written) {
			p.fault(n, fmt.Sprintf("%s is never %s", fact.name, quote(written)), nearest.DidYouMean(written, values))
		}
	}
}

// literals returns the entries of a literal list, or else the part itself.
func literals(n *node) []*node {
	if n.op == "list" {
		return n.parts
	}
	return []*node{n}
}

// oneLine returns the text with single spaces between its words.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// plain returns a fact's value in the type with which conditions compute.
func plain(value any) any {
	switch v := value.(type) {
	case int:
		return float64(v)
	case time.Duration:
		return float64(v)
	case []string:
		return convert.Each(v, func(s string) any { return s })
	}
	return value
}
