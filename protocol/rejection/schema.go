package rejection

import (
	"fmt"

	"github.com/looprun/looprun/internal/strictjson"
)

type (
	shape  = strictjson.Shape
	field  = strictjson.Field
	object = strictjson.Schema
)

// Schema returns the JSON Schema (2020-12) of the document as it should be written. A document
// that it accepts may still break a rule about phrases, which a schema cannot express but its
// descriptions mention. [Parse] and [Rejection.Validate] are authoritative: they also accept
// white space around reason_type and entries that do not count, which the schema rejects.
func Schema() []byte { return documentShape().Document(SchemaID, "looprun rejection") }

func documentShape() shape {
	version := shape{Form: strictjson.Text, Lenient: true, About: "The form of this document.", Words: []string{SchemaID, ""}}
	version.Also = object{"type": nil, "enum": []any{SchemaID, "", nil}}
	reason := needed(0, "The type of the reason. Each has rules of its own.")
	reason.Also = object{"type": nil, "enum": Reasons()}
	document := record("A reasoned statement that a task cannot be done as given. Text is trimmed, lengths are in code points, phrases match whole words in any case.", []field{
		strictjson.Optional("schema", version),
		strictjson.Optional("task", optional("The task, as the command knows it.")),
		strictjson.Optional("agent", optional("Who rejects it.")),
		strictjson.Optional("reason_type", reason),
		strictjson.Optional("reason_summary", optional("The reason in a sentence.")),
		strictjson.Optional("reason_detail", optional("The reason in full. MISSING_DEPENDENCY: says “required because”. INFEASIBLE: says “conflict”. UNCLEAR_REQUIREMENTS: asks a question with “?” and says “interpreted as”.")),
		strictjson.Optional("what_attempted", items(entry(), minAttempts, fmt.Sprintf("What was tried: at least %d that are not blank, one of them without %s.", minAttempts, quoted(vagueAttempts, "or")))),
		strictjson.Optional("blocking_factor", needed(minBlockingFactor, "The one thing that stops the work, without "+quoted(vagueFactors, "or")+" (“unclear” is allowed for UNCLEAR_REQUIREMENTS). MISSING_DEPENDENCY: says “depends on” and an id.")),
		strictjson.Optional("evidence", orNull(items(record("", []field{
			strictjson.Optional("type", needed(1, "What it is. BLOCKER: one piece is of type "+quoted(blockerEvidence, "or")+".")),
			strictjson.Optional("data", needed(1, "What was observed.")),
			strictjson.Optional("source", optional("Where it was observed: a command, a file, an address.")),
		}, "type", "data"), 0, "What shows the reason. BLOCKER needs 1 piece, INFEASIBLE 2."))),
		strictjson.Optional("suggested_alternative", needed(minAlternative, "What could be done in place of the task. Without alternative_tasks it is more than "+quoted(vagueAlternatives, "or")+". Reformulating takes it as the task.")),
		strictjson.Optional("alternative_tasks", orNull(items(record("", []field{
			strictjson.Optional("title", needed(1, "The name of the task. Others depend on it by that name.")),
			strictjson.Optional("scope", optional("What belongs to it.")),
			strictjson.Optional("dependencies", orNull(items(entry(), 0, "The titles of the tasks that come first."))),
			strictjson.Optional("estimate", optional("How much work it is.")),
		}, "title"), 0, "The tasks that this one should be. SCOPE_CREEP needs 2."))),
		strictjson.Optional("task_original_scope", optional("SCOPE_CREEP: what the task was when it began.")),
		strictjson.Optional("scope_growth_factor", shape{Form: strictjson.Number, Nullable: true, About: fmt.Sprintf("SCOPE_CREEP: how many times the scope has grown, at least %.1f.", minGrowth)}),
	}, "reason_type", "what_attempted", "blocking_factor", "suggested_alternative")
	document.Also["allOf"] = rulesByReason()
	return document
}

// rulesByReason returns the additional requirements of [Rejection.Validate] for each type.
func rulesByReason() []object {
	return []object{
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
	}
}

// needed returns the shape of a text that Validate requires after trimming.
func needed(least int, about string) shape {
	return shape{Form: strictjson.Text, Lenient: true, About: about, Also: object{"minLength": least}}
}

func optional(about string) shape {
	return shape{Form: strictjson.Text, Nullable: true, About: about}
}

func entry() shape { return shape{Form: strictjson.Text} }

// items returns the shape of a list; Validate checks how many of its entries count.
func items(of shape, least int, about string) shape {
	return shape{Form: strictjson.List, Lenient: true, Items: &of, About: about, Also: object{"minItems": least}}
}

func orNull(s shape) shape {
	s.Nullable = true
	return s
}

// record returns the shape of an object. Validate reports missing keys.
func record(about string, fields []field, required ...string) shape {
	return shape{Form: strictjson.Object, About: about, Fields: fields, Also: object{"required": required}}
}

// when returns the additional requirements of one type.
func when(reason Reason, required []string, properties object) object {
	return object{
		"if":   object{"properties": object{"reason_type": object{"const": reason}}, "required": []string{"reason_type"}},
		"then": object{"required": required, "properties": properties},
	}
}
