// Package strictjson reads JSON documents and validates everything. A document is described
// once, by a [Shape], from which both the reader and the JSON Schema are derived, so they
// cannot diverge. An unknown, repeated or missing key and a value of the wrong kind or size
// are problems, and all of them are reported together, each with its path.
package strictjson

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/looprun/looprun/internal/convert"
)

// Form is the JSON type of a value.
type Form string

// The forms.
const (
	Text     Form = "a text"
	Bool     Form = "true or false"
	Number   Form = "a number"
	Integer  Form = "a whole number"
	List     Form = "a list"
	Object   Form = "an object"
	Selected Form = "a text, a list of texts or null"
	Any      Form = "anything"
)

// Shape describes a value. A zero field sets no constraint.
type Shape struct {
	Form     Form
	About    string   // what it is for, in the schema
	Words    []string // the only texts allowed; an empty one among them is never advised
	Least    int      // items of a list
	Most     int      // items of a list, code points of a text
	TooFew   string   // what to do about an empty list, where that needs saying
	Filled   bool     // the text is not blank
	NoNUL    bool     // the text has no NUL character, which arguments and variables cannot hold
	Nullable bool     // null is the same as leaving it out
	Lenient  bool     // so it is, but the schema does not say so
	Items    *Shape   // of a list
	Fields   []Field  // of an object
	// Also holds further keywords of the schema, for constraints that Go code checks by hand.
	// A nil value removes a keyword.
	Also Schema
}

// Field is a key of an object.
type Field struct {
	Name     string
	Required bool
	Shape    Shape
}

// Required returns a key that must be present.
func Required(name string, s Shape) Field { return Field{Name: name, Required: true, Shape: s} }

// Optional returns a key that may be left out.
func Optional(name string, s Shape) Field { return Field{Name: name, Shape: s} }

// Names returns the keys of an object, in order.
func (s Shape) Names() []string {
	return convert.Each(s.Fields, func(f Field) string { return f.Name })
}

// At returns the shape of a key, to be changed in place. It panics if there is none.
func (s *Shape) At(key string) *Shape { return &s.Fields[slices.Index(s.Names(), key)].Shape }

// Of returns the shape of the value that v points to, from its type: a field's json tag names
// its key, its tag doc describes it, and its tag is holds its constraints, separated by spaces:
// required, filled, null, lenient, least=N, most=N and words=A|B. NoNUL, Nullable and Lenient
// of like hold for everything in it.
func Of(v any, like Shape) Shape {
	s := shapeOf(reflect.TypeOf(v).Elem(), like)
	s.Nullable, s.Lenient = false, false
	return s
}

// shaped is a type whose form its Go type does not show.
type shaped interface{ Form() Form }

func shapeOf(t reflect.Type, s Shape) Shape {
	like := s
	if of, ok := reflect.Zero(t).Interface().(shaped); ok {
		s.Form = of.Form()
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem(), like)
	case reflect.Struct:
		s = Shape{Form: Object, Nullable: s.Nullable, Lenient: s.Lenient}
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			field := Field{Name: cmp.Or(name, strings.ToLower(f.Name)), Shape: shapeOf(f.Type, like)}
			field.Shape.About = f.Tag.Get("doc")
			for rule := range strings.FieldsSeq(f.Tag.Get("is")) {
				field.must(rule)
			}
			s.Fields = append(s.Fields, field)
		}
	case reflect.Slice:
		if s.Form, s.NoNUL = Any, false; t != reflect.TypeFor[json.RawMessage]() {
			s.Form, s.Items = List, new(shapeOf(t.Elem(), like))
		}
	default:
		if s.Form = Text; t.Kind() != reflect.String {
			s.NoNUL = false
			s.Form = map[reflect.Kind]Form{reflect.Bool: Bool, reflect.Float64: Number, reflect.Int64: Integer}[t.Kind()]
		}
	}
	return s
}

// must adds a constraint of a tag.
func (f *Field) must(rule string) {
	kind, text, _ := strings.Cut(rule, "=")
	switch n, _ := strconv.Atoi(text); kind {
	case "required":
		f.Required = true
	case "filled":
		f.Shape.Filled = true
	case "null":
		f.Shape.Nullable = true
	case "lenient":
		f.Shape.Lenient = true
	case "least":
		f.Shape.Least = n
	case "most":
		f.Shape.Most = n
	case "words":
		f.Shape.Words = strings.Split(text, "|")
	default:
		panic("unknown constraint " + rule) // every test sees that
	}
}
