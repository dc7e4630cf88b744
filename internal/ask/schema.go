package ask

// QuestionDocument returns the JSON Schema (2020-12) of a [Request], with a final line break.
func QuestionDocument() []byte { return requestShape().Document(QuestionSchema, "looprun question") }

// AnswerDocument returns the JSON Schema of a [Response].
func AnswerDocument() []byte { return responseShape().Document(AnswerSchema, "looprun answer") }

// ChoicesDocument returns the JSON Schema of [Choices].
func ChoicesDocument() []byte { return choicesShape().Document(ChoicesSchema, "looprun choices") }
