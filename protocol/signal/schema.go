package signal

import "encoding/json"

// SchemaID names the schema of a signal.
const SchemaID = "looprun.dev/signal/v1"

type object = map[string]any

// Schema is the JSON Schema (draft 2020-12) of a signal as [Parse] reads it.
// Lengths are checked in bytes by [Signal.Validate], and the schema gives them
// in characters, which is never stricter.
func Schema() []byte {
	properties := object{
		"schema": object{"const": SchemaID, "description": "The form of this document."},
		"name":   object{"enum": Names(), "description": "What the signal means."},
		"options_considered": object{
			"type": "array", "maxItems": MaxList, "description": "What was thought of, and why it does not do.",
			"items": object{
				"type": "object", "additionalProperties": false, "required": []string{"option"},
				"properties": object{"option": text("The option.", MaxText, 1), "why_insufficient": text("Why it does not do.", MaxText, 0)},
			},
		},
		"attempts_made": object{"type": "array", "maxItems": MaxList, "items": text("One attempt.", MaxText, 0), "description": "What was tried before."},
		"usd":           object{"type": "number", "minimum": 0, "maximum": MaxUSD, "description": "US dollars since the last report."},
		"tokens":        object{"type": "integer", "minimum": 0, "maximum": int64(MaxTokens), "description": "Tokens since the last report."},
		"via":           object{"enum": []string{"", ViaSocket, ViaText}, "description": "How the signal came. looprun sets it."},
	}
	for _, f := range ids {
		properties[f.key] = text(f.about, MaxID, 0)
	}
	for _, f := range messages {
		properties[f.key] = text(f.about, MaxText, 0)
	}
	properties["cause"] = object{"enum": append([]string{""}, Causes()...), "description": "Why clarification is needed. Each of these asks a person at once."}
	when := func(names []Name, then object) object {
		return object{"if": object{"properties": object{"name": object{"enum": names}}}, "then": then}
	}
	positive := func(key string) object {
		return object{"required": []string{key}, "properties": object{key: object{"exclusiveMinimum": 0}}}
	}
	said := func(key string) object {
		return object{"required": []string{key}, "properties": object{key: object{"pattern": `\S`}}}
	}
	none := object{"not": object{"anyOf": []object{positive("usd"), positive("tokens")}}}
	noCause := object{"properties": object{"cause": object{"const": ""}}}
	others := func(but Name) []Name {
		var list []Name
		for _, n := range Names() {
			if n != but {
				list = append(list, n)
			}
		}
		return list
	}
	data, _ := json.MarshalIndent(object{ // maps of texts and numbers always encode
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"$id":         SchemaID,
		"title":       "looprun signal",
		"description": "What the command of a loop tells looprun while it works.",
		"type":        "object", "additionalProperties": false, "required": []string{"name"},
		"properties": properties,
		"allOf": []object{
			when([]Name{Attempt}, said("approach")),
			when([]Name{Blocked, Clarify}, object{"anyOf": []object{said("question"), said("text")}}),
			when([]Name{Cost}, object{"anyOf": []object{positive("usd"), positive("tokens")}}),
			when(others(Cost), none),
			when(others(Clarify), noCause),
		},
	}, "", "  ")
	return append(data, '\n')
}

func text(about string, most, least int) object {
	t := object{"type": "string", "maxLength": most, "description": about}
	if least > 0 {
		t["minLength"] = least
	}
	return t
}
