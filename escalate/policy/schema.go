package policy

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/strictjson"
)

// object is a JSON Schema.
type object = strictjson.Schema

// Schema returns the JSON Schema (2020-12) of a policy file, made from the types that it is
// decoded into. Its x-facts describes the facts that conditions can mention.
func Schema() []byte {
	s := types.Schema(reflect.TypeFor[policyFile]())
	s["x-facts"] = core.FactList()
	var says []object
	for _, key := range []string{"rules", "include", "never", "exit_codes", "detached", "budget"} {
		says = append(says, object{"required": []string{key}})
	}
	s["anyOf"] = says
	file := strictjson.At(s, "properties")
	include := strictjson.At(file, "include", "items")
	include["description"], include["minLength"], include["pattern"] = "A policy file, from the folder of this one.", 1, `\S`
	file["exit_codes"] = exitCodeSchema(strictjson.At(file, "exit_codes")["description"])
	bound(strictjson.At(file, "budget", "properties"), 1)
	rule := strictjson.At(file, "rules", "items", "properties")
	when := strictjson.At(rule, "when")
	when["description"], when["maxLength"] = "A condition over the facts: "+strings.Join(factNames(), ", ")+".", maxCondition
	strictjson.At(rule, "reason")["maxLength"] = maxReason
	for _, timeout := range []object{file, rule} {
		strictjson.At(timeout, "verify_timeout")["not"] = noTime
	}
	test := strictjson.At(file, "tests", "items", "properties")
	bound(strictjson.At(test, "used", "properties"), 0)
	facts := strictjson.At(test, "facts", "properties")
	for _, f := range core.FactList() {
		strictjson.At(facts, f.Name)["description"] = f.About()
	}
	strictjson.At(test, "facts")["required"] = []string{"guard"}
	strictjson.At(facts, "guard")["enum"] = Known{}.guards()
	const about = "How looprun answers its questions when nobody watches. The first rule that matches answers; without one the detached mode decides."
	return strictjson.Document("looprun.dev/policy/v1", "looprun policy", about, s)
}

// noTime matches the durations of zero.
var noTime = object{"pattern": `^(0+(\.0+)?(h|m|s|ms))+$`}

// types makes the schemas. YAML takes a bare 300 for a number, and looprun for the text as
// written.
var types = strictjson.Types{Tag: "yaml", Text: []string{"string", "number", "boolean"}, Known: func(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return object{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(h|m|s|ms))+$`}
	case reflect.TypeFor[core.Action]():
		return object{"enum": core.CanForbid()}
	case reflect.TypeFor[guardList]():
		id := object{"enum": Known{}.guards()}
		return object{"oneOf": []object{{"const": EveryGuard}, id, {"type": "array", "items": id, "minItems": 1, "uniqueItems": true}}}
	}
	return nil
}}

// bound adds the least value to each part of a budget.
func bound(parts object, least int) {
	for _, part := range parts {
		switch part := part.(object); {
		case part["type"] == "integer":
			part["minimum"] = least
		case part["type"] == "number" && least == 0:
			part["minimum"] = 0
		case part["type"] == "number":
			part["exclusiveMinimum"] = 0
		case part["type"] == "string" && least > 0:
			part["not"] = noTime
		}
	}
}

func exitCodeSchema(description any) object {
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
	return object{"type": "object", "properties": properties, "additionalProperties": false, "description": description}
}
