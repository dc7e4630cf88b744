package assistant

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/termsafe"
)

// Rejection returns the text that tells the command in the loop that its question was
// rejected: what was reviewed, by whom, why, and what to do next. A missing reason is
// mentioned.
func Rejection(q core.Question, a core.Answer) string {
	return strings.Join([]string{
		"Reviewed: " + cmp.Or(termsafe.Line(q.Text), termsafe.Line(q.Header)),
		fmt.Sprintf("Rejected by %s.", who(a)),
		"Reason: " + cmp.Or(clean(a.Reason), "(no reason given)"),
		"What can be done next: " + next(a),
	}, "\n") + "\n"
}

// who returns the name of whoever answered.
func who(a core.Answer) string {
	switch {
	case a.Responder == core.RespondedByPolicy, a.Responder == core.RespondedByAssistant:
		return "the " + termsafe.Line(a.Who())
	case a.Responder == core.RespondedByDetached:
		return "the detached mode, as nobody could be asked"
	case a.Person, a.Responder == core.RespondedByUser, a.Responder == core.RespondedByParent:
		return "a person"
	}
	return "looprun"
}

// next returns what the command can do next. A person's decision cannot be put to anybody
// else.
func next(a core.Answer) string {
	const change = "leave it, or do it another way that meets the reason and ask about that"
	switch {
	case a.Person, a.Responder == core.RespondedByUser, a.Responder == core.RespondedByParent:
		return change + "."
	}
	return change + "; or put it to a person with looprun ask --to user."
}
