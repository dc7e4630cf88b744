package policy

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/strictjson"
)

// object is a JSON Schema.
type object = strictjson.Schema

// Schema returns the JSON Schema (2020-12) of a policy file. Its x-facts describes the facts
// that conditions can mention.
func Schema() []byte {
	const about = "How looprun answers its questions when nobody watches. The first rule that matches answers; without one the detached mode decides."
	return strictjson.Document("looprun.dev/policy/v1", "looprun policy", about, object{
		"x-facts": FactList(),
		"type":    "object", "additionalProperties": false,
		"required": []string{"version"},
		"properties": object{
			"version":        object{"const": 1, "description": "The form of this file."},
			"include":        object{"type": "array", "items": text("A policy file, from the folder of this one."), "description": "Policies whose rules come after those of this file."},
			"never":          object{"type": "array", "items": object{"enum": core.CanForbid()}, "uniqueItems": true, "description": "Actions that only a person may take, whatever the rules of this or another file say: accept, and continue for all options that continue."},
			"rules":          object{"type": "array", "items": ruleSchema(), "description": "Looked at from top to bottom. A policy without rules answers nothing."},
			"verify_timeout": verifyTimeoutSchema(),
			"budget":         budgetSchema("The limit of all answers of this policy that continue, in one run. Past it no rule that goes on matches.", 1),
			"detached": object{
				"enum":        []Detached{DetachedDeny, DetachedDefaults, DetachedAuto, DetachedDefer},
				"default":     DetachedDeny,
				"description": "What happens when no rule matched and nobody else answered.",
			},
			"exit_codes": exitCodeSchema(),
			"tests":      object{"type": "array", "items": testSchema(), "description": "Cases that looprun policy check runs."},
		},
	})
}

// scalar are the types of a text: YAML takes a bare 300 for a number, and looprun for the text
// as written.
var scalar = []string{"string", "number", "boolean"}

func text(description string) object {
	o := anyText(description)
	o["minLength"], o["pattern"] = 1, `\S` // white space alone is empty
	return o
}

// anyText is a text that may be empty.
func anyText(description string) object {
	return object{"type": scalar, "description": description}
}

func duration(description string) object {
	return object{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(h|m|s|ms))+$`, "description": description}
}

// bound is a duration above zero.
func bound(description string) object {
	o := duration(description)
	o["not"] = object{"pattern": `^(0+(\.0+)?(h|m|s|ms))+$`}
	return o
}

func verifyTimeoutSchema() object {
	s := bound(fmt.Sprintf("How long each verify command may take; %s where it is left out. Past it the rule does not match.", DefaultVerifyTimeout))
	s["default"] = DefaultVerifyTimeout.String()
	return s
}

func ruleSchema() object {
	id := object{"enum": Known{}.guards()}
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
			"when":    when,
			"unknown": object{"const": "skip", "description": "A rule that cancels, pauses or rejects holds where a fact of its condition is not known; skip: it does not."},
			"answer": object{
				"type": "string", "pattern": "^[a-z][a-z0-9_-]*$", "not": object{"const": "review"},
				"description": "The id of an option of that question; or accept, pause or cancel. An accept that the question does not list needs verify.",
			},
			"verify":         text("A shell command that has to exit with 0 for the rule to match. It runs only if all else matched."),
			"guidance":       text("What the next iterations are told, where the answer goes on."),
			"notify":         object{"type": "boolean", "default": false, "description": "Tell the services under notify of the answer."},
			"verify_timeout": bound("How long that command may take, where it is not the file's verify_timeout."),
			"reason":         reason,
		},
	}
}

func budgetSchema(description string, least int) object {
	span := bound
	if least == 0 {
		span = duration
	}
	number := func(description string) object {
		return object{"type": "integer", "minimum": least, "description": description}
	}
	properties := object{
		"continues":  number("Answers that let the run go on."),
		"iterations": number("Iterations added to the limit."),
		"runtime":    span("Time added to the limit."),
		"cost":       object{"type": "number", "description": "US dollars added to the limit."},
		"tokens":     number("Tokens added to the limit."),
	}
	if least > 0 {
		properties["cost"].(object)["exclusiveMinimum"] = 0
		properties["per"] = object{"enum": []string{"run", "day"}, "default": "run", "description": "day: all runs of the state directory in which something happened in the last 24 hours share the budget."}
	} else {
		properties["cost"].(object)["minimum"] = 0
	}
	return object{"type": "object", "additionalProperties": false, "description": description, "properties": properties}
}

func exitCodeSchema() object {
	properties := object{}
	code := func(least int, description string) object {
		return object{"type": "integer", "minimum": least, "maximum": 255, "description": description}
	}
	for _, s := range core.Statuses() {
		about, least, limit := fmt.Sprintf("Exit code of a run that ended as %s (%d)", s, s.ExitCode()), 1, "; not 0."
		if s.MayExitZero() {
			least, limit = 0, "."
		}
		properties[string(s)] = code(least, about+limit)
	}
	for _, id := range (Known{}).guards() {
		properties[string(id)] = code(1, fmt.Sprintf("Exit code of a run that %s stopped, and nobody answered (%d); not 0.", id, id.ExitCode()))
	}
	return object{
		"type": "object", "properties": properties, "additionalProperties": false,
		"description": "Exit codes by status, or by the id of the guard that nobody answered; the id wins.",
	}
}

func testSchema() object {
	facts := object{}
	whole := map[string]bool{}
	for f := range reflect.TypeFor[Facts]().Fields() {
		whole[f.Tag.Get("yaml")] = f.Type.Kind() == reflect.Int
	}
	for _, f := range FactList() {
		o := object{"description": f.Description}
		switch {
		case f.Name == "guard":
			o["enum"] = Known{}.guards()
		case whole[f.Name]:
			o["type"] = "integer"
		}
		switch f.Type {
		case "text":
			o["type"] = scalar
		case "number":
			if !whole[f.Name] {
				o["type"] = "number"
			}
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
			"name":   anyText("What the case shows."),
			"facts":  object{"type": "object", "additionalProperties": false, "required": []string{"guard"}, "properties": facts, "description": "What is known; all else is not."},
			"used":   budgetSchema("What of the budget is spent already.", 0),
			"verify": object{"enum": []string{"pass", "fail"}, "default": "fail", "description": "How verify commands are taken to end. None is run."},
			"expect": text("The answer, or none."),
		},
	}
}
