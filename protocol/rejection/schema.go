package rejection

import (
	"cmp"
	"fmt"

	"github.com/looprun/looprun/internal/strictjson"
)

type (
	shape  = strictjson.Shape
	object = strictjson.Schema
)

// Schema returns the JSON Schema (2020-12) of the document as it should be written. A document
// that it accepts may still break a rule about phrases, which a schema cannot express but its
// descriptions mention. [Parse] and [Rejection.Validate] are authoritative: they also accept
// white space around reason_type and entries that do not count, which the schema rejects.
func Schema() []byte { return documentShape().Document(SchemaID, "looprun rejection") }

func documentShape() shape {
	document := strictjson.Of(new(Rejection), shape{})
	document.About = "A reasoned statement that a task cannot be done as given. Text is trimmed, lengths are in code points, phrases match whole words in any case."
	document.Also = object{"required": []string{"reason_type", "what_attempted", "blocking_factor", "suggested_alternative"}, "allOf": rulesByReason()}
	document.Fields = append([]strictjson.Field{strictjson.Optional("schema", shape{
		Form: strictjson.Text, Lenient: true, About: "The form of this document.", Words: []string{SchemaID, ""},
		Also: object{"type": nil, "enum": []any{SchemaID, "", nil}},
	})}, document.Fields...)
	document.At("reason_type").Also = object{"type": nil, "enum": Reasons()}
	// Validate requires and counts what is at least so long, after trimming.
	least := func(s *shape, keyword string, n int, about string) {
		s.Also = object{keyword: n}
		s.About = cmp.Or(about, s.About)
	}
	least(document.At("what_attempted"), "minItems", minAttempts, fmt.Sprintf("What was tried: at least %d that are not blank, one of them without %s.", minAttempts, quoted(vagueAttempts, "or")))
	least(document.At("blocking_factor"), "minLength", minBlockingFactor, "The one thing that stops the work, without "+quoted(vagueFactors, "or")+" (“unclear” is allowed for UNCLEAR_REQUIREMENTS). MISSING_DEPENDENCY: says “depends on” and an id.")
	least(document.At("suggested_alternative"), "minLength", minAlternative, "What could be done in place of the task. Without alternative_tasks it is more than "+quoted(vagueAlternatives, "or")+". Reformulating takes it as the task.")
	document.At("scope_growth_factor").About = fmt.Sprintf("SCOPE_CREEP: how many times the scope has grown, at least %.1f.", minGrowth)
	evidence, tasks := document.At("evidence"), document.At("alternative_tasks")
	least(evidence, "minItems", 0, "")
	least(tasks, "minItems", 0, "")
	evidence.Items.Also, tasks.Items.Also = object{"required": []string{"type", "data"}}, object{"required": []string{"title"}}
	least(evidence.Items.At("type"), "minLength", 1, "What it is. BLOCKER: one piece is of type "+quoted(blockerEvidence, "or")+".")
	least(evidence.Items.At("data"), "minLength", 1, "")
	least(tasks.Items.At("title"), "minLength", 1, "")
	least(tasks.Items.At("dependencies"), "minItems", 0, "")
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

// when returns the additional requirements of one type.
func when(reason Reason, required []string, properties object) object {
	return object{
		"if":   object{"properties": object{"reason_type": object{"const": reason}}, "required": []string{"reason_type"}},
		"then": object{"required": required, "properties": properties},
	}
}
