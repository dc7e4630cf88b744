package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/internal/termsafe"
)

// Response answers a request.
type Response struct {
	Schema  string   `json:"schema,omitempty" doc:"The version of the protocol." is:"words=looprun.dev/answer/v1"`
	ID      string   `json:"id,omitempty" doc:"The id of the request."`
	Answers []Answer `json:"answers" doc:"The answers. The file LOOPRUN_ANSWERS has those of several rounds." is:"required least=1"`
}

// Answer answers one question: by Selected, by Text, or by being Cancelled.
type Answer struct {
	ID        string         `json:"id" doc:"The id of the question." is:"required"`
	Selected  Selected       `json:"selected" doc:"The id of an option, or yes or no; a list of ids for multi_select; null when it was answered as text or cancelled." is:"null"`
	Text      *string        `json:"text" doc:"The answer as text, if the question takes text; it replaces a selection." is:"null"`
	Cancelled bool           `json:"cancelled" doc:"Whether the question was declined, where it allows that. It takes precedence over text."`
	Responder string         `json:"responder" doc:"Who answered: when_stuck, policy, assistant, parent, user, detached."`
	Person    bool           `json:"person,omitempty" doc:"Whether a person gave the answer."`
	Assistant core.Assistant `json:"assistant,omitzero" doc:"Which assistant it was."`
	Reason    string         `json:"reason" doc:"Why."`
	Earlier   bool           `json:"earlier,omitempty" doc:"Whether nobody was asked: it is the answer to the same question before."`
}

// Who returns who answered, in the form of [core.Answer.Who].
func (a Answer) Who() string {
	return core.Answer{Responder: a.Responder, Assistant: a.Assistant}.Who()
}

// ShortAnswer answers one question of any kind: looprun answer accepts it instead of a
// response, and the page sends it.
type ShortAnswer struct {
	Option   string   `json:"option,omitempty"`
	Options  []string `json:"options,omitempty"` // of a question that takes several
	Text     *string  `json:"text,omitempty"`
	Cancel   bool     `json:"cancel,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Guidance string   `json:"guidance,omitempty"`
	Question string   `json:"question,omitempty"` // its id; empty: the only one that waits
}

// Selected is the choice: nothing, one id, or a list of ids. In JSON it is null, a text, or a
// list of texts. The zero value is nothing.
type Selected struct {
	ids  []string
	list bool
}

// Form is what it is in JSON.
func (Selected) Form() strictjson.Form { return strictjson.Selected }

// One returns the choice of one option, or of yes or no.
func One(id string) Selected { return Selected{ids: []string{id}} }

// Several returns the choice of several options of a multi-select question.
func Several(ids ...string) Selected { return Selected{ids: slices.Clone(ids), list: true} }

// IsNull reports whether nothing was chosen. An empty list is a choice.
func (s Selected) IsNull() bool { return !s.list && len(s.ids) == 0 }

// IsList reports whether the choice is a list.
func (s Selected) IsList() bool { return s.list }

// IDs returns the chosen ids.
func (s Selected) IDs() []string { return slices.Clone(s.ids) }

// MarshalJSON writes null, a text or a list.
func (s Selected) MarshalJSON() ([]byte, error) {
	switch {
	case s.IsNull():
		return []byte("null"), nil
	case s.list && s.ids == nil:
		return []byte("[]"), nil
	case s.list:
		return json.Marshal(s.ids)
	}
	return json.Marshal(s.ids[0])
}

// UnmarshalJSON reads null, a text or a list of texts.
func (s *Selected) UnmarshalJSON(data []byte) error {
	*s = Selected{}
	var one *string
	if json.Unmarshal(data, &one) == nil {
		if one != nil {
			*s = One(*one)
		}
		return nil
	}
	var several []string
	if err := json.Unmarshal(data, &several); err != nil {
		return errors.New("selected has to be " + string(strictjson.Selected))
	}
	*s = Several(several...)
	return nil
}

// CheckResponse checks that the response answers each question of the request exactly once and
// nothing else, and checks each answer with [CheckAnswer]. The error is [Problems].
func CheckResponse(request Request, response Response) error {
	var ps Problems
	if response.ID != request.ID {
		ps.Add("id", fmt.Sprintf("the response is to %s, the request is %s", excerpt(response.ID), excerpt(request.ID)), "")
	}
	questions := withDefaults(request.Questions)
	answered := map[string]bool{}
	for i, a := range response.Answers {
		at := fmt.Sprintf("answers[%d]", i)
		j := slices.IndexFunc(questions, func(q Question) bool { return q.ID == a.ID })
		switch {
		case j < 0:
			ps.Add(at+".id", "there is no question "+excerpt(a.ID), "")
		case answered[a.ID]:
			ps.Add(at+".id", excerpt(a.ID)+" is answered twice", "")
		default:
			if err := CheckAnswer(questions[j], a); err != nil {
				ps.Add(at, err.Error(), "")
			}
		}
		answered[a.ID] = true
	}
	for _, q := range questions {
		if !answered[q.ID] {
			ps.Add("answers", "there is no answer to "+excerpt(q.ID), "")
		}
	}
	return ps.Err()
}

// Normalize returns the effective form of an answer: a cancel takes precedence over typed
// text.
func Normalize(a Answer) Answer {
	if a.Cancelled {
		a.Text = nil
	}
	return a
}

// CheckAnswer checks that the answer, after [Normalize], answers the question. The error
// describes what is wrong and what would be right.
func CheckAnswer(q Question, a Answer) error {
	a = Normalize(a)
	q = q.withDefaults()
	switch {
	case q.ID != "" && a.ID != q.ID:
		return fmt.Errorf("the answer is to %s, the question is %s", excerpt(a.ID), excerpt(q.ID))
	case a.Cancelled && !q.AllowCancel:
		return errors.New("the question cannot be cancelled; " + q.wanted())
	case a.Cancelled && !a.Selected.IsNull():
		return errors.New("a cancelled answer selects nothing; leave one of the two out")
	case a.Cancelled:
		return nil
	case a.Text != nil && !q.TakesText():
		return errors.New("the question takes no text; " + q.wanted())
	case a.Text != nil && !a.Selected.IsNull():
		return errors.New("give either a text or a selection")
	case a.Text != nil && termsafe.Line(*a.Text) == "":
		return errors.New("the text is blank; " + q.wanted())
	case a.Text != nil && strings.ContainsRune(*a.Text, 0):
		return errors.New("the text contains a NUL character; leave that out")
	case a.Text != nil:
		return nil
	case a.Selected.IsNull():
		return errors.New("nothing is selected; " + q.wanted())
	}
	return q.checkSelected(a.Selected)
}

func (q Question) checkSelected(s Selected) error {
	ids := q.ids()
	switch {
	case q.Kind == core.KindText:
		return errors.New("the question has nothing to select; " + q.wanted())
	case s.list && !q.MultiSelect:
		return errors.New("one option is selected by a text, not by a list; " + q.wanted())
	case !s.list && q.MultiSelect:
		return errors.New("options are selected by a list; " + q.wanted())
	case len(s.ids) == 0:
		return errors.New("no option is selected; " + q.wanted())
	}
	for i, id := range s.ids {
		if !slices.Contains(ids, id) {
			return fmt.Errorf("there is no option %s; %s", excerpt(id), nearest.DidYouMean(id, ids))
		}
		if slices.Contains(s.ids[:i], id) {
			return fmt.Errorf("the option %s is selected twice", excerpt(id))
		}
	}
	return nil
}

// wanted describes what would be a valid answer.
func (q Question) wanted() string {
	var ways []string
	switch {
	case q.Kind == core.KindText:
	case q.MultiSelect:
		ways = append(ways, "select from "+strings.Join(q.ids(), ", ")+" by a list")
	default:
		ways = append(ways, "select one of "+strings.Join(q.ids(), ", "))
	}
	if q.TakesText() {
		ways = append(ways, "give a text that is not blank")
	}
	if q.AllowCancel {
		ways = append(ways, "cancel")
	}
	return strings.Join(ways, ", or ")
}
