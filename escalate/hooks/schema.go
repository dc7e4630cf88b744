package hooks

import "github.com/looprun/looprun/internal/strictjson"

// DocumentSchema returns the JSON Schema (2020-12) of a hook's standard input. Apart from its
// header, an event has the fields of its type.
func DocumentSchema() []byte {
	type object = strictjson.Schema
	text := func(about string) object { return object{"type": "string", "description": about} }
	return strictjson.Document(Schema, "what a looprun hook is told", "One line of JSON on the standard input of a hook.", object{
		"type": "object", "additionalProperties": false,
		"required": []string{"schema", "hook", "run_id", "name", "dir", "host", "event", "summary", "next"},
		"properties": object{
			"schema": object{"const": Schema, "description": "The form of this document."},
			"hook":   object{"enum": []string{OnQuestion, OnTrip, OnEnd}, "description": "Which hook this is."},
			"run_id": text("The run that it happened to."),
			"name":   text("The run's name; empty if it has none."),
			"dir":    text("Where its command runs."),
			"host":   text("The machine; empty if the system does not say."),
			"event": object{
				"type": "object", "required": []string{"seq", "time", "type", "elapsed_ms"},
				"description": "The event as the journal has it.",
				"properties": object{
					"seq":        object{"type": "integer", "minimum": 1, "description": "Its number in the journal."},
					"time":       object{"type": "string", "format": "date-time", "description": "When it was written."},
					"type":       object{"enum": []string{"question.asked", "guard.tripped", "run.finished", "run.paused"}, "description": "What happened."},
					"elapsed_ms": object{"type": "integer", "minimum": 0, "description": "The run's active time so far."},
				},
			},
			"summary": text("What happened, in one line."),
			"next":    text("The command by which a person can do something about it."),
		},
	})
}
