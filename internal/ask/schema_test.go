package ask

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// violations checks a value against a schema. A keyword that it does not know is
// a violation, so that none goes unchecked.
func violations(s map[string]any, v any, at string) (out []string) {
	add := func(format string, args ...any) { out = append(out, at+" "+fmt.Sprintf(format, args...)) }
	each := func(list any, check func(map[string]any)) {
		for _, e := range list.([]any) {
			check(e.(map[string]any))
		}
	}
	text, isText := v.(string)
	items, isList := v.([]any)
	members, isObject := v.(map[string]any)
	for keyword, want := range s {
		switch keyword {
		case "$schema", "$id", "title", "description", "then", "else":
		case "type":
			names, ok := want.([]any)
			if !ok {
				names = []any{want}
			}
			if !slices.Contains(names, any(typeOf(v))) {
				add("is no %v", want)
			}
		case "const":
			if v != want {
				add("is not %v", want)
			}
		case "enum":
			if !slices.Contains(want.([]any), v) {
				add("is none of %v", want)
			}
		case "pattern":
			if isText && !regexp.MustCompile(want.(string)).MatchString(text) {
				add("does not match %v", want)
			}
		case "maxLength":
			if isText && float64(utf8.RuneCountInString(text)) > want.(float64) {
				add("is too long")
			}
		case "minItems":
			if isList && float64(len(items)) < want.(float64) {
				add("has too few items")
			}
		case "maxItems":
			if isList && float64(len(items)) > want.(float64) {
				add("has too many items")
			}
		case "uniqueItems":
			for i, e := range items {
				if slices.ContainsFunc(items[:i], func(o any) bool { return reflect.DeepEqual(o, e) }) {
					add("has %v twice", e)
				}
			}
		case "items":
			for i, e := range items {
				out = append(out, violations(want.(map[string]any), e, fmt.Sprintf("%s[%d]", at, i))...)
			}
		case "properties":
			for key, property := range want.(map[string]any) {
				if e, ok := members[key]; ok {
					out = append(out, violations(property.(map[string]any), e, at+"."+key)...)
				}
			}
		case "required":
			for _, key := range want.([]any) {
				if _, ok := members[key.(string)]; isObject && !ok {
					add("has no %v", key)
				}
			}
		case "additionalProperties":
			properties, _ := s["properties"].(map[string]any)
			for key := range members {
				if _, ok := properties[key]; !ok && want == false {
					add("may not have %s", key)
				}
			}
		case "allOf":
			each(want, func(rule map[string]any) { out = append(out, violations(rule, v, at)...) })
		case "anyOf":
			var all []string
			one := false
			each(want, func(rule map[string]any) {
				broken := violations(rule, v, at)
				one, all = one || len(broken) == 0, append(all, broken...)
			})
			if !one {
				add("fits none: %v", all)
			}
		case "if":
			branch := "then"
			if len(violations(want.(map[string]any), v, at)) > 0 {
				branch = "else"
			}
			if rule, ok := s[branch].(map[string]any); ok {
				out = append(out, violations(rule, v, at)...)
			}
		default:
			add("cannot be checked: the keyword %s is not known", keyword)
		}
	}
	return out
}

func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case nil:
		return "null"
	}
	return "number"
}

// documents are the schemas by name.
var documents = map[string]func() []byte{"question": QuestionDocument, "answer": AnswerDocument, "choices": ChoicesDocument}

func schemaOf(t testing.TB, name string) map[string]any {
	t.Helper()
	var s map[string]any
	if err := json.Unmarshal(documents[name](), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func conforms(t testing.TB, name string, document []byte) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		return []string{err.Error()}
	}
	return violations(schemaOf(t, name), v, "$")
}

// Each key of the documents has a description.
func TestSchemaKeys(t *testing.T) {
	request, response, choices := requestShape(), responseShape(), choicesShape()
	questions := request.At("questions").Items
	for _, s := range []*shape{&request, questions, questions.At("options").Items, &response, response.At("answers").Items, &choices} {
		for _, f := range s.Fields {
			if f.Shape.About == "" {
				t.Errorf("%s: %s has no description", s.About, f.Name)
			}
		}
	}
}

func TestSchemaDocument(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		s := schemaOf(t, name)
		if s["$schema"] != "https://json-schema.org/draft/2020-12/schema" || s["$id"] != "https://looprun.dev/"+name+"/v1" {
			t.Errorf("%s: %v %v", name, s["$schema"], s["$id"])
		}
	}
}

// Documents that the reader takes or refuses, and the schema with it.
func TestSchemaAgreesWithReader(t *testing.T) {
	readers := map[string]func([]byte) error{
		"question": func(data []byte) error { _, err := Parse(data); return err },
		"answer":   func(data []byte) error { _, err := parseResponse(data); return err },
		"choices":  func(data []byte) error { _, err := ParseChoices(data); return err },
	}
	answer := func(members string) string { return `{"answers":[{"id":"a",` + members + `}]}` }
	for _, c := range []struct {
		name, text string
		good       bool
	}{
		{"question", string(question(`{}`)), true},
		{"question", string(question(`{"kind":"select","multi_select":true,"allow_text":false,"allow_cancel":true,"exclusive":true,"default":"pg"}`)), true},
		{"question", string(question(`{"kind":"confirm","options":"-","safe":"yes","default":"no"}`)), true},
		{"question", string(question(`{"kind":"text","options":[],"default":"x"}`)), true},
		{"question", string(question(`{"header":"1234567890123"}`)), false},
		{"question", string(question(`{"question":" "}`)), false},
		{"question", string(question(`{"question":"-"}`)), false},
		{"question", string(question(`{"options":"-"}`)), false},
		{"question", string(question(`{"options":[{"label":"a"}]}`)), false},
		{"question", string(question(`{"kind":"confirm"}`)), false},
		{"question", string(question(`{"kind":"text"}`)), false},
		{"question", string(question(`{"kind":"confirm","options":"-","default":"maybe"}`)), false},
		{"question", string(question(`{"kind":"confirm","options":"-","multi_select":true}`)), false},
		{"question", string(question(`{"kind":"text","options":"-","allow_text":false}`)), false},
		{"question", string(question(`{"safe":"yes"}`)), false},
		{"question", string(question(`{"multiSelect":true}`)), false},
		{"question", `{"questions":[]}`, false},
		{"question", `{"schema":"looprun.dev/question/v2","questions":[{"question":"x","kind":"text"}]}`, false},
		{"answer", answer(`"selected":"x"`), true},
		{"answer", answer(`"selected":["x","y"],"text":null,"cancelled":false,"responder":"user","reason":"r"`), true},
		{"answer", answer(`"selected":null,"text":"x"`), true},
		{"answer", answer(`"cancelled":true,"text":"x"`), true},
		{"answer", answer(`"selected":5`), false},
		{"answer", answer(`"selected":[5]`), false},
		{"answer", answer(`"selected":"x","cancel":true`), false},
		{"answer", `{"answers":[]}`, false},
		{"choices", document("x"), true},
		{"choices", strings.Replace(document("x"), "{", `{"schema":"looprun.dev/choices/v1","partial_result":[1],`, 1), true},
		{"choices", strings.Replace(document("x"), "paused", "waiting", 1), false},
		{"choices", `{"status":"paused_awaiting_choices","pending_user_choices":[]}`, false},
	} {
		err := readers[c.name]([]byte(c.text))
		broken := conforms(t, c.name, []byte(c.text))
		if (err == nil) != c.good || (len(broken) == 0) != c.good {
			t.Errorf("%s: the reader says %v, the schema %v, good is %t", c.text, err, broken, c.good)
		}
	}
	// What only CheckAnswer refuses, the schema refuses as far as it can.
	for _, text := range []string{answer(`"text":null`), answer(`"selected":"x","text":"y"`), answer(`"selected":"x","cancelled":true`), answer(`"selected":[]`), answer(`"selected":["x","x"]`)} {
		if len(conforms(t, "answer", []byte(text))) == 0 {
			t.Errorf("%s conforms", text)
		}
	}
}
