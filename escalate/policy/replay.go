package policy

import (
	"context"
	"fmt"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
)

// Trip is a question of a recorded run: what it was answered, and what a policy would.
type Trip struct {
	Run      string       `json:"run"`
	Time     time.Time    `json:"time"`
	Question string       `json:"question_id"`
	Guard    core.GuardID `json:"guard"`
	// Was is nil when nobody answered.
	Was        *core.Answer `json:"was"`
	Evaluation Evaluation   `json:"would_be"`
}

// Same reports whether the policy would answer what was answered.
func (t Trip) Same() bool {
	a := t.Evaluation.Answer
	return a != nil && t.Was != nil && a.Option == t.Was.Option
}

// Text is the trip on one line, in columns that tabs part.
func (t Trip) Text() string {
	was, now := "nobody answered", "no answer"
	if t.Was != nil {
		was = fmt.Sprintf("%s by %s", t.Was, t.Was.Responder)
	}
	if a := t.Evaluation.Answer; a != nil {
		now = fmt.Sprintf("%s (%s)", a.Option, a.Rule)
	}
	return fmt.Sprintf("%s\t%s\twas %s\t→ %s", t.Run, t.Guard, was, now)
}

// Replay answers the questions that guards asked in the run in that folder since then, as
// they were recorded, with what was known when they were asked.
func (p *Policy) Replay(dir string, since time.Time, o Options) ([]Trip, error) {
	var trips []Trip
	s := new(core.State)
	_, err := scratchpad.Replay(dir, func(e core.Event) error {
		if err := s.Apply(e); err != nil {
			return err
		}
		switch d := e.Data.(type) {
		case core.QuestionAsked:
			if d.From == core.FromCommand || e.Time.Before(since) {
				break
			}
			o.CI = d.CI
			evaluation, err := p.Evaluate(context.Background(), d.Question, s, o)
			if err != nil {
				return err
			}
			trips = append(trips, Trip{Run: s.RunID, Time: e.Time, Question: d.ID, Guard: d.Guard, Evaluation: evaluation})
		case core.QuestionAnswered:
			for i := range trips {
				if trips[i].Question == d.QuestionID {
					trips[i].Was = &d.Answer
				}
			}
		}
		return nil
	})
	return trips, err
}
