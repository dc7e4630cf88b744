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
	ps := choicesShape().parse(data, &c)
	const at = "pending_user_choices"
	if ps.has(at) && len(c.PendingUserChoices) == 0 {
		for i := range ps {
			if ps[i].Path == at && ps[i].Text == "it is empty" {
				ps[i].Remedy = "name at least one question, or exit without this document when there is nothing to decide"
			}
		}
	}
	c.PendingUserChoices = withDefaults(c.PendingUserChoices)
	checkQuestions(c.PendingUserChoices, at, &ps)
	if len(ps) > 0 {
		return Choices{}, ps
	}
	c.Schema = ChoicesSchema
	return c, nil
}
