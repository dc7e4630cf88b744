package looprun

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/protocol/signal"
)

// askedKept is how many questions of the command can wait at once.
const askedKept = 64

// answeredKept is how many answers are remembered, to say who was first.
const answeredKept = 20

// Asked is a question of the command that is not done with: it waits for its
// answer, or its answer waits to be fetched.
type Asked struct {
	Question Question `json:"question"`
	Answer   *Answer  `json:"answer,omitempty"`
}

// Answered says who answered a question, and when.
type Answered struct {
	QuestionID string    `json:"question_id"`
	Time       time.Time `json:"time"`
	Answer
}

// Text is the answer in words: the options, the text, or that it was cancelled.
func (a Answer) String() string {
	switch {
	case a.Cancelled:
		return "cancelled"
	case a.Text != nil:
		return *a.Text
	case len(a.Options) > 0:
		return strings.Join(a.Options, ", ")
	}
	return a.Option
}

// Accepts checks the answer to a question of the command against the question.
func (q *Question) Accepts(a Answer) error {
	by := a.Responder
	if err := q.againstAdvice(a); err != nil {
		return err
	}
	switch {
	case q.personal(a):
		return fmt.Errorf("%s answered a question that only a person may answer", by)
	case a.Cancelled && !q.AllowCancel:
		return fmt.Errorf("%s cancelled a question that has to be answered", by)
	case a.Cancelled:
		return nil // a cancel beats whatever else was given
	case a.Text != nil:
		return q.acceptsText(a)
	case q.Kind == KindText:
		return fmt.Errorf("%s answered with an option where a text is wanted", by)
	case len(a.Options) > 0:
		return q.acceptsSeveral(a)
	case q.Kind == KindConfirm:
		if a.Option != Yes && a.Option != No {
			return fmt.Errorf("%s answered %q; the question takes yes or no", by, a.Option)
		}
		return nil
	}
	if err := q.has(by, a.Option); err != nil {
		return err
	}
	if o, _ := q.Option(a.Option); q.WantsWords(o) && a.Guidance == "" { // of a run inside this one
		return errWordless(o)
	}
	return nil
}

func (q *Question) acceptsText(a Answer) error {
	switch {
	case q.Kind != KindText && !q.AllowText:
		return fmt.Errorf("%s answered with a text, which the question does not take", a.Responder)
	case a.Option != "" || len(a.Options) > 0:
		return fmt.Errorf("%s answered with an option and with a text", a.Responder)
	case strings.TrimSpace(*a.Text) == "":
		return fmt.Errorf("%s answered with an empty text", a.Responder)
	}
	return nil
}

func (q *Question) acceptsSeveral(a Answer) error {
	if !q.Multi || a.Option != "" {
		return fmt.Errorf("%s answered with several options, and the question takes one", a.Responder)
	}
	for i, id := range a.Options {
		if slices.Contains(a.Options[:i], id) {
			return fmt.Errorf("%s answered with %q twice", a.Responder, id)
		}
		if err := q.has(a.Responder, id); err != nil {
			return err
		}
	}
	return nil
}

func (q *Question) has(by, id string) error {
	if _, ok := q.Option(id); !ok {
		return fmt.Errorf("%s answered %q; the question has %s", by, id, strings.Join(q.OptionIDs(), ", "))
	}
	return nil
}

// Unanswered is the first question of the command that waits for its answer;
// nil when there is none.
func (s *State) Unanswered() *Question {
	for i := range s.Asked {
		if s.Asked[i].Answer == nil {
			return &s.Asked[i].Question
		}
	}
	return nil
}

// Pending are all questions that wait for an answer, in the order in which they
// will be asked.
func (s *State) Pending() []Question {
	var list []Question
	if s.Question != nil && s.Answer == nil {
		list = append(list, *s.Question)
	}
	for _, a := range s.Asked {
		if a.Answer == nil {
			list = append(list, a.Question)
		}
	}
	return list
}

// objection says why the iteration that ends is not done, whatever its exit code:
// the command itself said that something is open. Only a check knows better.
func (s *State) objection() string {
	for _, sig := range s.Signals {
		if sig.Name == signal.Blocked || sig.Name == signal.Clarify ||
			sig.Name == signal.Expert && len(s.Ladder.Untried(s.Rungs, s.Task)) > 0 {
			return "the command said " + string(sig.Name)
		}
	}
	switch {
	case s.Objects != "":
		return s.Objects
	case s.Rejected != nil:
		return "the command rejected the task"
	case s.Unanswered() != nil:
		return "a question waits for its answer"
	}
	return ""
}

func (s *State) asked(id string) *Asked {
	i := slices.IndexFunc(s.Asked, func(a Asked) bool { return a.Question.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Asked[i]
}

// kept is the entry for a question that was asked before under the same name
// with the same options: its answer, once there is one and it answers this one
// too, is for who asks again.
func (s *State) kept(q Question) *Asked {
	for i := range s.Asked {
		a := &s.Asked[i]
		if q.AskID != "" && a.Question.AskID == q.AskID && a.Question.offersAs(q) && (a.Answer == nil || q.Accepts(*a.Answer) == nil) {
			return a
		}
	}
	return nil
}

// offersAs reports whether both questions offer the same to choose from. Those
// that the command gave no name have one by their place, q1 and so on, which says
// nothing: they have to ask the same as well.
func (q *Question) offersAs(other Question) bool {
	if q.ownName() == "" && q.AskID != "" && q.Text != other.Text {
		return false
	}
	same := func(a, b Option) bool { return a.ID == b.ID && a.Label == b.Label }
	return q.Kind == other.Kind && q.Multi == other.Multi && slices.EqualFunc(q.Options, other.Options, same)
}

// unfetched is the place of the oldest question whose answer waits to be fetched; -1:
// there is none.
func (s *State) unfetched() int {
	return slices.IndexFunc(s.Asked, func(a Asked) bool { return a.Answer != nil })
}

// foldAsked adds a question of the command. Where there is no room an answer gives way
// that nobody came to fetch: whoever asks for it again is asked again.
func (s *State) foldAsked(q Question) {
	if i := s.unfetched(); len(s.Asked) >= askedKept && i >= 0 {
		s.unask(s.Asked[i].Question.ID)
	}
	s.Asked = append(s.Asked, Asked{Question: q})
}

func (s *State) unask(id string) {
	s.Asked = slices.DeleteFunc(slices.Clone(s.Asked), func(a Asked) bool { return a.Question.ID == id })
}

// refuseAsked says why an event about a question of the command cannot happen.
func (s *State) refuseAsked(q Question) string {
	switch {
	case s.asked(q.ID) != nil:
		return "a question with that id waits already"
	case len(s.Asked) >= askedKept && s.unfetched() < 0:
		return fmt.Sprintf("%d questions wait for their answers already; answer those first", askedKept)
	}
	for i, o := range q.Options { // of two that are masked nobody could tell which was chosen
		if slices.ContainsFunc(q.Options[:i], func(p Option) bool { return p.ID == o.ID }) {
			return fmt.Sprintf("two of its options are recorded as %q; give each an id that holds no secret", o.ID)
		}
	}
	return ""
}

// late says that a question takes no answer (any more), who was first, and what
// waits now in its place: an answer is for one question.
func (s *State) late(questionID string) error {
	now := ""
	for _, q := range s.Pending() {
		if q.ID == questionID {
			return fmt.Errorf("question %s waits, but it is not asked now; answer it when its turn comes, or when the run has paused", questionID)
		}
		if now == "" {
			now = fmt.Sprintf("; another question waits now: %s (%s)", q.ID, q.Header)
		}
	}
	for _, a := range slices.Backward(s.Answered) {
		if a.QuestionID == questionID {
			return fmt.Errorf("%w: %s answered %s with %q at %s%s", ErrAnswered, a.Responder, questionID, a.String(), a.Time.Format(time.TimeOnly), now)
		}
	}
	return fmt.Errorf("no question %q waits for an answer%s", questionID, now)
}
