package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/termsafe"
)

// Read parses a document of the shape into the value that into points to. It leaves out values
// with problems.
func (s Shape) Read(data []byte, into any) problem.List {
	ps := Readable(data)
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
		ps.Add("", "the document cannot be read: "+err.Error(), "")
	}
	return ps
}

// Readable returns the problems that keep the data from being JSON at all.
func Readable(data []byte) (ps problem.List) {
	switch {
	case !utf8.Valid(data):
		ps.Add("", "the document is not UTF-8", "write it in that encoding")
	case len(bytes.TrimSpace(data)) == 0:
		ps.Add("", "the document is empty", "give a JSON object")
	case !json.Valid(data):
		text, remedy := syntax(data)
		ps.Add("", text, remedy)
	}
	return ps
}

// syntax describes what keeps the data from being JSON, and where.
func syntax(data []byte) (text, remedy string) {
	d := json.NewDecoder(bytes.NewReader(data))
	var value json.RawMessage
	err := d.Decode(&value)
	at, why := int64(len(data)), "it ends too early"
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		at, why = wrong.Offset, err.Error()
	} else if err == nil {
		at = d.InputOffset()
		at += int64(len(data[at:]) - len(bytes.TrimLeft(data[at:], " \t\r\n")))
		why, remedy = "there is more after its end", "give one JSON object and nothing else"
	}
	return fmt.Sprintf("the document is not valid JSON: line %d: %s", line(data, at), why), remedy
}

func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}

// read checks a value, which is valid JSON, and returns the correct part of it.
func (s Shape) read(raw json.RawMessage, path string, ps *problem.List) (any, bool) {
	raw = bytes.TrimSpace(raw)
	if string(raw) == "null" && (s.Nullable || s.Lenient || s.Form == Any) {
		return nil, true
	}
	switch s.Form {
	case Any:
		return raw, true
	case Object:
		return s.readObject(raw, path, ps)
	case List:
		return s.readList(raw, path, ps)
	case Bool:
		if text := string(raw); text == "true" || text == "false" {
			return raw, true
		}
	case Text:
		var text string
		if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
			return text, s.checkText(text, path, ps)
		}
	case Number:
		if json.Unmarshal(raw, new(float64)) == nil && string(raw) != "null" {
			return raw, true
		}
	case Integer:
		if json.Unmarshal(raw, new(int64)) == nil && string(raw) != "null" {
			return raw, true
		}
	case Selected:
		var text string
		if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
			return text, true
		}
		if raw[0] == '[' {
			return Shape{Form: List, Items: &Shape{Form: Text, NoNUL: s.NoNUL}}.readList(raw, path, ps)
		}
	}
	s.wrongForm(raw, path, ps)
	return nil, false
}

func (s Shape) wrongForm(raw json.RawMessage, path string, ps *problem.List) {
	what := "it"
	if path == "" {
		what = "the document"
	}
	ps.Add(path, what+" has to be "+string(s.Form)+", not "+kind(raw), s.nearest(""))
}

// nearest suggests which of the words to write in place of a text.
func (s Shape) nearest(text string) string {
	words := slices.DeleteFunc(slices.Clone(s.Words), func(w string) bool { return w == "" })
	if len(words) == 1 {
		return "it has to be " + words[0]
	}
	return nearest.DidYouMean(text, words)
}

// kind returns the kind of a value, in words for a person.
func kind(raw json.RawMessage) string {
	kinds := map[byte]Form{'{': Object, '[': List, '"': Text}
	return cmp.Or(string(kinds[raw[0]]), termsafe.Cut(string(raw), 20))
}

func (s Shape) checkText(text, path string, ps *problem.List) bool {
	switch n := utf8.RuneCountInString(text); {
	case s.NoNUL && strings.ContainsRune(text, 0):
		ps.Add(path, "it contains a NUL character", "leave that out")
	case s.Filled && termsafe.Line(text) == "":
		ps.Add(path, "it is blank", "write what a person is to read")
	case s.Most > 0 && n > s.Most:
		ps.Add(path, "it has "+plural.Count(n, "character"), fmt.Sprintf("%d are allowed", s.Most))
	case len(s.Words) > 0 && !slices.Contains(s.Words, text):
		ps.Add(path, termsafe.Quote(text, longestShown)+" is not known here", s.nearest(text))
	default:
		return true
	}
	return false
}

func (s Shape) readList(raw json.RawMessage, path string, ps *problem.List) (any, bool) {
	var items []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &items) != nil {
		s.wrongForm(raw, path, ps)
		return nil, false
	}
	switch n := len(items); {
	case n == 0 && s.Least > 0:
		ps.Add(path, "it is empty", cmp.Or(s.TooFew, fmt.Sprintf("at least %d is needed", s.Least)))
	case n < s.Least:
		ps.Add(path, "it has "+plural.Count(n, "element"), fmt.Sprintf("at least %d are needed", s.Least))
	case s.Most > 0 && n > s.Most:
		ps.Add(path, "it has "+plural.Count(n, "element"), fmt.Sprintf("at most %d are allowed", s.Most))
	}
	out := make([]any, 0, len(items))
	for i, item := range items {
		// An invalid item keeps its position, so that the paths of the others stay correct.
		value, ok := s.Items.read(item, fmt.Sprintf("%s[%d]", path, i), ps)
		if !ok {
			value = nil
		}
		out = append(out, value)
	}
	return out, true
}

func (s Shape) readObject(raw json.RawMessage, path string, ps *problem.List) (any, bool) {
	members, ok := Members(raw)
	if !ok {
		s.wrongForm(raw, path, ps)
		return nil, false
	}
	out := map[string]any{}
	seen := map[string]bool{}
	for _, m := range members {
		at := Join(path, m.Key)
		i := slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == m.Key })
		switch {
		case i < 0:
			ps.Add(at, "the key is not known", cmp.Or(nearest.DidYouMean(m.Key, s.Names()), "leave it out"))
			continue
		case seen[m.Key]:
			ps.Add(at, "the key is there twice", "leave one of them out")
			continue
		}
		seen[m.Key] = true
		if value, ok := s.Fields[i].Shape.read(m.Value, at, ps); ok && value != nil {
			out[m.Key] = value
		}
	}
	for _, f := range s.Fields {
		if f.Required && !seen[f.Name] {
			ps.Add(Join(path, f.Name), "it is missing", f.Shape.About)
		}
	}
	return out, true
}

// longestShown is how many characters of a text from outside are shown.
const longestShown = 60

// Join returns the path of a key. An invented key is escaped so that it is safe to show.
func Join(path, key string) string {
	if safe := termsafe.Line(key); safe != key || len(key) > longestShown {
		key = termsafe.Quote(key, longestShown)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// Member is one key of an object and its value, as written.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Members returns the members of an object in order; it returns false if the value, which must
// be valid JSON, is not an object.
func Members(raw json.RawMessage) ([]Member, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	var out []Member
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return nil, false
		}
		out = append(out, Member{key, value})
	}
	return out, true
}

// Repeated returns the path of a key that an object in the data, which must be valid JSON, has
// twice, in whatever case: encoding/json would silently use the last. It is empty if there is
// none.
func Repeated(data json.RawMessage) string { return repeated(data, "") }

func repeated(data json.RawMessage, path string) string {
	var items []json.RawMessage
	if json.Unmarshal(data, &items) == nil {
		for i, item := range items {
			if twice := repeated(item, fmt.Sprintf("%s[%d]", path, i)); twice != "" {
				return twice
			}
		}
	}
	members, _ := Members(data)
	seen := map[string]bool{}
	for _, m := range members {
		at := Join(path, m.Key)
		key := strings.ToLower(strings.ToUpper(m.Key)) // as encoding/json folds it
		if seen[key] {
			return at
		}
		seen[key] = true
		if twice := repeated(m.Value, at); twice != "" {
			return twice
		}
	}
	return ""
}

// Lines decodes a table that is part of the program: an object a line, and comments, which begin
// with #. It panics if the table is wrong, which every test sees.
func Lines[T any](text []byte) (rows []T) {
	for line := range bytes.Lines(text) {
		if line[0] == '#' {
			continue
		}
		var row T
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&row); err != nil {
			panic(fmt.Sprintf("%s: %v", line, err))
		}
		rows = append(rows, row)
	}
	return rows
}
