package assistant

import (
	"errors"
	"fmt"
	"slices"

	"github.com/looprun/looprun/core"
)

// Reply is the only content that the command may print on its standard output.
type Reply struct {
	// Reason is the reason, in a sentence or two. It comes first, so that a model thinks
	// before it decides. It must not be blank; only the first 4 KiB are kept.
	Reason string `json:"reason"`
	// Answer is a bool for a confirm question, the id of an option for a select question, and
	// a nonblank text for a text question.
	Answer any `json:"answer"`
}

// Check parses the command's output as the reply to this request. The error describes the
// problem in words that help the command to correct it.
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

// answer returns the checked reply to a question of that kind as looprun records it.
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
