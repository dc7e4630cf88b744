package policy

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// The schema has the same bounds as the code: the default timeout, and the ids of options.
func TestSchema(t *testing.T) {
	var schema object
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	if schema["$schema"] != "https://json-schema.org/draft/2020-12/schema" || len(schema["x-facts"].([]any)) != len(core.FactList()) {
		t.Error(schema)
	}
	at := func(keys ...string) object {
		o := schema
		for _, key := range keys {
			o = o[key].(object)
		}
		return o
	}
	if timeout := at("properties", "verify_timeout"); timeout["default"] != DefaultVerifyTimeout.String() || !strings.Contains(timeout["description"].(string), DefaultVerifyTimeout.String()) {
		t.Error(timeout)
	}
	id := regexp.MustCompile(at("properties", "rules", "items", "properties", "answer")["pattern"].(string))
	for guard, q := range known(t) {
		for _, o := range q.Options {
			if !id.MatchString(o.ID) {
				t.Errorf("the schema refuses the option %s of %s", o.ID, guard)
			}
		}
	}
}
