// Package strictjson reads JSON documents and validates everything. A document is described
// once, by a [Shape], from which both the reader and the JSON Schema are derived, so they
// cannot diverge. An unknown, repeated or missing key and a value of the wrong kind or size
// are problems, and all of them are reported together, each with its path.
package strictjson

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
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name
	}
	return names
}
