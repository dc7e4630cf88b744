package core

import "strings"

// AgentSession is a coding agent's session that a run keeps.
type AgentSession struct {
	ID    string `json:"id"`
	Turns int    `json:"turns"`
}

// isSessionID reports whether a text may be passed to an agent as an id: it cannot be taken
// for a flag.
func isSessionID(id string) bool {
	const most, letters = 128, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return id != "" && len(id) <= most && strings.ContainsAny(id[:1], letters) && strings.TrimLeft(id, letters+"._:-") == ""
}

// foldSession decides whether the next iteration continues the agent's session. A new one
// begins after SessionTurns turns, after the same failure as in the iteration before, and after
// an error in which the agent did not report the session that it was given: it may not know it.
func (s *State) foldSession(d IterationFinished, before *IterationFinished) {
	was := s.Session
	s.Session = AgentSession{}
	if s.escalates(d.Iteration) {
		return // it is another agent's
	}
	h := s.Match(d.Signature)
	same := before != nil && before.Iteration > 0 && h != 0 && h == s.Match(before.Signature)
	lost := d.Outcome == OutcomeError && d.Session != was.ID
	if s.SessionTurns > 0 && was.Turns+1 < s.SessionTurns && !same && !lost && isSessionID(d.Session) {
		s.Session = AgentSession{d.Session, was.Turns + 1}
	}
}
