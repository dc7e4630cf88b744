package ask

import "fmt"

func text(about string) shape { return shape{form: formText, about: about} }

func word(about string, words ...string) shape {
	return shape{form: formText, about: about, words: words}
}

func flag(about string) shape { return shape{form: formBool, about: about} }

func filled(about string) shape { return shape{form: formText, about: about, filled: true} }

func list(about string, least, most int, of shape) shape {
	return shape{form: formList, about: about, least: least, most: most, items: &of}
}

func requestShape() shape {
	return shape{
		form:  formObject,
		about: "What a command asks, in one round.",
		fields: []field{
			{"type", false, word("The type of the message, on the run's socket.", "ask")},
			{"schema", false, word("The version of the protocol.", QuestionSchema)},
			{"id", false, text("Names the request; the response has the same id.")},
			{"questions", true, list("The questions.", 1, MaxQuestions, questionShape())},
			{"to", false, word("Who may answer. Left out: whoever the run is set up with.", ToUser, ToAssistant, ToAssistantWithEscalation)},
		},
	}
}

func questionShape() shape {
	header := text(fmt.Sprintf("A word or two, at most %d characters.", MaxHeader))
	header.most = MaxHeader
	options := list("What can be chosen: 2 to 4 for select, none for the other kinds.", 0, MaxOptions, optionShape())
	return shape{
		form:  formObject,
		about: "One decision.",
		fields: []field{
			{"id", false, text("Names the question in its answer. Left out: q1, q2 and so on by its place.")},
			{"header", false, header},
			{"question", true, filled("What is asked.")},
			{"kind", false, word("What answers it: an option, yes or no, or a text. Left out: select.", string(KindSelect), string(KindConfirm), string(KindText))},
			{"options", false, options},
			{"multi_select", false, flag("Whether several options can be chosen.")},
			{"allow_text", false, flag("Whether a text can stand in place of an option. Left out: true for select, false for confirm.")},
			{"allow_cancel", false, flag("Whether the question can be declined.")},
			{"exclusive", false, flag("Whether a person has to answer.")},
			{"default", false, text("What counts where nobody answers and the run is set to defaults: the id of an option, yes or no, or a text.")},
			{"safe", false, word("What the exit code of a confirm question says when nobody answers.", Yes, No)},
		},
		rules: kindRules(),
	}
}

// kindRules say what goes with which kind; Question.check does the same.
func kindRules() []object {
	of := func(kind Kind) object {
		return object{"properties": object{"kind": object{"const": kind}}, "required": []string{"kind"}}
	}
	return []object{
		{
			"if":   object{"properties": object{"kind": object{"enum": []Kind{KindConfirm, KindText}}}, "required": []string{"kind"}},
			"then": object{"properties": object{"options": object{"maxItems": 0}, "multi_select": object{"const": false}}},
			"else": object{"properties": object{"options": object{"minItems": MinOptions}, "safe": object{"const": ""}}, "required": []string{"options"}},
		},
		{"if": of(KindConfirm), "then": object{"properties": object{"default": object{"enum": []string{"", Yes, No}}}}},
		{"if": of(KindText), "then": object{"properties": object{"allow_text": object{"const": true}, "safe": object{"const": ""}}}},
	}
}

func optionShape() shape {
	return shape{
		form:  formObject,
		about: "One answer to a select question.",
		fields: []field{
			{"id", false, text("Names the option in the answer. Left out: made of the label.")},
			{"label", true, filled("What a person chooses. No two are the same.")},
			{"description", false, text("What it means.")},
		},
	}
}

func responseShape() shape {
	return shape{
		form:  formObject,
		about: "The answers to a request, one for each question.",
		fields: []field{
			{"schema", false, word("The version of the protocol.", AnswerSchema)},
			{"id", false, text("The id of the request.")},
			{"answers", true, list("The answers.", 1, MaxQuestions, answerShape())},
		},
	}
}

func answerShape() shape {
	typed := text("The answer as text, where the question takes text; it stands in place of a selection.")
	typed.nullable = true
	return shape{
		form:  formObject,
		about: "The answer to one question.",
		fields: []field{
			{"id", true, text("The id of the question.")},
			{"selected", false, shape{form: formSelected, nullable: true, about: "The id of an option, or yes or no; a list of ids for multi_select; null when it was answered as text or cancelled."}},
			{"text", false, typed},
			{"cancelled", false, flag("Whether the question was declined, where it allows that. It beats text.")},
			{"responder", false, text("Who answered: policy, assistant, parent, user, detached.")},
			{"reason", false, text("Why.")},
		},
		rules: []object{{
			"if":   object{"properties": object{"cancelled": object{"const": true}}, "required": []string{"cancelled"}},
			"then": object{"properties": object{"selected": object{"const": nil}}},
			"else": object{"anyOf": []object{
				{"properties": object{"selected": object{"type": []string{"string", "array"}}, "text": object{"const": nil}}, "required": []string{"selected"}},
				{"properties": object{"selected": object{"const": nil}, "text": object{"type": "string"}}, "required": []string{"text"}},
			}},
		}},
	}
}

func choicesShape() shape {
	return shape{
		form:  formObject,
		about: "What a command that cannot wait prints before it exits.",
		fields: []field{
			{"schema", false, word("The version of the protocol.", ChoicesSchema)},
			{"status", true, word("Says what the document is.", StatusChoices)},
			{"partial_result", false, shape{form: formAny, about: "What the command has so far, in any form."}},
			{"pending_user_choices", true, list("The questions. More than four are asked in several rounds.", 1, 0, questionShape())},
		},
	}
}
