package policy

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The schema knows the keys that files are read with, and no others.
func TestSchema(t *testing.T) {
	var schema object
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	if schema["$schema"] != "https://json-schema.org/draft/2020-12/schema" || len(schema["x-facts"].([]any)) != len(FactList()) {
		t.Error(schema)
	}
	at := func(keys ...string) object {
		o := schema
		for _, key := range keys {
			o = o[key].(object)
		}
		return o
	}
	rule, test := at("properties", "rules", "items"), at("properties", "tests", "items")
	for _, c := range []struct {
		schema object
		file   any
	}{
		{schema, policyFile{}},
		{rule, ruleFile{}},
		{test, testFile{}},
		{at("properties", "budget"), budgetFile{}},
		{test["properties"].(object)["facts"].(object), Facts{}},
	} {
		var keys, want, required, needed []string
		for key := range c.schema["properties"].(object) {
			keys = append(keys, key)
		}
		if list, ok := c.schema["required"].([]any); ok {
			for _, key := range list {
				required = append(required, key.(string))
			}
		}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(c.file)) {
			if f.Anonymous {
				continue
			}
			key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			want = append(want, key)
			if options == "required" || (key == "guard" && f.Type.Kind() == reflect.String) {
				needed = append(needed, key)
			}
		}
		slices.Sort(keys)
		slices.Sort(want)
		slices.Sort(required)
		slices.Sort(needed)
		if !slices.Equal(keys, want) || !slices.Equal(required, needed) {
			t.Errorf("%T: the schema has %v (required %v), the file %v (%v)", c.file, keys, required, want, needed)
		}
		if c.schema["additionalProperties"] != false {
			t.Errorf("%T: other keys are allowed", c.file)
		}
	}
	id := regexp.MustCompile(rule["properties"].(object)["answer"].(object)["pattern"].(string))
	for guard, q := range known(t) {
		for _, o := range q.Options {
			if !id.MatchString(o.ID) {
				t.Errorf("the schema refuses the option %s of %s", o.ID, guard)
			}
		}
	}
}
