package ask

import "encoding/json"

// StatusChoices is the value of [Choices.Status].
const StatusChoices = "paused_awaiting_choices"

// Choices is the document that a command which cannot wait prints, or writes to
// $LOOPRUN_DIR/questions.json, before it exits. looprun asks, and the next iteration receives
// the answers.
type Choices struct {
	Schema        string          `json:"schema,omitempty"` // [ChoicesSchema], or empty
	Status        string          `json:"status"`           // always [StatusChoices]
	PartialResult json.RawMessage `json:"partial_result,omitempty"`
	// PendingUserChoices holds one or more questions; ask them in [Batches].
	PendingUserChoices []Question `json:"pending_user_choices"`
}

// ParseChoices parses the document, fills in defaults, and validates it. The error is
// [Problems], written for the command to read; an empty list is one.
func ParseChoices(data []byte) (Choices, error) {
	var c Choices
	ps := choicesShape().Read(data, &c)
	const at = "pending_user_choices"
	c.PendingUserChoices = withDefaults(c.PendingUserChoices)
	checkQuestions(c.PendingUserChoices, at, &ps)
	if len(ps) > 0 {
		return Choices{}, ps
	}
	c.Schema = ChoicesSchema
	return c, nil
}
