package report

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/signature"
)

// JSON writes the report as [Schema] describes it. Outputs are not in it; they
// are files in the run's directory, named by output_file.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// object is one JSON Schema.
type object = map[string]any

// Schema is the JSON Schema (2020-12) of what [Report.JSON] writes. It is made
// from the types and their doc tags.
func Schema() []byte {
	schema := structSchema(reflect.TypeFor[Report]())
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$id"] = SchemaID
	schema["title"] = "looprun report"
	schema["description"] = "What happened in a run."
	schema["properties"].(object)["schema"] = object{"const": SchemaID, "description": "The form of this document."}
	data, _ := json.MarshalIndent(schema, "", "  ") // maps of texts and numbers always encode
	return append(data, '\n')
}

// structSchema describes a struct: fields that may be left out are those with
// omitempty, others are required, and there are no more.
func structSchema(t reflect.Type) object {
	properties, required := object{}, []string{}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "" {
			continue
		}
		schema := typeSchema(f.Type)
		schema["description"] = f.Tag.Get("doc")
		properties[name] = schema
		if !strings.Contains(options, "omitempty") {
			required = append(required, name)
		}
	}
	return object{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
}

func typeSchema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[signature.Hash]():
		return object{"type": "string", "pattern": "^[0-9a-f]{16}$"}
	case reflect.TypeFor[looprun.Limits]():
		return limitsSchema()
	case reflect.TypeFor[looprun.Outcome]():
		return object{"enum": []looprun.Outcome{looprun.OutcomeDone, looprun.OutcomeNotDone, looprun.OutcomeError, looprun.OutcomeInterrupted}}
	case reflect.TypeFor[looprun.Status]():
		return object{"enum": statuses}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem())
	case reflect.Struct:
		return structSchema(t)
	case reflect.Slice:
		return object{"type": "array", "items": typeSchema(t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	}
	return object{"type": "string"}
}

// statuses are all that a run can have.
var statuses = []looprun.Status{
	looprun.StatusRunning, looprun.StatusAwaiting, looprun.StatusCrashed, looprun.StatusDone, looprun.StatusAccepted, looprun.StatusCancelled,
	looprun.StatusPaused, looprun.StatusRejected, looprun.StatusTripped, looprun.StatusFailed, looprun.StatusInterrupted,
}

// limitsSchema describes limits as they write themselves: "off" for one that is
// off, runtime as a duration, and nothing for an optional one that is not set.
func limitsSchema() object {
	number := func(description string) object {
		return object{"description": description, "oneOf": []object{{"const": "off"}, {"type": "number", "minimum": 0}}}
	}
	return object{
		"type": "object", "additionalProperties": false, "required": []string{"iterations", "runtime", "loop", "errors"},
		"properties": object{
			"iterations": number("Iterations that may be run."),
			"runtime": object{
				"description": "Active time, such as 15m0s.",
				"oneOf":       []object{{"const": "off"}, {"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(h|m|s|ms|µs|ns))+$`}},
			},
			"loop":             number("The same signature, or a cycle of them, so many times."),
			"errors":           number("Errors in a row."),
			"cost":             number("Reported cost in USD."),
			"tokens":           number("Reported tokens."),
			"idle_iterations":  number("Iterations without any change."),
			"workspace_cycles": number("How often the work tree may come back to a state it had left."),
			"turn_loop":        number("How often in a row an agent may do the same within one turn."),
		},
	}
}
