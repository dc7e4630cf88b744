package ask

import "encoding/json"

// StatusChoices is [Choices.Status].
const StatusChoices = "paused_awaiting_choices"

// Choices is what a command that cannot wait prints, or writes to
// $LOOPRUN_DIR/questions.json, before it exits. looprun asks, and the next
// iteration gets the answers.
type Choices struct {
	Schema        string          `json:"schema,omitempty"` // [ChoicesSchema], or empty
	Status        string          `json:"status"`           // always [StatusChoices]
	PartialResult json.RawMessage `json:"partial_result,omitempty"`
	// PendingUserChoices are one or more; ask them in [Batches].
	PendingUserChoices []Question `json:"pending_user_choices"`
}

// ParseChoices reads the document, fills in what may be left out, and checks it.
// The error is [Problems], for the command to read: an empty list is one.
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
