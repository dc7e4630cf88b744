package strictyaml

import (
	"cmp"
	"math"
	"reflect"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/looprun/looprun/internal/lazy"
)

// scalar reads the kinds that hold one value.
func (r *reader) scalar(n *yaml.Node, v reflect.Value, name string) {
	want := wanted(v.Kind())
	if !r.isScalar(n, name, want) || v.Kind() != reflect.String && r.ambiguous(n, name) {
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

var (
	anyNumber   = lazy.Regexp(`^[-+$]?[0-9_.]([0-9a-fA-FoOxX_.]|[eE][-+])*[kKM%]?$`)
	plainNumber = lazy.Regexp(`^[-+$]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][-+]?[0-9]+)?[kKM%]?$`)
)

// AmbiguousNumber reports whether a text is a number that is not read the same everywhere: 010
// is 8 or 10, and 0x10, 0b11 or 1_000 are not universally known. It may have $ before it, or
// k, K, M or % after it.
func AmbiguousNumber(text string) bool {
	return !plainNumber().MatchString(text) && anyNumber().MatchString(text)
}

// WriteDecimal is the remedy for an ambiguous number.
const WriteDecimal = "write it without leading zeros, 0x or _"

// ambiguous rejects anything that YAML reads as a number but that is not written in the common
// form.
func (r *reader) ambiguous(n *yaml.Node, name string) bool {
	if !isNumber(n) || plainNumber().MatchString(n.Value) || !strings.ContainsAny(n.Value, "0123456789") {
		return false
	}
	r.add(n, name+" wants a plain decimal number, not "+quote(n.Value), WriteDecimal)
	return true
}

func wanted(k reflect.Kind) string {
	kinds := map[reflect.Kind]string{reflect.String: "a text", reflect.Bool: "true or false", reflect.Float32: "a number", reflect.Float64: "a number"}
	return cmp.Or(kinds[k], "a whole number")
}

// describe names the kind of a value, and shows the value if it is short.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "keys with values"
	}
	return quote(n.Value)
}

// keys holds the keys that a struct accepts, in the order of its fields.
type keys struct {
	names    []string
	index    map[string][]int
	required []string
	others   []int // the field that takes all other keys; nil if none does
}

// known caches the keys of each struct that was read, since a struct such as a template's
// option is read many times.
var known sync.Map

func keysOf(t reflect.Type) keys {
	if k, ok := known.Load(t); ok {
		return k.(keys) //nolint:forcetypeassert // nothing else is in it
	}
	k := keys{index: map[string][]int{}}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(cmp.Or(f.Tag.Get("yaml"), f.Tag.Get("json")), ",")
		switch {
		case name == "-" || (!f.IsExported() && !f.Anonymous):
			continue
		case strings.Contains(options, "others"):
			k.others = []int{i}
			continue
		case strings.Contains(options, "inline"):
			inner := keysOf(f.Type)
			for _, key := range inner.names {
				k.add(key, append([]int{i}, inner.index[key]...))
			}
			k.required = append(k.required, inner.required...)
			continue
		case name == "":
			name = strings.ToLower(f.Name)
		}
		k.add(name, []int{i})
		if strings.Contains(options, "required") {
			k.required = append(k.required, name)
		}
	}
	known.Store(t, k)
	return k
}

func (k *keys) add(name string, index []int) {
	k.names = append(k.names, name)
	k.index[name] = index
}
