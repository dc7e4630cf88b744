package rejection

import (
	"encoding/json"
	"fmt"
)

// object is one JSON Schema.
type object = map[string]any

// Schema is the JSON Schema (2020-12) of the document as it should be written.
// What it lets pass may still break a rule about phrases, which a schema cannot
// say; the descriptions do. [Parse] and [Rejection.Validate] are what decides:
// they also take white space around reason_type, and entries that count for
// nothing, which the schema refuses.
func Schema() []byte {
	schema := object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"$id":         SchemaID,
		"title":       "looprun rejection",
		"description": "A reasoned statement that a task cannot be done as given. Text is trimmed, lengths are in code points, phrases match whole words in any case.",
		"type":        "object", "additionalProperties": false,
		"required": []string{"reason_type", "what_attempted", "blocking_factor", "suggested_alternative"},
		"properties": object{
			"schema":          object{"enum": []any{SchemaID, "", nil}, "description": "The form of this document."},
			"task":            optional("The task, as the command knows it."),
			"agent":           optional("Who rejects it."),
			"reason_type":     object{"enum": Reasons(), "description": "The type of the reason. Each has rules of its own."},
			"reason_summary":  optional("The reason in a sentence."),
			"reason_detail":   optional("The reason in full. MISSING_DEPENDENCY: says “required because”. INFEASIBLE: says “conflict”. UNCLEAR_REQUIREMENTS: asks a question with “?” and says “interpreted as”."),
			"what_attempted":  items(object{"type": "string"}, minAttempts, fmt.Sprintf("What was tried: at least %d that are not blank, one of them without %s.", minAttempts, quoted(vagueAttempts, "or"))),
			"blocking_factor": needed(minBlockingFactor, "The one thing that stops the work, without "+quoted(vagueFactors, "or")+" (“unclear” is allowed for UNCLEAR_REQUIREMENTS). MISSING_DEPENDENCY: says “depends on” and an id."),
			"evidence": orNull(items(record([]string{"type", "data"}, object{
				"type":   needed(1, "What it is. BLOCKER: one piece is of type "+quoted(blockerEvidence, "or")+"."),
				"data":   needed(1, "What was observed."),
				"source": optional("Where it was observed: a command, a file, an address."),
			}), 0, "What shows the reason. BLOCKER needs 1 piece, INFEASIBLE 2.")),
			"suggested_alternative": needed(minAlternative, "What could be done in place of the task. Without alternative_tasks it is more than "+quoted(vagueAlternatives, "or")+". Reformulating takes it as the task."),
			"alternative_tasks": orNull(items(record([]string{"title"}, object{
				"title":        needed(1, "The name of the task. Others depend on it by that name."),
				"scope":        optional("What belongs to it."),
				"dependencies": orNull(items(object{"type": "string"}, 0, "The titles of the tasks that come first.")),
				"estimate":     optional("How much work it is."),
			}), 0, "The tasks that this one should be. SCOPE_CREEP needs 2.")),
			"task_original_scope": optional("SCOPE_CREEP: what the task was when it began."),
			"scope_growth_factor": object{"type": []string{"number", "null"}, "description": fmt.Sprintf("SCOPE_CREEP: how many times the scope has grown, at least %.1f.", minGrowth)},
		},
		"allOf": []object{
			when(Blocker, []string{"evidence"}, object{"evidence": object{"minItems": 1, "type": "array"}}),
			when(ScopeCreep, []string{"task_original_scope", "scope_growth_factor", "alternative_tasks"}, object{
				"task_original_scope": object{"type": "string", "minLength": 1},
				"scope_growth_factor": object{"type": "number", "minimum": minGrowth},
				"alternative_tasks":   object{"type": "array", "minItems": minScopeTasks},
			}),
			when(MissingDependency, []string{"reason_detail"}, object{"reason_detail": object{"type": "string", "minLength": 1}}),
			when(Infeasible, []string{"reason_detail", "evidence"}, object{
				"reason_detail":         object{"type": "string", "minLength": 1},
				"evidence":              object{"type": "array", "minItems": minInfeasible},
				"suggested_alternative": object{"minLength": minFeasible},
			}),
			when(UnclearRequirements, []string{"reason_detail"}, object{"reason_detail": object{"type": "string", "pattern": `\?`}}),
		},
	}
	data, _ := json.MarshalIndent(schema, "", "  ") // maps of texts and numbers always encode
	return append(data, '\n')
}

func needed(least int, description string) object {
	return object{"type": "string", "minLength": least, "description": description}
}

func optional(description string) object {
	return object{"type": []string{"string", "null"}, "description": description}
}

func items(each object, least int, description string) object {
	return object{"type": "array", "items": each, "minItems": least, "description": description}
}

func orNull(list object) object {
	list["type"] = []string{"array", "null"}
	return list
}

func record(required []string, properties object) object {
	return object{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
}

// when is what one type needs besides.
func when(reason Reason, required []string, properties object) object {
	return object{
		"if":   object{"properties": object{"reason_type": object{"const": reason}}, "required": []string{"reason_type"}},
		"then": object{"required": required, "properties": properties},
	}
}
