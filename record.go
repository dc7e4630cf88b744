package looprun

import (
	"fmt"
	"time"
)

// Record is the one door to a journal: it masks what happened, refuses what cannot
// happen in this state ([ErrEvent]), writes it, and then changes the state. A [Loop]
// records everything through it, and so does a program that puts an answer on record
// while the run rests. A nil mask takes out nothing; elapsed is the run's active
// time, [State].Elapsed for a run that rests.
//
// When the journal cannot be written the state is as it was. The event is what was
// written; it survives the end of the process, and a power loss only once
// [Journal].Sync has returned.
func Record(s *State, to Journal, mask func(string) string, elapsed time.Duration, d Data) (Event, error) {
	if mask != nil {
		d = s.masked(d, mask)
	}
	if why := s.refuse(d); why != "" {
		return Event{}, fmt.Errorf("%w: %s: %s", ErrEvent, d.Type(), why)
	}
	e := Event{
		Seq: s.Seq + 1, Time: time.Now().UTC().Truncate(time.Millisecond),
		Elapsed: elapsed.Truncate(time.Millisecond), Data: d,
	}
	if err := to.Append(e); err != nil {
		return Event{}, fmt.Errorf("the journal cannot be written: %w", err)
	}
	s.take(e)
	return e, nil
}
