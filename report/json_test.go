package report

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

// object is one JSON object.
type object = map[string]any

// check validates a value by a schema, as far as our schemas go: type, const,
// enum, pattern, oneOf, minimum, format date-time, required, properties,
// additionalProperties and items. Another keyword is an error.
func check(schema object, v any, path string) error {
	for key, rule := range schema {
		ok := true
		switch key {
		case "$schema", "$id", "title", "description":
		case "type":
			ok = typeOf(v) == rule || rule == "number" && typeOf(v) == "integer"
		case "const":
			ok = v == rule
		case "enum":
			ok = slices.Contains(rule.([]any), v)
		case "pattern":
			s, text := v.(string)
			ok = text && regexp.MustCompile(rule.(string)).MatchString(s)
		case "format":
			s, _ := v.(string)
			_, err := time.Parse(time.RFC3339Nano, s)
			ok = rule == "date-time" && err == nil
		case "minimum":
			n, number := v.(float64)
			ok = number && n >= rule.(float64)
		case "oneOf":
			n := 0
			for _, s := range rule.([]any) {
				if check(s.(object), v, path) == nil {
					n++
				}
			}
			ok = n == 1
		case "items":
			list, _ := v.([]any) // of another type: "type" refuses it
			for i, item := range list {
				if err := check(rule.(object), item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
					return err
				}
			}
		case "required":
			for _, name := range rule.([]any) {
				if o, isObject := v.(object); isObject && o[name.(string)] == nil {
					return fmt.Errorf("%s.%s is missing", path, name)
				}
			}
		case "additionalProperties":
			for name := range asObject(v) {
				if _, known := schema["properties"].(object)[name]; !known {
					return fmt.Errorf("%s.%s is not known", path, name)
				}
			}
		case "properties":
			for name, value := range asObject(v) {
				if s, known := rule.(object)[name]; known {
					if err := check(s.(object), value, path+"."+name); err != nil {
						return err
					}
				}
			}
		default:
			return fmt.Errorf("%s: the keyword %s is not known", path, key)
		}
		if !ok {
			return fmt.Errorf("%s: %v is against %s %v", path, v, key, rule)
		}
	}
	return nil
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

func decoded(t testing.TB, data string) object {
	t.Helper()
	var v object
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// What reports are written is what the schema describes.
func TestReportsFitTheSchema(t *testing.T) {
	schema := decoded(t, string(Schema()))
	empty := record(t, func(d *core.RunStarted) {
		d.Command = nil
		d.Limits = core.Limits{Iterations: core.Off, Runtime: core.Off, Loop: core.Off, Errors: 3}
	})
	for name, r := range map[string]*Report{"story": story(t).load(), "hostile": hostileRun(t), "empty": empty.load()} {
		if err := check(schema, decoded(t, written(t, r.JSON)), name); err != nil {
			t.Error(err)
		}
	}
}

// And nothing else is: each change is refused.
func TestTheSchemaRefuses(t *testing.T) {
	schema := decoded(t, string(Schema()))
	first := func(o object, key string) object { return o[key].([]any)[0].(object) }
	for name, change := range map[string]func(object){
		"an unknown key":            func(o object) { o["colour"] = "red" },
		"an unknown key further in": func(o object) { first(o, "history")["colour"] = "red" },
		"a missing key":             func(o object) { delete(o, "status") },
		"a missing key further in":  func(o object) { delete(first(first(o, "trips"), "answers"), "responder") },
		"another schema":            func(o object) { o["schema"] = "looprun.dev/report/v2" },
		"an unknown status":         func(o object) { o["status"] = "happy" },
		"an unknown outcome":        func(o object) { first(o, "history")["outcome"] = "happy" },
		"a number as text":          func(o object) { o["iterations"] = "7" },
		"half an iteration":         func(o object) { o["iterations"] = 7.5 },
		"null for a list":           func(o object) { o["history"] = nil },
		"a hash that is none":       func(o object) { first(o, "history")["hash"] = "xyz" },
		"a time that is none":       func(o object) { o["started"] = "today" },
		"a limit that is none":      func(o object) { o["limits"].(object)["loop"] = "never" },
		"a negative limit":          func(o object) { o["limits"].(object)["loop"] = -1.0 },
		"a runtime without a unit":  func(o object) { o["limits"].(object)["runtime"] = "15" },
	} {
		v := decoded(t, written(t, story(t).load().JSON))
		change(v)
		if check(schema, v, "report") == nil {
			t.Errorf("the schema takes %s", name)
		}
	}
}

// Every field is described, in whole sentences.
func TestSchemaDescribesEverything(t *testing.T) {
	var walk func(path string, schema object)
	walk = func(path string, schema object) {
		for name, s := range asObject(schema["properties"]) {
			sub := s.(object)
			if d, _ := sub["description"].(string); !strings.HasSuffix(d, ".") {
				t.Errorf("%s.%s is not described: %q", path, name, d)
			}
			walk(path+"."+name, sub)
			walk(path+"."+name, asObject(sub["items"]))
		}
	}
	walk("report", decoded(t, string(Schema())))
}

func asObject(v any) object {
	o, _ := v.(object)
	return o
}

// A report that is read from its JSON is the same report.
func TestJSONReadsBack(t *testing.T) {
	r := story(t).load()
	text := written(t, r.JSON)
	var again Report
	if err := json.Unmarshal([]byte(text), &again); err != nil {
		t.Fatal(err)
	}
	again.dir, again.state, again.waited = r.dir, r.state, r.waited
	if !reflect.DeepEqual(r, &again) {
		t.Errorf("%+v\n%+v", r, &again)
	}
}
