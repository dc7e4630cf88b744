package scratchpad_test

import (
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
)

// The next iteration reads each answer to the command with its task and question, as it was
// written.
func TestContextHasTheAnswers(t *testing.T) {
	s := &core.State{Task: "Port the parser", Asked: []core.Asked{
		{Question: core.Question{ID: "q1", AskID: "schema", Text: "Which table?", Options: []core.Option{{ID: "new", Label: "The [new] one"}}}, Answer: &core.Answer{Option: "new", Reason: "it is user_sessions"}},
		{Question: core.Question{ID: "q2", Text: "Still open?"}},
	}}
	page := string(scratchpad.Context(s, scratchpad.ContextOptions{}))
	const want = "## Answers\n\nTask: Port the parser\nQuestion: Which table?\nGuidance: The [new] one (it is user_sessions)\n\n"
	if !strings.Contains(page, want) || strings.Contains(page, "Still open?") {
		t.Errorf("%s", page)
	}
	s.Task = ""
	if page = string(scratchpad.Context(s, scratchpad.ContextOptions{})); !strings.Contains(page, "## Answers\n\nQuestion: Which table?\n") {
		t.Errorf("without a task: %s", page)
	}
}
