package rejection

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func schemaObject(t *testing.T) object {
	t.Helper()
	var schema object
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// The schema knows the keys of the document, and no others.
func TestSchemaKeys(t *testing.T) {
	schema := schemaObject(t)
	if schema["$schema"] != "https://json-schema.org/draft/2020-12/schema" || schema["$id"] != "https://"+SchemaID {
		t.Error(schema["$schema"], schema["$id"])
	}
	properties := schema["properties"].(object)
	each := func(key string) object { return properties[key].(object)["items"].(object) }
	for _, c := range []struct {
		schema object
		value  any
		more   []string
	}{
		{schema, Rejection{}, []string{"schema"}},
		{each("evidence"), Evidence{}, nil},
		{each("alternative_tasks"), Task{}, nil},
	} {
		want := c.more
		for f := range reflect.TypeOf(c.value).Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			want = append(want, key)
		}
		var keys []string
		for key := range c.schema["properties"].(object) {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		slices.Sort(want)
		if !slices.Equal(keys, want) || c.schema["additionalProperties"] != false {
			t.Errorf("%T: the schema has %v, the type %v", c.value, keys, want)
		}
	}
	if got := properties["reason_type"].(object)["enum"]; !reflect.DeepEqual(got, []any{"BLOCKER", "SCOPE_CREEP", "MISSING_DEPENDENCY", "INFEASIBLE", "UNCLEAR_REQUIREMENTS"}) {
		t.Error(got)
	}
}

// accepts evaluates the part of JSON Schema that the schema uses; any other
// keyword fails the test.
func accepts(t *testing.T, schema object, v any) bool {
	t.Helper()
	ok := true
	for keyword, arg := range schema {
		switch keyword {
		case "$schema", "$id", "title", "description", "then":
		case "type":
			types, list := arg.([]any)
			if !list {
				types = []any{arg}
			}
			ok = ok && slices.Contains(types, any(jsonType(v)))
		case "enum":
			ok = ok && slices.Contains(arg.([]any), v)
		case "const":
			ok = ok && v == arg
		case "minLength":
			s, text := v.(string)
			ok = ok && (!text || float64(utf8.RuneCountInString(s)) >= arg.(float64))
		case "pattern":
			s, text := v.(string)
			ok = ok && (!text || regexp.MustCompile(arg.(string)).MatchString(s))
		case "minimum":
			n, number := v.(float64)
			ok = ok && (!number || n >= arg.(float64))
		case "minItems":
			l, list := v.([]any)
			ok = ok && (!list || float64(len(l)) >= arg.(float64))
		case "items":
			l, _ := v.([]any)
			for _, item := range l {
				ok = accepts(t, arg.(object), item) && ok
			}
		case "required":
			o, is := v.(object)
			for _, key := range arg.([]any) {
				_, has := o[key.(string)]
				ok = ok && (!is || has)
			}
		case "properties":
			o, _ := v.(object)
			for key, value := range o {
				if property, known := arg.(object)[key]; known {
					ok = accepts(t, property.(object), value) && ok
				}
			}
		case "additionalProperties":
			o, _ := v.(object)
			for key := range o {
				_, known := schema["properties"].(object)[key]
				ok = ok && known
			}
		case "if":
			ok = ok && (!accepts(t, arg.(object), v) || accepts(t, schema["then"].(object), v))
		case "allOf":
			for _, s := range arg.([]any) {
				ok = accepts(t, s.(object), v) && ok
			}
		default:
			t.Fatalf("the test does not know %s", keyword)
		}
	}
	return ok
}

func jsonType(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case float64:
		return "number"
	case []any:
		return "array"
	case object:
		return "object"
	case nil:
		return "null"
	}
	return "boolean"
}

// The schema takes what is valid, with and without its schema key, and refuses
// what breaks a rule that a schema can say.
func TestSchemaAgreesWithTheRules(t *testing.T) {
	schema := schemaObject(t)
	takes := func(r Rejection) bool {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var v object
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		bare := accepts(t, schema, v)
		v["schema"] = SchemaID
		if accepts(t, schema, v) != bare {
			t.Errorf("%s: the schema key makes a difference", data)
		}
		return bare
	}
	for _, reason := range Reasons() {
		if !takes(valid(reason)) {
			t.Errorf("the schema refuses %+v", valid(reason))
		}
	}
	for _, c := range []struct {
		reason Reason
		change func(*Rejection)
	}{
		{"OTHER", func(*Rejection) {}},
		{Blocker, attempted("Ran it")},
		{Blocker, suggested(strings.Repeat("界", 19))},
		{Blocker, factor(strings.Repeat("界", 14))},
		{Blocker, shows(nil)},
		{Blocker, shows(evidence(""))},
		{ScopeCreep, growth(1.9)},
		{ScopeCreep, splits(titles("One"))},
		{ScopeCreep, splits(titles("One", ""))},
		{ScopeCreep, func(r *Rejection) { r.OriginalScope = "" }},
		{MissingDependency, detail("")},
		{Infeasible, detail("")},
		{Infeasible, shows(evidence("One"))},
		{Infeasible, suggested(strings.Repeat("界", 49))},
		{UnclearRequirements, detail("interpreted as")},
	} {
		r := valid(c.reason)
		c.change(&r)
		if len(r.Validate()) == 0 || takes(r) {
			t.Errorf("the schema takes %+v", r)
		}
	}
	var v object
	if err := json.Unmarshal([]byte(`{"reason_type": "MISSING_DEPENDENCY", "task": null, "evidence": null, "x": 1}`), &v); err != nil {
		t.Fatal(err)
	}
	if accepts(t, schema, v) {
		t.Error("the schema takes an unknown key")
	}
}
