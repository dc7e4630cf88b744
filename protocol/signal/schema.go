package signal

import (
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/strictjson"
)

// SchemaID identifies the schema of a signal.
const SchemaID = "looprun.dev/signal/v1"

type (
	shape  = strictjson.Shape
	object = strictjson.Schema
)

// Schema returns the JSON Schema (draft 2020-12) of a signal as [Parse] reads it.
// [Signal.Validate] checks lengths in bytes, while the schema gives them in characters, which
// is never stricter.
func Schema() []byte { return documentShape().Document(SchemaID, "looprun signal") }

// documentShape returns the shape of a signal as written. A null is the same as a missing key.
// Limits that [Signal.Validate] checks, because it also checks signals in text, are only in
// the schema.
func documentShape() shape {
	document := strictjson.Of(new(Signal), shape{Lenient: true})
	document.About = "What the command of a loop tells looprun while it works."
	document.Also = object{"required": []string{"name"}, "allOf": rulesByName()}
	document.Fields = append([]strictjson.Field{strictjson.Optional("schema", shape{
		Form: strictjson.Text, Lenient: true, About: "The form of this document.", Words: []string{SchemaID, ""},
		Also: object{"type": nil, "enum": nil, "const": SchemaID},
	})}, document.Fields...)
	for _, f := range ids {
		document.At(f.key).Also = object{"maxLength": MaxID}
	}
	for _, f := range messages {
		document.At(f.key).Also = object{"maxLength": MaxText}
	}
	for key, words := range map[string][]string{"name": convert.Strings(Names()), "cause": append([]string{""}, Causes()...), "via": {"", ViaSocket, ViaText}} {
		document.At(key).Also = object{"type": nil, "enum": words}
	}
	for key, most := range map[string]any{"usd": MaxUSD, "tokens": int64(MaxTokens)} {
		document.At(key).Also = object{"minimum": 0, "maximum": most}
	}
	considered, attempts := document.At("options_considered"), document.At("attempts_made")
	considered.Also, attempts.Also = object{"maxItems": MaxList}, object{"maxItems": MaxList}
	considered.Items.Lenient, considered.Items.Also = false, object{"required": []string{"option"}}
	considered.Items.At("option").Also = object{"maxLength": MaxText, "minLength": 1}
	considered.Items.At("why_insufficient").Also = object{"maxLength": MaxText}
	attempts.Items.About, attempts.Items.Also = "One attempt.", object{"maxLength": MaxText}
	return document
}

// rulesByName returns which fields go with which name; [Signal.Validate] checks the same.
func rulesByName() []object {
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
		return convert.Where(Names(), func(n Name) bool { return n != but })
	}
	return []object{
		when([]Name{Attempt}, said("approach")),
		when([]Name{Blocked, Clarify}, object{"anyOf": []object{said("question"), said("text")}}),
		when([]Name{Cost}, object{"anyOf": []object{positive("usd"), positive("tokens")}}),
		when(others(Cost), none),
		when(others(Clarify), noCause),
	}
}
