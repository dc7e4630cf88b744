// Package documents describes the JSON documents that looprun writes. Their schemas are
// generated from the Go types that are written.
package documents

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/signature"
)

type object = strictjson.Schema

// Types generates schemas of the library's types.
var Types = strictjson.Types{Tag: "json", Known: known}

// Schema returns the JSON Schema of the document that a type is written as; form is the value
// of its key schema. An empty list may be null.
func Schema(t reflect.Type, form, title, about string) []byte {
	types := Types
	types.Null = true
	s := types.Schema(t)
	return strictjson.Document(form, title, about, strictjson.Formed(s, form))
}

// known returns the schemas of types that marshal themselves, or have few values.
func known(t reflect.Type) object {
	return map[reflect.Type]object{
		reflect.TypeFor[signature.Hash](): {"type": "string", "pattern": "^[0-9a-f]{16}$"},
		reflect.TypeFor[core.Limits]():    limits(),
		reflect.TypeFor[core.Outcome]():   {"enum": []core.Outcome{core.OutcomeDone, core.OutcomeNotDone, core.OutcomeError, core.OutcomeInterrupted, core.OutcomeWaiting}},
		reflect.TypeFor[core.Status]():    {"enum": append([]core.Status{core.StatusRunning, core.StatusAwaiting, core.StatusCrashed, core.StatusSuperseded}, core.Statuses()...)},
	}[t]
}

// limits returns the schema of limits: "off" for one that is off, runtime as a duration, and
// nothing for an optional one that is not set.
func limits() object {
	properties, required := object{}, []string{}
	for _, g := range core.Specs() {
		value := object{"type": "number", "minimum": 0}
		if g.ID == core.MaxRuntime {
			value = object{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(h|m|s|ms|µs|ns))+$`}
		}
		if properties[g.Name] = (object{"description": g.About, "oneOf": []object{{"const": "off"}, value}}); g.Words() != nil {
			properties[g.Name] = object{"description": g.About, "enum": g.Words()}
		}
		if g.Stated {
			required = append(required, g.Name)
		}
	}
	return object{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
}

// kept holds the fields of a line that belong to the file and not to the event.
var kept = object{
	"mark": "The keyed hash by which looprun knows its own journals.", "sum": "The hash of the line.",
	"detail": "The names of the fields that stand in detail/SEQ.json.", "detail_sum": "The hash of that file.",
}

// JournalForm identifies the form of a journal.
const JournalForm = "looprun.dev/journal/v1"

// Journal returns the JSON Schema of one line of a journal: for each type of event, the fields
// that this version writes. Lines from an earlier version may have others.
func Journal() ([]byte, error) {
	types := Types
	types.Null = true
	var events []object
	for _, t := range core.EventTypes() {
		var e core.Event
		head, err := json.Marshal(map[string]any{"seq": 1, "time": time.Time{}, "type": t, "elapsed_ms": 0})
		if err == nil {
			err = json.Unmarshal(head, &e)
		}
		if err != nil {
			return nil, fmt.Errorf("event %s: %w", t, err)
		}
		s := types.Schema(reflect.TypeOf(e.Data))
		properties := s["properties"].(object)
		properties["seq"] = object{"type": "integer", "minimum": 1, "description": "Its number, from 1, without gaps."}
		properties["time"] = object{"type": "string", "format": "date-time", "description": "When it was written."}
		properties["type"] = object{"const": t}
		properties["elapsed_ms"] = object{"type": "integer", "minimum": 0, "description": "The run's active time so far."}
		for key, about := range kept {
			properties[key] = object{"description": about}
		}
		s["required"] = append(slices.Clone(s["required"].([]string)), "seq", "time", "type", "elapsed_ms")
		s["title"] = string(t)
		events = append(events, s)
	}
	return strictjson.Document(JournalForm, "looprun journal", "One line of .looprun/RUN/journal.jsonl, and of looprun show --follow --format json.",
		object{"type": "object", "oneOf": events}), nil
}
