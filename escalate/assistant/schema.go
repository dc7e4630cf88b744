package assistant

import (
	"encoding/json"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/strictjson"
)

type object = strictjson.Schema

// kinds are those of the questions that a reply can answer.
var kinds = []core.Kind{core.KindSelect, core.KindConfirm, core.KindText}

// replyShape is the reply to one question. The reason stands before the answer: see
// [orderedSchema].
func replyShape(q Asked) strictjson.Shape {
	answer := strictjson.Shape{Form: strictjson.Text, Filled: true, About: "The answer, as text. Not blank."}
	switch q.Kind {
	case core.KindConfirm:
		answer = strictjson.Shape{Form: strictjson.Bool, About: "true is yes, false is no."}
	case core.KindSelect:
		answer = strictjson.Shape{Form: strictjson.Text, About: "The id of the option that is chosen."}
		for _, o := range q.Options {
			answer.Words = append(answer.Words, o.ID)
		}
	}
	return replyWith(answer)
}

func replyWith(answer strictjson.Shape) strictjson.Shape {
	return strictjson.Shape{Form: strictjson.Object, About: "The reply to a question of looprun.", Fields: []strictjson.Field{
		strictjson.Required("reason", strictjson.Shape{Form: strictjson.Text, Filled: true, About: "Why, in a sentence or two. Not blank."}),
		strictjson.Required("answer", answer),
	}}
}

// replySchema is the JSON Schema of the reply to one question.
func replySchema(q Asked) json.RawMessage {
	data, _ := json.Marshal(orderedSchema(replyShape(q))) // texts always encode
	return data
}

// ReplySchema is the JSON Schema of replies to any question. The schema of the
// reply to one question is in its [Request].
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

// replyDocument is the JSON Schema of a reply as it is written.
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

// orderedSchema is the JSON Schema of a reply with its keys in their order: models
// write the keys of an object in the order of its schema, and the reason is to come
// before the answer. It keeps to the keywords that every service for structured output
// takes, so it has no pattern and no $schema.
func orderedSchema(s strictjson.Shape) replyDocument {
	of := func(s strictjson.Shape) member {
		return member{Type: s.Schema()["type"], Description: s.About, Enum: s.Words}
	}
	d := replyDocument{Type: "object", Description: s.About, Required: s.Names()}
	d.Properties.Reason, d.Properties.Answer = of(s.Fields[0].Shape), of(s.Fields[1].Shape)
	return d
}

// RequestSchema is the JSON Schema (2020-12) of what the command gets.
func RequestSchema() []byte {
	return strictjson.Document(RequestSchemaID, "request to a looprun assistant", "The question that an assistant command answers, on its standard input.", object{
		"type": "object", "additionalProperties": false,
		"required": []string{"schema", "question", "context", "reply_schema"},
		"properties": object{
			"schema":         object{"const": RequestSchemaID, "description": "The form of this document."},
			"question":       questionSchema(),
			"context":        contextSchema(),
			"reply_schema":   object{"type": "object", "description": "The JSON Schema of the reply to this question."},
			"previous_reply": text("What the command printed before, if that was wrong."),
			"problem":        text("What was wrong with it."),
		},
	})
}

func questionSchema() object {
	option := closed([]string{"id", "label"}, object{
		"id": text("What the reply names."), "label": text("What a person would choose."), "description": text("What it does."),
	})
	return about("The question to answer.", []string{"id", "kind", "header", "question"}, object{
		"id":       text("Names the question within the run."),
		"kind":     object{"enum": kinds, "description": "Says what the answer is: the id of an option, true or false, or text."},
		"header":   text("A few words."),
		"question": text("What is asked."),
		"details":  list(text(""), "The evidence."),
		"options":  list(option, "What can be chosen, for select."),
	})
}

func contextSchema() object {
	limit := object{"type": []string{"number", "string"}}
	failed := closed([]string{"iteration", "outcome", "exit_code"}, object{
		"iteration": number("Its number."), "outcome": text("not_done or error."), "exit_code": number("That of what judged it."),
		"label": text("What it was, in short."), "output": text("The end of its output."),
	})
	decision := closed([]string{"iteration", "option", "responder"}, object{
		"iteration": number("The last one before it."), "guard": text("What had tripped."), "option": text("What was chosen."),
		"responder": text("By whom."), "reason": text("Why."),
	})
	given := closed([]string{"option", "responder"}, object{"option": text("What was answered."), "responder": text("By whom."), "rule": text("FILE:LINE of the policy's rule.")})
	return about("How the run stands.", []string{"run", "iteration", "runtime", "limits", "summary", "current_state"}, object{
		"run": about("The run that asks.", []string{"id"}, object{
			"id": text("The run."), "name": text("The task."), "command": list(text(""), "What runs in the loop."), "check": list(text(""), "What judges it."),
		}),
		"iteration":     object{"type": "integer", "description": "The last one that ended."},
		"runtime":       text("Active time so far, such as 4m10s."),
		"limits":        object{"type": "object", "additionalProperties": limit, "description": "When the guards trip; off: never."},
		"summary":       text("How far the work is."),
		"current_state": text("What passes."),
		"guard":         text("The guard that tripped; left out when the command in the loop asks."),
		"also":          list(text(""), "Guards that tripped with it."),
		"reason":        text("Why it tripped."),
		"errors":        list(failed, "The last iterations that were not done, oldest first."),
		"last_output":   text("The end of the last iteration's output."),
		"decisions":     list(decision, "What was decided before, oldest first."),
		"given":         list(given, "Answers that this question has had already."),
	})
}

func closed(required []string, properties object) object {
	return object{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
}

// about is a closed object with a description.
func about(description string, required []string, properties object) object {
	s := closed(required, properties)
	s["description"] = description
	return s
}

func list(of object, description string) object {
	return object{"type": "array", "items": of, "description": description}
}

func number(description string) object { return object{"type": "integer", "description": description} }

func text(description string) object {
	if description == "" {
		return object{"type": "string"}
	}
	return object{"type": "string", "description": description}
}
