package signal

import "github.com/looprun/looprun/internal/strictjson"

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
	document := shape{
		Form: strictjson.Object, About: "What the command of a loop tells looprun while it works.",
		Also: object{"required": []string{"name"}, "allOf": rulesByName()},
	}
	add := func(key string, s shape) {
		document.Fields = append(document.Fields, strictjson.Optional(key, s))
	}
	add("schema", shape{
		Form: strictjson.Text, Lenient: true, About: "The form of this document.", Words: []string{SchemaID, ""},
		Also: object{"type": nil, "enum": nil, "const": SchemaID},
	})
	add("name", oneOf("What the signal means.", texts(Names())))
	for _, f := range ids {
		if f.key == "cause" {
			add(f.key, oneOf("Why clarification is needed. Each of these asks a person at once.", append([]string{""}, Causes()...)))
			continue
		}
		add(f.key, text(f.about, MaxID, 0))
	}
	for _, f := range messages {
		add(f.key, text(f.about, MaxText, 0))
	}
	considered := shape{Form: strictjson.Object, Also: object{"required": []string{"option"}}, Fields: []strictjson.Field{
		strictjson.Optional("option", text("The option.", MaxText, 1)),
		strictjson.Optional("why_insufficient", text("Why it does not do.", MaxText, 0)),
	}}
	add("options_considered", list("What was thought of, and why it does not do.", considered))
	add("attempts_made", list("What was tried before.", text("One attempt.", MaxText, 0)))
	add("usd", number(strictjson.Number, "US dollars since the last report.", MaxUSD))
	add("tokens", number(strictjson.Integer, "Tokens since the last report.", int64(MaxTokens)))
	add("via", oneOf("How the signal came. looprun sets it.", []string{"", ViaSocket, ViaText}))
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
		var list []Name
		for _, n := range Names() {
			if n != but {
				list = append(list, n)
			}
		}
		return list
	}
	return []object{
		when([]Name{Attempt}, said("approach")),
		when([]Name{Blocked, Clarify}, object{"anyOf": []object{said("question"), said("text")}}),
		when([]Name{Cost}, object{"anyOf": []object{positive("usd"), positive("tokens")}}),
		when(others(Cost), none),
		when(others(Clarify), noCause),
	}
}

func text(about string, most, least int) shape {
	t := shape{Form: strictjson.Text, Lenient: true, About: about, Also: object{"maxLength": most}}
	if least > 0 {
		t.Also["minLength"] = least
	}
	return t
}

func oneOf(about string, words []string) shape {
	return shape{Form: strictjson.Text, Lenient: true, About: about, Also: object{"type": nil, "enum": words}}
}

func number(form strictjson.Form, about string, most any) shape {
	return shape{Form: form, Lenient: true, About: about, Also: object{"minimum": 0, "maximum": most}}
}

func list(about string, of shape) shape {
	return shape{Form: strictjson.List, Lenient: true, About: about, Items: &of, Also: object{"maxItems": MaxList}}
}
