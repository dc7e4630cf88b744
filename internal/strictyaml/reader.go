package strictyaml

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/problem"
)

// Unmarshaler is a type that accepts values of more than one kind, such as “an id or a list of
// ids”. FromYAML receives a string (every scalar as it is written), a []any or a
// map[string]any. Its error is reported at the value's position; a [Problem] among its errors
// also provides a remedy.
type Unmarshaler interface{ FromYAML(value any) error }

// OneOrMore returns the texts of a value that FromYAML receives, which is a text or a list of
// them; false for any other.
func OneOrMore[T ~string](value any) (texts []T, ok bool) {
	items, listed := value.([]any)
	if !listed {
		items = []any{value}
	}
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			return nil, false
		}
		texts = append(texts, T(text))
	}
	return texts, true
}

// Others takes the keys of a struct that none of its fields has, from a field with the option
// others. Take gets their values as [Unmarshaler] does. Names lists the keys that it knows.
type Others interface {
	Names() []string
	Take(key string, value any) error
}

// reader fills Go values from nodes that structure has already checked.
type reader struct {
	doc      *Document
	problems problem.List
}

func (r *reader) add(n *yaml.Node, text, remedy string) {
	r.problems = append(r.problems, r.doc.at(n.Line, n.Column, text, remedy))
}

// value reads the node into v; name is its name in messages.
func (r *reader) value(n *yaml.Node, v reflect.Value, name string) {
	switch {
	case n.Kind == yaml.AliasNode: // reported already
		return
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		r.value(n, v.Elem(), name)
		return
	case n.ShortTag() == "!!null" && v.Kind() != reflect.Interface:
		r.add(n, name+" has no value", "give it one, or remove the key")
		return
	}
	if r.custom(n, v, name) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		r.fields(n, v, name)
	case reflect.Map:
		r.entries(n, v, name)
	case reflect.Slice:
		r.items(n, v, name)
	case reflect.Interface:
		if plain := r.plain(n, true); plain != nil {
			v.Set(reflect.ValueOf(plain))
		}
	default:
		r.scalar(n, v, name)
	}
}

// custom reads types that decode themselves.
func (r *reader) custom(n *yaml.Node, v reflect.Value, name string) bool {
	var err error
	switch to := v.Addr().Interface().(type) {
	case Unmarshaler:
		err = to.FromYAML(r.plain(n, false))
	case *time.Duration:
		if r.isScalar(n, name, "a time such as 10m") {
			*to, err = time.ParseDuration(n.Value)
			if err != nil {
				err = problem.Problem{Text: name + " wants a time, not " + describe(n), Remedy: "write it with a unit, such as 90s, 10m or 1h30m"}
			}
		}
	case encoding.TextUnmarshaler:
		if r.isScalar(n, name, "a single value") && !r.ambiguous(n, name) {
			err = to.UnmarshalText([]byte(n.Value))
		}
	default:
		return false
	}
	if err == nil {
		return true
	}
	text, remedy := name+": "+err.Error(), ""
	if p, ok := errors.AsType[problem.Problem](err); ok {
		text, remedy = p.Text, p.Remedy
	}
	r.add(n, text, remedy)
	return true
}

func (r *reader) isScalar(n *yaml.Node, name, want string) bool {
	if n.Kind == yaml.ScalarNode {
		return true
	}
	r.add(n, name+" wants "+want+", not "+describe(n), "")
	return false
}

func (r *reader) fields(n *yaml.Node, v reflect.Value, name string) {
	if n.Kind != yaml.MappingNode {
		r.add(n, name+" wants keys with values, not "+describe(n), "write it as \"key: value\" lines")
		return
	}
	known := keysOf(v.Type())
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || seen[key.Value] {
			continue // reported already
		}
		seen[key.Value] = true
		index, ok := known.index[key.Value]
		var others Others
		if known.others != nil {
			others, _ = v.FieldByIndex(known.others).Addr().Interface().(Others)
		}
		if !ok && others != nil && slices.Contains(others.Names(), key.Value) {
			r.other(value, others, key.Value)
			continue
		}
		if !ok {
			names := known.names
			if others != nil {
				names = slices.Concat(names, others.Names())
			}
			r.add(key, "unknown key "+quote(key.Value), nearest.DidYouMean(key.Value, names))
			continue
		}
		r.value(value, v.FieldByIndex(index), quote(key.Value))
	}
	for _, key := range known.required {
		if !seen[key] {
			r.add(n, "the key "+quote(key)+" is missing", "")
		}
	}
}

// other hands over a key that no field has.
func (r *reader) other(n *yaml.Node, to Others, key string) {
	if n.ShortTag() == "!!null" {
		r.add(n, quote(key)+" has no value", "give it one, or remove the key")
		return
	}
	for _, p := range problem.Of(to.Take(key, r.plain(n, false))) {
		r.add(n, p.Text, p.Remedy)
	}
}

func (r *reader) entries(n *yaml.Node, v reflect.Value, name string) {
	if n.Kind != yaml.MappingNode {
		r.add(n, name+" wants keys with values, not "+describe(n), "")
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			continue // reported already
		}
		value := reflect.New(v.Type().Elem()).Elem()
		r.value(n.Content[i+1], value, quote(key.Value))
		v.SetMapIndex(reflect.ValueOf(key.Value).Convert(v.Type().Key()), value)
	}
}

func (r *reader) items(n *yaml.Node, v reflect.Value, name string) {
	if n.Kind != yaml.SequenceNode {
		r.add(n, name+" wants a list, not "+describe(n), "write it as [a, b] or as lines that begin with \"- \"")
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		r.value(item, list.Index(i), fmt.Sprintf("item %d of %s", i+1, name))
	}
	v.Set(list)
}

// plain returns the node as strings, lists and maps; scalars become numbers and bools only if
// typed is set.
func (r *reader) plain(n *yaml.Node, typed bool) any {
	switch n.Kind {
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			list[i] = r.plain(item, typed)
		}
		return list
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = r.plain(n.Content[i+1], typed)
		}
		return m
	case yaml.ScalarNode:
		if typed && r.ambiguous(n, "a value") {
			return nil
		}
		return plainScalar(n, typed)
	}
	return nil
}

// isNumber reports whether YAML reads the node as a number.
func isNumber(n *yaml.Node) bool {
	tag := n.ShortTag()
	return tag == "!!int" || tag == "!!float"
}

func plainScalar(n *yaml.Node, typed bool) any {
	tag := n.ShortTag()
	if tag == "!!null" {
		return nil
	}
	var v any = n.Value
	if typed && (isNumber(n) || tag == "!!bool") && n.Decode(&v) == nil {
		if f, ok := v.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
			return n.Value
		}
		return v
	}
	return n.Value
}
