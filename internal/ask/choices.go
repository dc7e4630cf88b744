package ask

import "encoding/json"

// StatusChoices is the value of [Choices.Status].
const StatusChoices = "paused_awaiting_choices"

// Choices is the document that a command which cannot wait prints, or writes to
// $LOOPRUN_DIR/questions.json, before it exits. looprun asks, and the next iteration receives
// the answers.
type Choices struct {
	Schema             string          `json:"schema,omitempty" doc:"The version of the protocol." is:"words=looprun.dev/choices/v1"`
	Status             string          `json:"status" doc:"Says what the document is." is:"required words=paused_awaiting_choices"`
	PartialResult      json.RawMessage `json:"partial_result,omitempty" doc:"What the command has so far, in any form."`
	PendingUserChoices []Question      `json:"pending_user_choices" doc:"The questions. More than four are asked in several rounds." is:"required least=1"` // ask them in [Batches]
}

// ParseChoices parses the document, fills in defaults, and validates it. Its error is
// [Problems], written for the command to read. A list without questions is an error too.
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
