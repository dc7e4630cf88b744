package ask

import (
	"fmt"

	"github.com/looprun/looprun/internal/nearest"
)

// The names of the schemas, in the order of the documentation.
var schemaNames = []string{"question", "answer", "choices"}

// Schema returns the JSON Schema (2020-12) of a [Request] (question), a [Response] (answer) or
// [Choices] (choices), with a final line break.
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
	return s.Document(id, "looprun "+name), nil
}
