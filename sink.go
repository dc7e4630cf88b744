package looprun

import (
	"context"
	"io"
	"sync"
)

// sink keeps output and remembers the first failure to.
type sink struct {
	cancel context.CancelCauseFunc
	out    Output
	mu     sync.Mutex
	err    error
}

func (s *sink) all(b []byte) { s.write(s.out, b) }

func (s *sink) judge(b []byte) {
	if s.out != nil {
		s.write(s.out, b)
		s.write(s.out.Check(), b)
	}
}

func (s *sink) write(w io.Writer, b []byte) {
	if s.out == nil {
		return
	}
	if _, err := w.Write(b); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.err == nil {
			s.err = err
			s.cancel(err)
		}
	}
}

func (s *sink) close() error {
	if s.out == nil {
		return nil
	}
	err := s.out.Close()
	if s.err != nil {
		return s.err
	}
	return err
}
