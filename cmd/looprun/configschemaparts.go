package main

import (
	"reflect"

	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/signature"
)

// signatureSchema is the schema of the key signature, with what the patterns have
// to have before they are compiled.
func signatureSchema() object {
	s := schemaOf(reflect.TypeFor[signatureConfig]())
	s["description"] = "Your own masks and rules for signatures, and the reports that the command writes."
	lists, _ := s["properties"].(object)
	for _, list := range lists {
		item, _ := list.(object)["items"].(object)
		keys, _ := item["properties"].(object)
		for name, key := range keys {
			key := key.(object)
			switch name {
			case "pattern", "regexp":
				key["minLength"] = 1
			case "name":
				key["pattern"] = `^[A-Za-z_-]*$`
			case "fact":
				keys[name] = narrowed(key, object{"enum": signature.FactNames()})
			}
		}
		if _, rule := keys["fact"]; rule {
			item["oneOf"] = []object{{"required": []string{"pattern"}}, {"required": []string{"regexp"}}}
		}
	}
	return s
}

// ladderSchema is the schema of the key ladder, with what ladder.Config.Validate
// wants of each rung.
func ladderSchema() object {
	steps := schemaOf(reflect.TypeFor[ladderConfig]())
	steps["description"] = "The escalation ladder: rungs that are climbed as attempts fail. The last one is a person's."
	rung, _ := steps["items"].(object)
	keys, _ := rung["properties"].(object)
	if keys == nil {
		return steps
	}
	keys["rung"] = narrowed(keys["rung"], object{"enum": []any{ladder.SelfSolve, ladder.Experts, ladder.Human}})
	keys["attempts"] = narrowed(keys["attempts"], object{"type": "integer", "minimum": 1, "maximum": ladder.MaxAttempts})
	keys["experts"] = narrowed(keys["experts"], object{
		"type": "object", "propertyNames": object{"pattern": `^[A-Za-z0-9_.-]{1,40}$`},
		"additionalProperties": notBlank(schemaOf(reflect.TypeFor[string]())),
	})
	is := func(name ladder.RungName) object {
		return object{"properties": object{"rung": object{"const": name}}, "required": []string{"rung"}}
	}
	none := object{"maxProperties": 0}
	rung["allOf"] = []object{
		{"if": is(ladder.SelfSolve), "then": object{"properties": object{"experts": none}}},
		{"if": is(ladder.Human), "then": object{"properties": object{"experts": none, "attempts": false}}},
		{"if": is(ladder.Experts), "then": object{
			"properties": object{"attempts": object{"maximum": ladder.MaxExpertFailures}, "experts": object{"minProperties": 1}},
			"required":   []string{"experts"},
		}},
	}
	steps["uniqueItems"] = true
	steps["if"] = object{"minItems": 1}
	steps["then"] = object{"prefixItems": []object{is(ladder.SelfSolve)}, "contains": is(ladder.Human)}
	return steps
}
