package ask

import (
	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/strictjson"
)

type (
	shape  = strictjson.Shape
	object = strictjson.Schema
)

// shapeOf returns the shape of the value that v points to.
func shapeOf(v any, about string) shape {
	s := strictjson.Of(v, shape{NoNUL: true})
	s.About = about
	return s
}

func requestShape() shape {
	s := shapeOf(new(Request), "What a command asks, in one round.")
	*s.At("questions").Items = questionShape()
	return s
}

func questionShape() shape {
	s := shapeOf(new(Question), "One decision.")
	s.At("options").Items.About = "One answer to a select question."
	s.Also = object{"allOf": kindRules()}
	return s
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

func responseShape() shape {
	s := shapeOf(new(Response), "The answers to a request, one for each question.")
	answer := s.At("answers").Items
	answer.About = "The answer to one question."
	answer.Also = object{"allOf": []object{{
		"if":   object{"properties": object{"cancelled": object{"const": true}}, "required": []string{"cancelled"}},
		"then": object{"properties": object{"selected": object{"const": nil}}},
		"else": object{"anyOf": []object{
			{"properties": object{"selected": object{"type": []string{"string", "array"}}, "text": object{"const": nil}}, "required": []string{"selected"}},
			{"properties": object{"selected": object{"const": nil}, "text": object{"type": "string"}}, "required": []string{"text"}},
		}},
	}}}
	return s
}

// ShortAnswerShape returns the form of a [ShortAnswer]: the members that answer, then those
// that go with them.
func ShortAnswerShape() strictjson.Shape {
	return strictjson.Of(new(ShortAnswer), shape{Nullable: true})
}

func choicesShape() shape {
	s := shapeOf(new(Choices), "What a command that cannot wait prints before it exits.")
	questions := s.At("pending_user_choices")
	*questions.Items = questionShape()
	questions.TooFew = "name at least one question, or exit without this document when there is nothing to decide"
	return s
}
