package assistant

import (
	"errors"
	"fmt"
	"slices"

	"github.com/looprun/looprun/core"
)

// Reply is what the command prints on its standard output, and nothing else.
type Reply struct {
	// Reason says why, in a sentence or two. It comes first, so that a model
	// thinks before it decides. Never blank; of a longer one the first 4 KiB
	// are kept.
	Reason string `json:"reason"`
	// Answer is a bool for a confirm question, the id of an option for a select
	// question, and a text that is not blank for a text question.
	Answer any `json:"answer"`
}

// Check reads what the command printed as the reply to this request. The error
// says what is wrong, in words that help the command to get it right.
func (r Request) Check(printed []byte) (Reply, error) {
	if len(printed) > outputLimit {
		return r.check(output{long: true})
	}
	return r.check(output{text: printed})
}

func (r Request) check(out output) (Reply, error) {
	switch {
	case out.long:
		return Reply{}, errors.New("more than 1 MiB was printed; print the reply only, and anything else to stderr")
	case !slices.Contains(kinds, r.Question.Kind):
		return Reply{}, fmt.Errorf("there is no answer to questions of the kind %q", r.Question.Kind)
	}
	var reply Reply
	if ps := replyShape(r.Question).Read(out.text, &reply); len(ps) > 0 {
		return Reply{}, fmt.Errorf(`%w; print one JSON object, {"reason": …, "answer": …}, and nothing else`, ps)
	}
	if text, ok := reply.Answer.(string); ok && r.Question.Kind == core.KindText {
		reply.Answer = clean(text)
	}
	reply.Reason = cut(clean(reply.Reason), reasonKept)
	return reply, nil
}

// answer is the checked reply to a question of that kind as looprun records it.
func (r Reply) answer(kind core.Kind) core.Answer {
	a := core.Answer{Responder: core.RespondedByAssistant, Reason: r.Reason}
	switch v := r.Answer.(type) {
	case bool:
		a.Option = core.No
		if v {
			a.Option = core.Yes
		}
	case string:
		if a.Option = v; kind == core.KindText {
			a.Option, a.Text = "", &v
		}
	}
	return a
}
