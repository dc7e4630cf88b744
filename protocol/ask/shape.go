package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// form is what a value is in JSON.
type form string

const (
	formText     form = "a text"
	formBool     form = "true or false"
	formList     form = "a list"
	formObject   form = "an object"
	formSelected form = "a text, a list of texts or null"
	formAny      form = "anything"
)

// shape describes a value. The reader and the JSON Schema are both made of it,
// so they cannot drift apart.
type shape struct {
	form     form
	about    string   // what it is for, in the schema
	words    []string // the only texts allowed
	least    int      // items of a list
	most     int      // items of a list, code points of a text; 0: any number
	filled   bool     // the text is not blank
	nullable bool     // null is the same as leaving it out
	items    *shape   // of a list
	fields   []field  // of an object
	rules    []object // further JSON Schemas it has to keep; the Go code checks them by hand
}

type field struct {
	name     string
	required bool
	shape    shape
}

func (s shape) names() []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return names
}

// parse reads a document of the shape into the value that into points to. What
// has a problem is left out of it.
func (s shape) parse(data []byte, into any) Problems {
	ps := readable(data)
	if len(ps) > 0 {
		return ps
	}
	value, ok := s.read(data, "", &ps)
	if !ok {
		return ps
	}
	clean, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(clean, into)
	}
	if err != nil {
		ps.add("", "the document cannot be read: "+err.Error(), "")
	}
	return ps
}

// readable says what keeps the data from being JSON at all.
func readable(data []byte) (ps Problems) {
	switch {
	case !utf8.Valid(data):
		ps.add("", "the document is not UTF-8", "")
	case !json.Valid(data):
		ps.add("", "the document is not valid JSON: "+syntax(data), "")
	}
	return ps
}

// syntax says what keeps the data from being JSON, and where.
func syntax(data []byte) string {
	var v any
	err := json.Unmarshal(data, &v)
	at, ok := err.(*json.SyntaxError)
	if !ok {
		return fmt.Sprint(err)
	}
	line := 1 + bytes.Count(data[:min(int(at.Offset), len(data))], []byte("\n"))
	return fmt.Sprintf("line %d: %v", line, at)
}

// read takes a value, which is valid JSON, and returns what is right of it.
func (s shape) read(raw json.RawMessage, path string, ps *Problems) (any, bool) {
	raw = bytes.TrimSpace(raw)
	if string(raw) == "null" && (s.nullable || s.form == formAny) {
		return nil, true
	}
	switch s.form {
	case formAny:
		return raw, true
	case formObject:
		return s.readObject(raw, path, ps)
	case formList:
		return s.readList(raw, path, ps)
	case formBool:
		if text := string(raw); text == "true" || text == "false" {
			return raw, true
		}
	case formText:
		var text string
		if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
			return text, s.checkText(text, path, ps)
		}
	case formSelected:
		var text string
		if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
			return text, true
		}
		if raw[0] == '[' {
			return shape{form: formList, items: &shape{form: formText}}.readList(raw, path, ps)
		}
	}
	ps.add(path, "it has to be "+string(s.form), "")
	return nil, false
}

func (s shape) checkText(text, path string, ps *Problems) bool {
	switch n := utf8.RuneCountInString(text); {
	case strings.ContainsRune(text, 0):
		ps.add(path, "it contains a NUL character", "leave that out")
	case s.filled && termsafe.Line(text) == "":
		ps.add(path, "it is blank", "write what a person is to read")
	case s.most > 0 && n > s.most:
		ps.add(path, "it has "+plural.Count(n, "character"), fmt.Sprintf("%d are allowed", s.most))
	case len(s.words) > 0 && !slices.Contains(s.words, text):
		remedy := nearest.DidYouMean(text, s.words)
		if len(s.words) == 1 {
			remedy = "it has to be " + s.words[0]
		}
		ps.add(path, excerpt(text)+" is not known here", remedy)
	default:
		return true
	}
	return false
}

func (s shape) readList(raw json.RawMessage, path string, ps *Problems) (any, bool) {
	var items []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		ps.add(path, "it has to be a list", "")
		return nil, false
	}
	switch n := len(items); {
	case n == 0 && s.least > 0:
		ps.add(path, "it is empty", fmt.Sprintf("at least %d is needed", s.least))
	case n < s.least:
		ps.add(path, "it has "+plural.Count(n, "element"), fmt.Sprintf("at least %d are needed", s.least))
	case s.most > 0 && n > s.most:
		ps.add(path, "it has "+plural.Count(n, "element"), fmt.Sprintf("at most %d are allowed", s.most))
	}
	out := make([]any, 0, len(items))
	for i, item := range items {
		// A wrong item keeps its place, so that the paths of the others hold.
		value, ok := s.items.read(item, fmt.Sprintf("%s[%d]", path, i), ps)
		if !ok {
			value = nil
		}
		out = append(out, value)
	}
	return out, true
}

func (s shape) readObject(raw json.RawMessage, path string, ps *Problems) (any, bool) {
	members, ok := membersOf(raw)
	if !ok {
		ps.add(path, "it has to be an object", "")
		return nil, false
	}
	out := map[string]any{}
	seen := map[string]bool{}
	for _, m := range members {
		at := join(path, m.key)
		i := slices.IndexFunc(s.fields, func(f field) bool { return f.name == m.key })
		switch {
		case i < 0:
			ps.add(at, "the key is not known", nearest.DidYouMean(m.key, s.names()))
			continue
		case seen[m.key]:
			ps.add(at, "the key is there twice", "leave one of them out")
			continue
		}
		seen[m.key] = true
		if value, ok := s.fields[i].shape.read(m.value, at, ps); ok && value != nil {
			out[m.key] = value
		}
	}
	for _, f := range s.fields {
		if f.required && !seen[f.name] {
			ps.add(join(path, f.name), "it is missing", f.shape.about)
		}
	}
	return out, true
}

// join is the path of a key. A key that somebody made up is shown safely.
func join(path, key string) string {
	const longest = 60
	if safe := termsafe.Line(key); safe != key || len(key) > longest {
		key = excerpt(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

type member struct {
	key   string
	value json.RawMessage
}

// membersOf lists the members of an object in their order; false when the value,
// which is valid JSON, is none.
func membersOf(raw json.RawMessage) ([]member, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	var out []member
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return nil, false
		}
		out = append(out, member{key, value})
	}
	return out, true
}
