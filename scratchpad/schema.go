package scratchpad

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun"
)

// object is one JSON Schema.
type object = map[string]any

// ResultSchema is the JSON Schema (2020-12) of result.json. It is made from
// [Verdict], so that it cannot say anything else than what is written.
func ResultSchema() []byte {
	schema := fieldsOf(reflect.TypeFor[Verdict]())
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$id"] = resultSchema
	schema["title"] = "result.json"
	schema["description"] = "The verdict on a run: .looprun/RUN/result.json, and the file that --result names."
	schema["properties"].(object)["warnings"].(object)["minItems"] = 1
	data, _ := json.MarshalIndent(schema, "", "  ") // maps of texts and numbers always encode
	return append(data, '\n')
}

// fieldsOf is the schema of a struct: required are the fields that are always there.
func fieldsOf(t reflect.Type) object {
	properties, required := object{}, []string{}
	for f := range t.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		s := verdictField(key, f.Type)
		s["description"] = f.Tag.Get("doc")
		properties[key] = s
		if options == "" {
			required = append(required, key)
		}
	}
	return object{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
}

// ended are the statuses that a run can end with.
var ended = []looprun.Status{
	looprun.StatusDone, looprun.StatusAccepted, looprun.StatusCancelled, looprun.StatusPaused, looprun.StatusRejected,
	looprun.StatusTripped, looprun.StatusFailed, looprun.StatusInterrupted,
}

// responders are who can have decided, and nobody.
var responders = []string{
	"", looprun.RespondedByPolicy, looprun.RespondedByAssistant, looprun.RespondedByParent,
	looprun.RespondedByUser, looprun.RespondedByDetached,
}

// verdictField is what can stand in a field: what its type says, and of the
// fields with few values which these are.
func verdictField(key string, t reflect.Type) object {
	switch {
	case key == "schema":
		return object{"const": resultSchema}
	case key == "exit_code":
		return object{"type": "integer", "minimum": 0, "maximum": 255}
	case key == "responder":
		return object{"enum": responders}
	case t == reflect.TypeFor[looprun.Status]():
		return object{"enum": ended}
	case t == reflect.TypeFor[looprun.GuardID]():
		return object{"enum": slices.Concat([]looprun.GuardID{""}, looprun.GuardIDs(), looprun.ProtocolIDs())}
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return fieldsOf(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": verdictField("", t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return object{"type": "number", "minimum": 0}
	}
	return object{"type": "string"}
}
