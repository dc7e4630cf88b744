package engine

import (
	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/lines"
)

// speech is the work's text in one stream: text outside transcripts, and the messages of
// agents in theirs. Each is cut into lines separately, for all listeners.
type speech struct {
	plain, said lines.Shown
	promise     *promises // nil: no promise is looked for
	listener    Listener  // nil: nobody listens
}

// init connects it to all listeners.
func (s *speech) init() {
	s.plain.To, s.said.To = s.hear, s.hear
	if p := s.promise; p != nil {
		s.plain.All, s.plain.To = p.plain.find, func(line []byte, cut bool) { p.plain.look(line, cut); s.hear(line, cut) }
		s.said.All, s.said.To = p.said.find, func(line []byte, cut bool) { p.said.look(line, cut); s.hear(line, cut) }
	}
}

func (s *speech) hear(line []byte, cut bool) {
	if s.listener != nil {
		s.listener.Line(line, cut)
	}
}

// take takes a part of the stream. Only the work's own text counts.
func (s *speech) take(p carrier.Part) {
	if s.promise == nil && s.listener == nil {
		return
	}
	switch p.Role {
	case carrier.Plain:
		_, _ = s.plain.Write(p.Text)
	case carrier.Said:
		if p.Begins {
			s.said.End()
		}
		if s.promise != nil {
			s.promise.say(p.Begins)
		}
		_, _ = s.said.Write(p.Text)
	case carrier.Printed, carrier.Noise:
	}
}

// fact takes a fact that an agent reports about itself.
func (s *speech) fact(f carrier.Fact) {
	if s.promise != nil {
		s.said.End()
		s.promise.fact(f)
	}
}

// end ends the stream.
func (s *speech) end() {
	s.plain.End()
	s.said.End()
}

// reset begins another stream.
func (s *speech) reset() {
	s.plain.Reset()
	s.said.Reset()
	if s.promise != nil {
		s.promise.reset()
	}
	if s.listener != nil {
		s.listener.Reset()
	}
}
