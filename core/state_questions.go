package core

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// askedKept is how many questions of the command can wait at once.
const askedKept = 64

// answeredKept is how many answers are remembered, to report who answered first.
const answeredKept = 20

// Unanswered returns the first question of the command that waits for its answer; nil if there
// is none.
func (s *State) Unanswered() *Question {
	for i := range s.Asked {
		if s.Asked[i].Answer == nil {
			return &s.Asked[i].Question
		}
	}
	return nil
}

// Pending returns all questions that wait for an answer, in the order in which they will be
// asked.
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

// Answerable returns the questions that can still be answered: the pending ones, unless the
// run has ended for good.
func (s *State) Answerable() []Question {
	if s.Ended && !s.Ending.Status.Resumable() {
		return nil
	}
	return s.Pending()
}

// Unused returns, in words, the last answer that was given while the run was not running and
// has not been carried out; empty if there is none. Resuming the run uses it.
func (s *State) Unused() string {
	if !s.Ended || !s.Ending.Status.Resumable() || len(s.Pending()) > 0 {
		return ""
	}
	if s.Answer != nil {
		return s.Question.Labels(*s.Answer)
	}
	if i := s.unfetched(); i >= 0 {
		return s.Asked[i].Question.Labels(*s.Asked[i].Answer)
	}
	return ""
}

// Concludes reports whether carrying out the answer ends or pauses the run, so that nothing
// needs to run for it.
func (s *State) Concludes() bool {
	if s.Answer == nil || s.Question == nil {
		return false
	}
	o, err := s.Question.Resolve(*s.Answer)
	return err == nil && (o.Action.Ends() || o.Action == ActionPause)
}

// objection returns why the iteration that is ending is not done whatever its exit code: the
// command itself reported that something is open. Only a check can overrule it.
func (s *State) objection() string {
	for _, sig := range s.Signals {
		if sig.Name.Asks() ||
			sig.Name == signal.Expert && len(s.Ladder.Untried(s.Rungs, cmp.Or(s.climbed(), s.Task))) > 0 {
			return "the command signalled " + string(sig.Name)
		}
	}
	switch {
	case s.Objects != "":
		return s.Objects
	case s.Rejected != nil:
		return "the command rejected the task"
	case s.Unanswered() != nil:
		return waitsForAnswer
	}
	return ""
}

// waitsForAnswer is why an iteration whose question got no answer is not done.
const waitsForAnswer = "a question waits for an answer"

// sameOver is how many times in a row an iteration may end as waiting for an answer to the
// same question. After that it counts, because the answer changes nothing.
const sameOver = 2

// asksInVain reports whether the same question has been waited for and answered so often that
// an iteration that asks it once more counts.
func (s *State) asksInVain(q *Question) bool {
	return s.SameQuestions >= sameOver && s.SameQuestion == q.offer()
}

// foldWaiting counts an iteration that ended as waiting for the answer to q.
func (s *State) foldWaiting(q *Question) {
	if same := q.offer(); same != s.SameQuestion {
		s.SameQuestion, s.SameQuestions = same, 0
	}
	s.SameQuestions++
}

func (s *State) asked(id string) *Asked {
	i := slices.IndexFunc(s.Asked, func(a Asked) bool { return a.Question.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Asked[i]
}

// Kept returns the entry for an earlier question with the same name and the same options. If
// its answer fits this question too, the new asker receives it.
func (s *State) Kept(q Question) *Asked {
	for i := range s.Asked {
		a := &s.Asked[i]
		if q.AskID != "" && a.Question.AskID == q.AskID && a.Question.offersAs(q) && (a.Answer == nil || q.Accepts(*a.Answer) == nil) {
			return a
		}
	}
	return nil
}

// Remembered returns the last answer to the same question, if the command asks it again under
// the name it gave it; nil if it must be asked. Questions that permit something or that only a
// person may answer are asked every time.
func (s *State) Remembered(q Question) *Answered {
	if q.Again || q.ownName() == "" || q.Kind == KindConfirm || q.Exclusive || q.Mandatory || q.Advice != nil || len(q.Path) > 0 {
		return nil
	}
	for _, a := range slices.Backward(s.Answered) {
		if a.Asked == nil || a.Asked.AskID != q.AskID {
			continue
		}
		if a.Masked || a.Cancelled || a.Responder == RespondedByDetached || !a.Asked.asksAs(q) || q.Accepts(a.Answer) != nil {
			return nil
		}
		return &a
	}
	return nil
}

// asksAs reports whether both questions ask the same people the same thing with the same
// choices.
func (q *Question) asksAs(other Question) bool {
	return q.Kind == other.Kind && q.Text == other.Text && slices.Equal(q.Options, other.Options) && q.To == other.To &&
		q.Multi == other.Multi && q.AllowText == other.AllowText && q.Advice == nil
}

// unfetched returns the index of the oldest question whose answer waits to be fetched; -1 if
// there is none.
func (s *State) unfetched() int {
	return slices.IndexFunc(s.Asked, func(a Asked) bool { return a.Answer != nil })
}

// foldAsked adds a question of the command. If there is no room, it drops an answer that was
// never fetched; that question must then be asked again.
func (s *State) foldAsked(q Question) {
	if i := s.unfetched(); len(s.Asked) >= askedKept && i >= 0 {
		s.unask(s.Asked[i].Question.ID)
	}
	s.Asked = append(s.Asked, Asked{Question: q})
}

func (s *State) unask(id string) {
	s.Asked = slices.DeleteFunc(slices.Clone(s.Asked), func(a Asked) bool { return a.Question.ID == id })
}

// NotWaiting returns the error for an answer to a question that does not wait (any more). It
// names who answered first and the question that waits now, since an answer counts only for
// the question that it names.
func (s *State) NotWaiting(questionID string) error {
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
			return fmt.Errorf("%w: %s answered %s with %q at %s%s", ErrAnswered, a.Who(), questionID, a.String(), a.Time.Format(time.TimeOnly), now)
		}
	}
	return fmt.Errorf("no question %q waits for an answer%s", questionID, now)
}

func (s *State) questionID() string {
	if s.Question == nil {
		return ""
	}
	return s.Question.ID
}

// Advice is an assistant's advice against a question. From then on, and whenever the same
// question is asked again in the run, only a person can let it through: a rule or a default
// may end or pause the run, and no assistant is asked.
type Advice struct {
	// Text is shown to the person who answers.
	Text string `json:"text"`
	// Reason is the reason in the assistant's own words; empty if unknown.
	Reason    string    `json:"reason,omitempty"`
	Assistant Assistant `json:"assistant,omitzero"`
}

// Advised identifies a question that an assistant rejected: by its guard and the signature at
// that time, or by the command's name for it and its words.
type Advised struct {
	Guard     GuardID        `json:"guard,omitempty"`
	Signature signature.Hash `json:"signature,omitempty"`
	AskID     string         `json:"ask_id,omitempty"`
	Words     signature.Hash `json:"words,omitempty"`
	Advice
}

// advisedKept is how many rejected questions are remembered. Beyond that, every question of
// the run is treated as rejected.
const advisedKept = 64

// ForPerson returns the question as a person sees it: an assistant's advice against it comes
// first, and nothing is preselected.
func (q Question) ForPerson() Question {
	if q.Advice == nil {
		return q
	}
	q.Text = q.Advice.Text + "\n\n" + q.Text
	q.Details = slices.DeleteFunc(slices.Clone(q.Details), func(d string) bool { return d == q.Advice.Text })
	q.Default, q.Open = "", true
	return q
}

// WithAdvice returns the question with the advice attached, also as a detail for those who see
// it elsewhere than at a prompt.
func (q Question) WithAdvice(a Advice) Question {
	q.Advice = &a
	if !slices.Contains(q.Details, a.Text) {
		q.Details = append([]string{a.Text}, q.Details...)
	}
	return q
}

// againstAdvice refuses an answer that lets through a question an assistant rejected, unless a
// person gave it. Answers that only stop the run are always allowed.
func (q *Question) againstAdvice(a Answer) error {
	o, listed := q.Option(a.Option)
	action := o.Action
	if !listed && a.Unlisted {
		action = Action(a.Option)
	}
	switch {
	case q.Advice == nil, a.Person, a.Cancelled, action.Stops(), q.Kind == KindConfirm && a.Option == No:
		return nil
	}
	return fmt.Errorf("%s answered %q, but an assistant recommended rejecting this, so only a person may continue", a.Responder, a.String())
}

// RejectedBy reports whether the answer is an assistant's rejection: no to a confirm question,
// or cancel to a guard's.
func (q *Question) RejectedBy(a Answer) bool {
	if a.Responder != RespondedByAssistant || a.Person {
		return false
	}
	o, _ := q.Option(a.Option)
	return q.Kind == KindConfirm && a.Option == No || q.From != FromCommand && o.Action == ActionCancel
}

// ownName returns the command's own name for its question; empty if the name is only its
// position, such as q1, which identifies nothing.
func (q *Question) ownName() string {
	if number, ok := strings.CutPrefix(q.AskID, "q"); ok {
		if _, err := strconv.Atoi(number); err == nil {
			return ""
		}
	}
	return q.AskID
}

// words returns a hash of the question's text and options, which ignores case, white space and
// the order of the options.
func (q *Question) words() signature.Hash {
	plain := func(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }
	options := convert.Each(q.Options, func(o Option) string { return plain(o.Label) })
	slices.Sort(options)
	return signature.Hash(xxhash.Sum64String(fmt.Sprintf("%s %q %q", q.Kind, plain(q.Text), options)))
}

// offer returns a hash of the question's options and of the command's name for it, or else its
// text.
func (q *Question) offer() signature.Hash {
	return signature.Hash(xxhash.Sum64String(fmt.Sprintf("%s %q %q", q.Kind, cmp.Or(q.ownName(), q.Text), q.OptionIDs())))
}

// identity returns what identifies the question when it is asked again.
func (s *State) identity(q Question) Advised {
	if q.From == FromCommand {
		return Advised{AskID: q.ownName(), Words: q.words()}
	}
	id := Advised{Guard: q.Guard}
	if n := len(s.History); n > 0 {
		id.Signature = s.Match(s.History[n-1].Signature)
	}
	return id
}

// same reports whether both are the same question. An unknown signature matches any other.
func (a Advised) same(b Advised) bool {
	if a.Guard != "" || b.Guard != "" {
		return a.Guard == b.Guard && (a.Signature == b.Signature || a.Signature == 0 || b.Signature == 0)
	}
	return a.AskID != "" && a.AskID == b.AskID || a.Words == b.Words
}

// adviceOn returns an assistant's advice against the same question; nil if there is none.
func (s *State) adviceOn(q Question) *Advice {
	id := s.identity(q)
	for _, a := range slices.Backward(s.Advised) {
		if a.same(id) {
			return &a.Advice
		}
	}
	if s.AllAdvised {
		return &Advice{Text: fmt.Sprintf("The assistant recommended rejecting more than %d questions of this run; whether this is one of them is not known", advisedKept)}
	}
	return nil
}

// advise remembers the advice against the question. If the command changes the words but not
// the name, or the name but not the words, the new form is remembered too.
func (s *State) advise(q Question, a Advice) {
	id := s.identity(q)
	id.Advice = a
	known := func(b Advised) bool {
		return b.same(id) && (id.Guard != "" || b.AskID == id.AskID && b.Words == id.Words)
	}
	switch {
	case slices.ContainsFunc(s.Advised, known):
	case len(s.Advised) >= advisedKept:
		s.AllAdvised = true
	default:
		s.Advised = append(slices.Clone(s.Advised), id)
	}
	for i := range s.Asked { // those that wait already
		w := &s.Asked[i]
		if w.Answer != nil || w.Question.Advice != nil {
			continue
		}
		if same := s.adviceOn(w.Question); same != nil {
			w.Question = w.Question.WithAdvice(*same)
			s.advise(w.Question, *same)
		}
	}
}

// unadvise forgets the advice against a question that a person has let through.
func (s *State) unadvise(q Question) {
	id := s.identity(q)
	s.Advised = slices.DeleteFunc(slices.Clone(s.Advised), func(a Advised) bool { return a.same(id) })
}

// recalled returns the question with the advice given when it was asked before.
func (s *State) recalled(q Question) Question {
	if q.Advice == nil {
		q.Advice = s.adviceOn(q)
	}
	if q.Advice == nil {
		return q
	}
	if q.From == FromCommand {
		s.advise(q, *q.Advice)
	}
	return q.WithAdvice(*q.Advice)
}

// foldAdvice attaches an assistant's advice to the question.
func (s *State) foldAdvice(d AdviceGiven) {
	if d.Question != nil {
		s.advise(*d.Question, d.Advice)
	} else if a := s.asked(d.QuestionID); a != nil {
		s.advise(a.Question, d.Advice)
		a.Question = a.Question.WithAdvice(d.Advice)
	} else if s.Question != nil && s.Question.ID == d.QuestionID {
		s.advise(*s.Question, d.Advice)
		s.Question = new(s.Question.WithAdvice(d.Advice))
	}
}

// foldVerdict remembers an assistant's rejection, and forgets it if a person lets the question
// through. A person's answer to a guard takes effect when it is carried out.
func (s *State) foldVerdict(q *Question, a Answer) {
	switch {
	case q.RejectedBy(a):
		if q.Advice == nil {
			*q = q.WithAdvice(a.Assistant.AdviseAgainst(a.Reason))
		}
		s.advise(*q, *q.Advice)
	case a.Person && q.From == FromCommand && !a.Cancelled && !(q.Kind == KindConfirm && a.Option != Yes):
		s.unadvise(*q)
	}
}
