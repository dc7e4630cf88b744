package ask

import (
	"fmt"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/strictjson"
)

type (
	shape  = strictjson.Shape
	field  = strictjson.Field
	object = strictjson.Schema
)

func text(about string) shape { return shape{Form: strictjson.Text, NoNUL: true, About: about} }

func word(about string, words ...string) shape {
	return shape{Form: strictjson.Text, NoNUL: true, About: about, Words: words}
}

func flag(about string) shape { return shape{Form: strictjson.Bool, About: about} }

func filled(about string) shape {
	return shape{Form: strictjson.Text, NoNUL: true, About: about, Filled: true}
}

func list(about string, least, most int, of shape) shape {
	return shape{Form: strictjson.List, About: about, Least: least, Most: most, Items: &of}
}

func requestShape() shape {
	return shape{
		Form:  strictjson.Object,
		About: "What a command asks, in one round.",
		Fields: []field{
			strictjson.Optional("type", word("The type of the message, on the run's socket.", "ask")),
			strictjson.Optional("schema", word("The version of the protocol.", QuestionSchema)),
			strictjson.Optional("id", text("Names the request; the response has the same id.")),
			strictjson.Required("questions", list("The questions.", 1, MaxQuestions, questionShape())),
			strictjson.Optional("to", word("Who may answer. Left out: as the run is configured.", ToUser, ToAssistant, ToAssistantWithEscalation)),
		},
	}
}

func questionShape() shape {
	header := text(fmt.Sprintf("A word or two, at most %d characters.", MaxHeader))
	header.Most = MaxHeader
	options := list("What can be chosen: 2 to 4 for select, none for the other kinds.", 0, MaxOptions, optionShape())
	return shape{
		Form:  strictjson.Object,
		About: "One decision.",
		Fields: []field{
			strictjson.Optional("id", text("Names the question in its answer. Left out: q1, q2 and so on by its place.")),
			strictjson.Optional("header", header),
			strictjson.Required("question", filled("What is asked.")),
			strictjson.Optional("kind", word("What answers it: an option, yes or no, or a text. Left out: select.", string(core.KindSelect), string(core.KindConfirm), string(core.KindText))),
			strictjson.Optional("options", options),
			strictjson.Optional("multi_select", flag("Whether several options can be chosen.")),
			strictjson.Optional("allow_text", flag("Whether a text is accepted instead of an option. Left out: true for select, false for confirm.")),
			strictjson.Optional("allow_cancel", flag("Whether the question can be declined.")),
			strictjson.Optional("exclusive", flag("Whether a person has to answer.")),
			strictjson.Optional("default", text("The answer if nobody answers and the run is set to defaults: the id of an option, yes or no, or a text.")),
			strictjson.Optional("safe", word("What the exit code of a confirm question says when nobody answers.", core.Yes, core.No)),
			strictjson.Optional("again", flag("Whether it is asked although the same question, with the same id, was answered before.")),
		},
		Also: object{"allOf": kindRules()},
	}
}

// kindRules returns the rules for which fields go with which kind; Question.check enforces the
// same.
func kindRules() []object {
	of := func(kind core.Kind) object {
		return object{"properties": object{"kind": object{"const": kind}}, "required": []string{"kind"}}
	}
	return []object{
		{
			"if":   object{"properties": object{"kind": object{"enum": []core.Kind{core.KindConfirm, core.KindText}}}, "required": []string{"kind"}},
			"then": object{"properties": object{"options": object{"maxItems": 0}, "multi_select": object{"const": false}}},
			"else": object{"properties": object{"options": object{"minItems": MinOptions}, "safe": object{"const": ""}}, "required": []string{"options"}},
		},
		{"if": of(core.KindConfirm), "then": object{"properties": object{"default": object{"enum": []string{"", core.Yes, core.No}}}}},
		{"if": of(core.KindText), "then": object{"properties": object{"allow_text": object{"const": true}, "safe": object{"const": ""}}}},
	}
}

func optionShape() shape {
	return shape{
		Form:  strictjson.Object,
		About: "One answer to a select question.",
		Fields: []field{
			strictjson.Optional("id", text("Names the option in the answer. Left out: made of the label.")),
			strictjson.Required("label", filled("What a person chooses. No two are the same.")),
			strictjson.Optional("description", text("What it means.")),
		},
	}
}

func responseShape() shape {
	return shape{
		Form:  strictjson.Object,
		About: "The answers to a request, one for each question.",
		Fields: []field{
			strictjson.Optional("schema", word("The version of the protocol.", AnswerSchema)),
			strictjson.Optional("id", text("The id of the request.")),
			strictjson.Required("answers", list("The answers. The file LOOPRUN_ANSWERS has those of several rounds.", 1, 0, answerShape())),
		},
	}
}

// ShortAnswerShape returns the form of a [ShortAnswer]: the members that answer, then those
// that go with them.
func ShortAnswerShape() strictjson.Shape {
	text := strictjson.Shape{Form: strictjson.Text, Nullable: true}
	return strictjson.Shape{Form: strictjson.Object, Fields: []strictjson.Field{
		strictjson.Optional("option", text),
		strictjson.Optional("options", strictjson.Shape{Form: strictjson.List, Nullable: true, Items: &text}),
		strictjson.Optional("text", text),
		strictjson.Optional("cancel", strictjson.Shape{Form: strictjson.Bool, Nullable: true}),
		strictjson.Optional("reason", text),
		strictjson.Optional("guidance", text),
		strictjson.Optional("question", text),
	}}
}

func answerShape() shape {
	typed := text("The answer as text, if the question takes text; it replaces a selection.")
	typed.Nullable = true
	return shape{
		Form:  strictjson.Object,
		About: "The answer to one question.",
		Fields: []field{
			strictjson.Required("id", text("The id of the question.")),
			strictjson.Optional("selected", shape{Form: strictjson.Selected, NoNUL: true, Nullable: true, About: "The id of an option, or yes or no; a list of ids for multi_select; null when it was answered as text or cancelled."}),
			strictjson.Optional("text", typed),
			strictjson.Optional("cancelled", flag("Whether the question was declined, where it allows that. It takes precedence over text.")),
			strictjson.Optional("responder", text("Who answered: when_stuck, policy, assistant, parent, user, detached.")),
			strictjson.Optional("person", flag("Whether a person gave the answer.")),
			strictjson.Optional("assistant", shape{Form: strictjson.Object, About: "Which assistant it was.", Fields: []field{
				strictjson.Optional("name", text("What it is called.")), strictjson.Optional("model", text("The model that it asked.")),
			}}),
			strictjson.Optional("reason", text("Why.")),
			strictjson.Optional("earlier", flag("Whether nobody was asked: it is the answer to the same question before.")),
		},
		Also: object{"allOf": []object{{
			"if":   object{"properties": object{"cancelled": object{"const": true}}, "required": []string{"cancelled"}},
			"then": object{"properties": object{"selected": object{"const": nil}}},
			"else": object{"anyOf": []object{
				{"properties": object{"selected": object{"type": []string{"string", "array"}}, "text": object{"const": nil}}, "required": []string{"selected"}},
				{"properties": object{"selected": object{"const": nil}, "text": object{"type": "string"}}, "required": []string{"text"}},
			}},
		}}},
	}
}

func choicesShape() shape {
	questions := list("The questions. More than four are asked in several rounds.", 1, 0, questionShape())
	questions.TooFew = "name at least one question, or exit without this document when there is nothing to decide"
	return shape{
		Form:  strictjson.Object,
		About: "What a command that cannot wait prints before it exits.",
		Fields: []field{
			strictjson.Optional("schema", word("The version of the protocol.", ChoicesSchema)),
			strictjson.Required("status", word("Says what the document is.", StatusChoices)),
			strictjson.Optional("partial_result", shape{Form: strictjson.Any, About: "What the command has so far, in any form."}),
			strictjson.Required("pending_user_choices", questions),
		},
	}
}
