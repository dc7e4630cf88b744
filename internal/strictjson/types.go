package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Document returns the JSON Schema (2020-12) of a document or a file, with its heading,
// indented, with a final line break.
func Document(id, title, about string, schema Schema) []byte {
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$id"] = "https://" + id
	schema["title"] = title
	if about != "" {
		schema["description"] = about
	}
	data, _ := json.MarshalIndent(schema, "", "  ") // texts, numbers and lists always encode
	return append(data, '\n')
}

// Types generates schemas from the Go types that are written and read, so that a schema cannot
// differ from them: a field's tag names its key, its tag doc describes it, and its tag also
// holds further keywords as KEYWORD=JSON, separated by spaces.
type Types struct {
	// Tag is either json, where a key with omitempty or omitzero may be missing, or yaml,
	// where a key marked as required must be present.
	Tag string
	// Text is the type of a text; nil is "string".
	Text any
	// Null means that an empty list may be null, and so may a pointer.
	Null bool
	// Known returns the schemas of types with a form of their own.
	Known func(reflect.Type) Schema
}

// Schema describes a value of the type.
func (m Types) Schema(t reflect.Type) Schema {
	if m.Known != nil {
		if s := m.Known(t); s != nil {
			return s
		}
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return Schema{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return Schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.Schema(t.Elem())
	case reflect.Struct:
		return m.object(t)
	case reflect.Slice, reflect.Array:
		return m.orNull(Schema{"type": "array", "items": m.Schema(t.Elem())})
	case reflect.Map:
		return m.orNull(Schema{"type": "object", "additionalProperties": m.Schema(t.Elem())})
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return Schema{"type": "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Schema{"type": "integer"}
	case reflect.String:
		if m.Text != nil {
			return Schema{"type": m.Text}
		}
		return Schema{"type": "string"}
	}
	return Schema{}
}

func (m Types) orNull(s Schema) Schema {
	if m.Null {
		s["type"] = []any{s["type"], "null"}
	}
	return s
}

// object describes a struct, with the fields of those that it embeds.
func (m Types) object(t reflect.Type) Schema {
	properties, required := Schema{}, []string{}
	m.fields(t, properties, &required)
	s := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 || m.Tag == "json" {
		s["required"] = required
	}
	return s
}

func (m Types) fields(t reflect.Type, properties Schema, required *[]string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get(m.Tag), ",")
		if f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct {
			m.fields(f.Type, properties, required)
		}
	}
	for f := range t.Fields() {
		key, options, _ := strings.Cut(cmp.Or(f.Tag.Get(m.Tag), f.Tag.Get("json")), ",")
		if !f.IsExported() || key == "" || key == "-" {
			continue
		}
		s := m.Schema(f.Type)
		if m.Null && f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit") {
			s = Schema{"anyOf": []any{s, Schema{"type": "null"}}}
		}
		if about := cmp.Or(f.Tag.Get("doc"), f.Tag.Get("help")); about != "" {
			s["description"] = about
		}
		also(s, f.Tag.Get("also"))
		properties[key] = s
		must := !strings.Contains(options, "omit")
		if m.Tag == "yaml" {
			must = options == "required"
		}
		if *required = slices.DeleteFunc(*required, func(k string) bool { return k == key }); must {
			*required = append(*required, key)
		}
	}
}

// At returns the part of a schema at a path of keys, to be changed in place. It panics if there
// is none.
func At(s Schema, keys ...string) Schema {
	for _, key := range keys {
		s = s[key].(Schema) //nolint:forcetypeassert // see above
	}
	return s
}

// also adds the keywords of a tag to a schema. A value that is not JSON is a text, and that of
// enum a list of texts, separated by |, which needs no type.
func also(s Schema, tag string) {
	for rule := range strings.FieldsSeq(tag) {
		keyword, text, _ := strings.Cut(rule, "=")
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		if keyword == "enum" {
			value = strings.Split(text, "|")
		}
		if keyword == "enum" || keyword == "const" {
			delete(s, "type")
		}
		s[keyword] = value
	}
}

// Formed adds to an object's schema the key schema, which names its form.
func Formed(s Schema, form string) Schema {
	s["properties"].(Schema)["schema"] = Schema{"const": form, "description": "The form of this document."}
	if required := s["required"].([]string); !slices.Contains(required, "schema") {
		s["required"] = append(required, "schema")
	}
	return s
}

// Stamp encodes a value, or each element of a list, as a document of the form: with the key
// schema before all others, unless the value has it.
func Stamp(form string, v any) (json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil || len(text) == 0 {
		return text, err
	}
	switch text[0] {
	case '{':
		if bytes.HasPrefix(text, []byte(`{"schema":`)) {
			return text, nil
		}
		head, _ := json.Marshal(map[string]string{"schema": form}) // a text always encodes
		if len(text) > len("{}") {
			head[len(head)-1] = ','
			return append(head, text[1:]...), nil
		}
		return head, nil
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
		for i := range list {
			if list[i], err = Stamp(form, list[i]); err != nil {
				return nil, err
			}
		}
		return json.Marshal(list)
	}
	return text, nil
}
