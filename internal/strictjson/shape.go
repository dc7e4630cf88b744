// Package strictjson reads JSON documents and takes nothing on trust. A document is
// described once, by a [Shape]: the reader and the JSON Schema are both made of it, so
// they cannot drift apart. An unknown, repeated or missing key and a value of the wrong
// kind or size are problems, and all of them are reported together, each with its path.
package strictjson

// Form is what a value is in JSON.
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

// Shape describes a value. The zero value of each field says nothing.
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
	// Also are further keywords of the schema, for what Go code checks by hand. A
	// nil takes a keyword away.
	Also Schema
}

// Field is a key of an object.
type Field struct {
	Name     string
	Required bool
	Shape    Shape
}

// Required is a key that has to be there.
func Required(name string, s Shape) Field { return Field{Name: name, Required: true, Shape: s} }

// Optional is a key that may be left out.
func Optional(name string, s Shape) Field { return Field{Name: name, Shape: s} }

// Names are the keys of an object, in their order.
func (s Shape) Names() []string {
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name
	}
	return names
}
