package report

import (
	"fmt"
	"math"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/termsafe"
)

// step is one mark on the timeline: an iteration, or the flag of a trip.
type step struct {
	ID, Letter, Number, Class, Says string
	Flag                            bool
}

// timeline inserts the trips' flags between the iterations, and joins adjacent iterations with
// the same signature.
func (m *model) timeline() {
	before := "" // the letter of the step before, unless that is a flag
	for i := range m.Iterations {
		it := &m.Iterations[i]
		if m.flags(it.Iteration.Iteration) {
			before = ""
		}
		s := it.step()
		switch {
		case !it.Counted:
			m.Uncounted, before = true, ""
		case s.Letter == before:
			s.Class += " same"
			m.Steps[len(m.Steps)-1].Class += " joined"
		default:
			before = s.Letter
		}
		m.Steps = append(m.Steps, s)
	}
	m.flags(math.MaxInt)
}

// flags inserts the flags of the trips before an iteration; it reports whether there are any.
func (m *model) flags(until int) bool {
	n := m.flagged
	for ; m.flagged < len(m.TripList) && m.TripList[m.flagged].Iteration < until; m.flagged++ {
		t := &m.TripList[m.flagged]
		says := fmt.Sprintf("%s: %s", upperFirst(t.Place), t.What)
		if t.Decided != nil {
			says += fmt.Sprintf("; %s by %s", t.Decided.Chosen(), t.Decided.Who())
		}
		m.Steps = append(m.Steps, step{ID: t.ID, Flag: true, Says: termsafe.Cut(says, pageProse)})
	}
	return m.flagged > n
}

// step returns the iteration's mark on the timeline.
func (p *pageIteration) step() step {
	s := step{ID: p.ID, Letter: p.Letter, Number: "pre", Class: p.Class}
	if n := p.Iteration.Iteration; n > 0 {
		s.Number = fmt.Sprint(n)
	}
	switch {
	case p.Outcome == core.OutcomeDone:
		s.Letter = passLetter
	case s.Letter == "":
		s.Letter = "·"
	}
	if p.Outcome == core.OutcomeError {
		s.Class += " error"
	}
	if !p.Counted {
		s.Class += " uncounted"
	}
	// It begins with what the mark shows: that is what people say to press it.
	s.Says = fmt.Sprintf("%s %s: %s, %s, exit %d, %s", s.Letter, s.Number, p.Name, words(p.Outcome), p.ExitCode, p.Took())
	if p.Failing >= 0 {
		s.Says += ", " + p.FailingText() + " failing"
	}
	if p.Says != "" {
		s.Says += ", " + p.Says
	}
	return s
}
