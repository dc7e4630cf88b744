package policy

import (
	"encoding/json"
	"fmt"
	"strings"
)

// object is one JSON Schema.
type object = map[string]any

// Schema is the JSON Schema (2020-12) of a policy file. Its x-facts describes
// what conditions can mention.
func Schema() []byte {
	schema := object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"$id":         "looprun.dev/policy/v1",
		"title":       "looprun policy",
		"description": "How looprun answers its questions when nobody watches. The first rule that matches answers; without one the detached mode decides.",
		"x-facts":     FactList(),
		"type":        "object", "additionalProperties": false,
		"required": []string{"version"},
		"properties": object{
			"version":        object{"const": 1},
			"rules":          object{"type": "array", "items": ruleSchema(), "description": "Looked at from top to bottom. A policy without rules answers nothing."},
			"verify_timeout": duration(fmt.Sprintf("How long each verify command may take; %s where it is left out. Past it the rule does not match.", DefaultVerifyTimeout)),
			"budget":         budgetSchema("What answers of this policy that go on may add up to in one run. Past it no rule that goes on matches.", 1),
			"detached": object{
				"enum":        []Detached{DetachedDeny, DetachedDefaults, DetachedAuto, DetachedDefer},
				"description": "What happens when no rule matched and nobody else answered.",
			},
			"exit_codes": exitCodeSchema(),
			"tests":      object{"type": "array", "items": testSchema(), "description": "Cases that looprun policy check runs."},
		},
	}
	data, _ := json.MarshalIndent(schema, "", "  ") // maps of texts and numbers always encode
	return append(data, '\n')
}

func text(description string) object {
	return object{"type": "string", "minLength": 1, "description": description}
}

func duration(description string) object {
	return object{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(h|m|s|ms))+$`, "description": description}
}

func ruleSchema() object {
	id := object{"type": "string", "pattern": "^[a-z][a-z0-9_-]*$"}
	reason := text("Why this is the right answer. It stands in the journal and in the result.")
	reason["maxLength"] = maxReason
	when := text("A condition over the facts: " + strings.Join(factNames(), ", ") + ".")
	when["maxLength"] = maxCondition
	return object{
		"type": "object", "additionalProperties": false,
		"required": []string{"guard", "answer", "reason"},
		"properties": object{
			"guard": object{
				"description": `The guard whose question it answers, a list of them, or "*" for every guard. What the command says (rejection, blocked, clarification) and ladder_exhausted have to be named.`,
				"oneOf":       []object{{"const": EveryGuard}, id, {"type": "array", "items": id, "minItems": 1, "uniqueItems": true}},
			},
			"when": when,
			"answer": object{
				"type": "string", "pattern": "^[a-z][a-z0-9_-]*$", "not": object{"const": "review"},
				"description": "The id of an option of that question; or accept, pause or cancel. An accept that the question does not list needs verify.",
			},
			"verify":         text("A shell command that has to exit with 0 for the rule to match. It runs only if all else matched."),
			"verify_timeout": duration("How long that command may take, where it is not the file's verify_timeout."),
			"reason":         reason,
		},
	}
}

func budgetSchema(description string, least int) object {
	number := func(description string) object {
		return object{"type": "integer", "minimum": least, "description": description}
	}
	return object{
		"type": "object", "additionalProperties": false, "description": description,
		"properties": object{
			"continues":  number("Answers that let the run go on."),
			"iterations": number("Iterations added to the limit."),
			"runtime":    duration("Time added to the limit."),
		},
	}
}

func exitCodeSchema() object {
	properties := object{}
	for _, s := range statuses {
		properties[string(s)] = object{"type": "integer", "minimum": 0, "maximum": 255}
	}
	for _, s := range nonzero {
		properties[string(s)] = object{"type": "integer", "minimum": 1, "maximum": 255}
	}
	return object{
		"type": "object", "properties": properties,
		"additionalProperties": object{"type": "integer", "minimum": 1, "maximum": 255},
		"description":          "Exit codes by status, or by the id of the guard that nobody answered; the id wins.",
	}
}

func testSchema() object {
	facts := object{}
	for _, f := range FactList() {
		o := object{"description": f.Description}
		switch f.Type {
		case "text":
			o["type"] = "string"
		case "number":
			o["type"] = "number"
		case "true or false":
			o["type"] = "boolean"
		case "list of texts":
			o["type"], o["items"] = "array", object{"type": "string"}
		case "time":
			o = duration(f.Description)
		}
		facts[f.Name] = o
	}
	return object{
		"type": "object", "additionalProperties": false,
		"required": []string{"facts", "expect"},
		"properties": object{
			"name":   text("What the case shows."),
			"facts":  object{"type": "object", "additionalProperties": false, "required": []string{"guard"}, "properties": facts, "description": "What is known; all else is not."},
			"used":   budgetSchema("What of the budget is spent already.", 0),
			"verify": object{"enum": []string{"pass", "fail"}, "default": "fail", "description": "How verify commands are taken to end. None is run."},
			"expect": text("The answer, or none."),
		},
	}
}
