package ask

import (
	"encoding/json"
	"fmt"

	"github.com/looprun/looprun/internal/nearest"
)

// object is one JSON Schema.
type object = map[string]any

// The names of the schemas, in the order in which they are documented.
var schemaNames = []string{"question", "answer", "choices"}

// Schema is the JSON Schema (2020-12) of a [Request] (question), a [Response]
// (answer) or [Choices] (choices), with a line break at the end.
func Schema(name string) ([]byte, error) {
	var s shape
	var id string
	switch name {
	case "question":
		s, id = requestShape(), QuestionSchema
	case "answer":
		s, id = responseShape(), AnswerSchema
	case "choices":
		s, id = choicesShape(), ChoicesSchema
	default:
		return nil, fmt.Errorf("there is no schema %s; %s", excerpt(name), nearest.DidYouMean(name, schemaNames))
	}
	schema := s.schema()
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$id"] = "https://" + id
	schema["title"] = "looprun " + name
	data, _ := json.MarshalIndent(schema, "", "  ") // texts, numbers and lists always encode
	return append(data, '\n'), nil
}

func (s shape) schema() object {
	out := object{}
	if s.about != "" {
		out["description"] = s.about
	}
	types := map[form]any{formText: "string", formBool: "boolean", formList: "array", formObject: "object"}
	if t, ok := types[s.form]; ok {
		out["type"] = t
		if s.nullable {
			out["type"] = []any{t, "null"}
		}
	}
	if len(s.words) > 0 {
		out["enum"] = s.words
	}
	if s.filled {
		out["pattern"] = `\S`
	}
	switch s.form {
	case formText:
		if s.most > 0 {
			out["maxLength"] = s.most
		}
	case formList:
		out["items"] = s.items.schema()
		if s.least > 0 {
			out["minItems"] = s.least
		}
		if s.most > 0 {
			out["maxItems"] = s.most
		}
	case formSelected:
		out["type"] = []any{"string", "array", "null"}
		out["items"] = object{"type": "string"}
		out["minItems"] = 1
		out["uniqueItems"] = true
	case formObject:
		properties, required := object{}, []string{}
		for _, f := range s.fields {
			properties[f.name] = f.shape.schema()
			if f.required {
				required = append(required, f.name)
			}
		}
		out["properties"], out["required"], out["additionalProperties"] = properties, required, false
	}
	if len(s.rules) > 0 {
		out["allOf"] = s.rules
	}
	return out
}
