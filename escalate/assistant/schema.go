package assistant

import (
	"encoding/json"
	"reflect"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/strictjson"
)

type object = strictjson.Schema

// kinds are the kinds of questions that a reply can answer.
var kinds = []core.Kind{core.KindSelect, core.KindConfirm, core.KindText}

// replyShape returns the shape of the reply to one question. The reason comes before the
// answer: see [orderedSchema].
func replyShape(q Asked) strictjson.Shape {
	answer := strictjson.Shape{Form: strictjson.Text, Filled: true, About: "The answer, as text. Not blank."}
	switch q.Kind {
	case core.KindConfirm:
		answer = strictjson.Shape{Form: strictjson.Bool, About: "true is yes, false is no."}
	case core.KindSelect:
		answer = strictjson.Shape{Form: strictjson.Text, About: "The id of the option that is chosen."}
		answer.Words = convert.Each(q.Options, func(o Option) string { return o.ID })
	}
	return replyWith(answer)
}

func replyWith(answer strictjson.Shape) strictjson.Shape {
	return strictjson.Shape{Form: strictjson.Object, About: "The reply to a question of looprun.", Fields: []strictjson.Field{
		strictjson.Required("reason", strictjson.Shape{Form: strictjson.Text, Filled: true, About: "Why, in a sentence or two. Not blank."}),
		strictjson.Required("answer", answer),
	}}
}

// replySchema returns the JSON Schema of the reply to one question.
func replySchema(q Asked) json.RawMessage {
	data, _ := json.Marshal(orderedSchema(replyShape(q))) // texts always encode
	return data
}

// ReplySchema returns the JSON Schema of replies to any question. The schema of the reply to
// one question is in its [Request].
func ReplySchema() []byte {
	d := orderedSchema(replyWith(strictjson.Shape{
		About: "true or false for a confirm question, the id of an option for a select question, else a text. Not blank.",
		Also:  object{"type": []string{"string", "boolean"}},
	}))
	d.Dialect, d.ID = "https://json-schema.org/draft/2020-12/schema", "https://looprun.dev/assistant-reply/v1"
	data, _ := json.MarshalIndent(d, "", "  ") // texts always encode
	return append(data, '\n')
}

// member describes one key of the reply.
type member struct {
	Type        any      `json:"type"`
	Description string   `json:"description"`
	Enum        []string `json:"enum,omitempty"`
}

// replyDocument is the JSON form of the reply's JSON Schema.
type replyDocument struct {
	Dialect     string `json:"$schema,omitempty"`
	ID          string `json:"$id,omitempty"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Properties  struct {
		Reason member `json:"reason"`
		Answer member `json:"answer"`
	} `json:"properties"`
	Required   []string `json:"required"`
	Additional bool     `json:"additionalProperties"` // always false
}

// orderedSchema returns the JSON Schema of a reply with its keys in order: models write the
// keys of an object in the order of its schema, and the reason must come before the answer. It
// uses only keywords that every service for structured output accepts, so it has no pattern
// and no $schema.
func orderedSchema(s strictjson.Shape) replyDocument {
	of := func(s strictjson.Shape) member {
		return member{Type: s.Schema()["type"], Description: s.About, Enum: s.Words}
	}
	d := replyDocument{Type: "object", Description: s.About, Required: s.Names()}
	d.Properties.Reason, d.Properties.Answer = of(s.Fields[0].Shape), of(s.Fields[1].Shape)
	return d
}

// requestTypes builds the schema of a request from its types.
var requestTypes = strictjson.Types{Tag: "json", Known: func(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[core.Kind]():
		return object{"enum": kinds}
	case reflect.TypeFor[core.Limits]():
		return object{"type": "object", "additionalProperties": object{"type": []string{"number", "string"}}}
	case reflect.TypeFor[json.RawMessage]():
		return object{"type": "object"}
	case reflect.TypeFor[core.Given]():
		text := func(about string) object { return object{"type": "string", "description": about} }
		return object{"type": "object", "additionalProperties": false, "required": []string{"option", "responder"}, "properties": object{
			"option": text("What was answered."), "responder": text("By whom."), "rule": text("FILE:LINE of the policy's rule."),
		}}
	}
	return nil
}}

// RequestSchema returns the JSON Schema (2020-12) of the command's input.
func RequestSchema() []byte {
	s := strictjson.Formed(requestTypes.Schema(reflect.TypeFor[Request]()), RequestSchemaID)
	return strictjson.Document(RequestSchemaID, "request to a looprun assistant", "The question that an assistant command answers, on its standard input.", s)
}
