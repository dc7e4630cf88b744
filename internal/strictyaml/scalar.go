package strictyaml

import (
	"math"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// scalar reads the kinds that hold one value.
func (r *reader) scalar(n *yaml.Node, v reflect.Value, name string) {
	want := wanted(v.Kind())
	if !r.isScalar(n, name, want) {
		return
	}
	ok := false
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
		ok = true
	case reflect.Bool:
		var b bool
		if ok = n.ShortTag() == "!!bool" && n.Decode(&b) == nil; ok {
			v.SetBool(b)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		var i int64
		if ok = n.ShortTag() == "!!int" && n.Decode(&i) == nil && !v.OverflowInt(i); ok {
			v.SetInt(i)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		var u uint64
		if ok = n.ShortTag() == "!!int" && n.Decode(&u) == nil && !v.OverflowUint(u); ok {
			v.SetUint(u)
		}
	case reflect.Float32, reflect.Float64:
		var f float64
		tag := n.ShortTag()
		if ok = (tag == "!!int" || tag == "!!float") && n.Decode(&f) == nil && !math.IsInf(f, 0) && !math.IsNaN(f); ok {
			v.SetFloat(f)
		}
	default:
		panic("strictyaml cannot read into " + v.Type().String())
	}
	if !ok {
		r.add(n, name+" wants "+want+", not "+describe(n), "")
	}
}

func wanted(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// describe names the kind of a value, and shows it where it is short.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "keys with values"
	}
	return quote(n.Value)
}

type keys struct {
	names []string
	index map[string][]int
}

// keysOf lists the keys that a struct knows, in the order of its fields.
func keysOf(t reflect.Type) (known keys, required []string) {
	known.index = map[string][]int{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case name == "-" || (!f.IsExported() && !f.Anonymous):
			continue
		case strings.Contains(options, "inline"):
			inner, needed := keysOf(f.Type)
			for _, key := range inner.names {
				known.add(key, append([]int{i}, inner.index[key]...))
			}
			required = append(required, needed...)
			continue
		case name == "":
			name = strings.ToLower(f.Name)
		}
		known.add(name, []int{i})
		if strings.Contains(options, "required") {
			required = append(required, name)
		}
	}
	return known, required
}

func (k *keys) add(name string, index []int) {
	k.names = append(k.names, name)
	k.index[name] = index
}
