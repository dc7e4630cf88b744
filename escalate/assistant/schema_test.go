package assistant

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// conforms checks JSON against a schema, as far as the schemas of this package
// go.
func conforms(t *testing.T, schema, text []byte) {
	t.Helper()
	var s map[string]any
	var v any
	if err := errorsOf(json.Unmarshal(schema, &s), json.Unmarshal(text, &v)); err != nil {
		t.Fatal(err)
	}
	for _, problem := range violations(s, v, "$") {
		t.Error(problem)
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func violations(s map[string]any, v any, at string) (out []string) {
	if c, ok := s["const"]; ok && c != v {
		out = append(out, fmt.Sprintf("%s is %v, not %v", at, v, c))
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, v) {
		out = append(out, fmt.Sprintf("%s is %v, none of %v", at, v, enum))
	}
	if want, ok := s["type"]; ok && !strings.Contains(fmt.Sprint(want), typeOf(v, fmt.Sprint(want))) {
		out = append(out, fmt.Sprintf("%s is no %v", at, want))
	}
	switch v := v.(type) {
	case []any:
		items, _ := s["items"].(map[string]any)
		for i, e := range v {
			out = append(out, violations(items, e, fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		required, _ := s["required"].([]any)
		for _, key := range required {
			if _, ok := v[key.(string)]; !ok {
				out = append(out, fmt.Sprintf("%s has no %v", at, key))
			}
		}
		for key, e := range v {
			property, ok := properties[key].(map[string]any)
			if additional, _ := s["additionalProperties"].(map[string]any); !ok && additional != nil {
				property, ok = additional, true
			}
			if !ok && s["additionalProperties"] == false {
				out = append(out, fmt.Sprintf("%s may not have %s", at, key))
			}
			out = append(out, violations(property, e, at+"."+key)...)
		}
	}
	return out
}

func typeOf(v any, want string) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case float64:
		if v == float64(int(v)) && strings.Contains(want, "integer") {
			return "integer"
		}
		return "number"
	}
	return "null"
}

func TestSchemasCatch(t *testing.T) {
	var s map[string]any
	if err := json.Unmarshal(RequestSchema(), &s); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`[]`, `{}`, `{"schema": "x"}`, `{"extra": 1}`} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if len(violations(s, v, "$")) == 0 {
			t.Errorf("%s conforms", text)
		}
	}
}
