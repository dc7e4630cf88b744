package signal

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/convert"
)

// The schema knows exactly the keys of a signal, and its lists are the code's.
func TestSchema(t *testing.T) {
	var schema struct {
		ID         string `json:"$id"`
		Draft      string `json:"$schema"`
		Required   []string
		Additional *bool `json:"additionalProperties"`
		Properties map[string]struct {
			Enum  []string
			Type  string
			Const string
		}
		AllOf []any `json:"allOf"`
	}
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	if schema.ID != "https://looprun.dev/signal/v1" || !strings.Contains(schema.Draft, "2020-12") || len(schema.AllOf) != 5 || schema.Additional == nil || *schema.Additional || !slices.Equal(schema.Required, []string{"name"}) {
		t.Errorf("%+v", schema)
	}
	typ := reflect.TypeFor[Signal]()
	if typ.NumField()+1 != len(schema.Properties) || schema.Properties["schema"].Const != SchemaID {
		t.Errorf("%d fields, %d properties", typ.NumField(), len(schema.Properties))
	}
	kinds := map[reflect.Kind]string{reflect.String: "string", reflect.Float64: "number", reflect.Int64: "integer", reflect.Slice: "array"}
	for i := range typ.NumField() {
		key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		p, ok := schema.Properties[key]
		if !ok || p.Enum == nil && p.Type != kinds[typ.Field(i).Type.Kind()] {
			t.Errorf("%s is %+v", key, p)
		}
		// What the schema knows, Parse knows.
		if _, err := Parse([]byte(`{"name":"done","` + key + `":null}`)); err != nil && strings.Contains(err.Error(), "the key is not known") {
			t.Error(err)
		}
	}
	if got := schema.Properties["name"].Enum; !slices.Equal(got, convert.Strings(Names())) {
		t.Errorf("names are %v", got)
	}
	if got := schema.Properties["cause"].Enum; !slices.Equal(got[1:], Causes()) {
		t.Errorf("causes are %v", got)
	}
}
