package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/looprun/looprun/core"
)

// maxTrials is how many combinations of values are tried to find one for which a condition
// holds.
const maxTrials = 4096

// satisfiable reports whether there are values for which the condition holds for a guard. Only
// comparisons of one fact with literals are evaluated; any other comparison may hold or not.
func (n *node) satisfiable(guard core.GuardID) bool {
	tries := map[string][]any{"guard": {string(guard)}}
	var names []string
	n.walk(func(n *node) {
		fact, with := n.simple()
		if fact == nil || fact.name == "guard" {
			return
		}
		if tries[fact.name] == nil {
			names = append(names, fact.name)
		}
		tries[fact.name] = append(tries[fact.name], around(fact, with)...)
	})
	trials := 1
	for _, name := range names {
		if (name == "reason_type" && guard != core.Rejection) || (none(core.UnknownFacts(guard), name) && name == "cause") {
			tries[name] = []any{""}
		}
		slices.SortFunc(tries[name], compareValues)
		values := slices.Compact(tries[name])
		tries[name] = values
		for i := 1; i < len(values); i++ { // and between two of them, where there is room
			if a, ok := values[i-1].(float64); ok {
				tries[name] = append(tries[name], (a+values[i].(float64))/2)
			}
		}
		if trials *= len(tries[name]); trials > maxTrials {
			return true
		}
	}
	given := map[string]any{"guard": string(guard)}
	var try func(names []string) bool
	try = func(names []string) bool {
		if len(names) > 0 {
			return slices.ContainsFunc(tries[names[0]], func(v any) bool {
				given[names[0]] = v
				return try(names[1:])
			})
		}
		return n.verdict(func(n *node) verdict {
			switch fact, _ := n.simple(); {
			case n.constant == true, fact != nil && n.value(&values{given: given}) == true:
				return yes
			case n.constant == false, fact != nil:
				return no
			}
			return maybe
		}) != no
	}
	return try(names)
}

// simple returns the fact that a comparison is about and the literals that it is compared
// with; nil for any other comparison. A boolean fact by itself is compared with nothing.
func (n *node) simple() (fact *node, with []*node) {
	if n.op == "fact" && n.kind == aTruth {
		return n, nil
	}
	if len(n.parts) != 2 || mirrored(n.op) == "" && n.op != "in" && n.op != "notin" {
		return nil, nil
	}
	fact, with = n.parts[0], literals(n.parts[1])
	if fact.op != "fact" {
		fact, with = n.parts[1], literals(n.parts[0])
	}
	written := func(n *node) bool { return n.constant != nil || n.op == "minus" && n.parts[0].constant != nil }
	if fact.op != "fact" || fact.kind == aList || slices.ContainsFunc(with, func(n *node) bool { return !written(n) }) {
		return nil, nil
	}
	return fact, with
}

// around returns values of a fact that include one for which a comparison with these literals
// is true, if there is any, and one for which it is false.
func around(fact *node, with []*node) (tries []any) {
	switch fact.kind {
	case aTruth:
		return []any{true, false}
	case aText:
		tries = append(tries, "", "\x00") // which nothing that is written equals
	}
	for _, n := range with {
		switch v := n.value(nil).(type) {
		case float64:
			tries = append(tries, v-1, v, v+1)
		default:
			tries = append(tries, v)
		}
	}
	return tries
}

func compareValues(a, b any) int {
	switch a := a.(type) {
	case float64:
		return cmp.Compare(a, b.(float64))
	case string:
		return cmp.Compare(a, b.(string))
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}
