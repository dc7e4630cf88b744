package scratchpad

import (
	"bytes"
	"io"
	"path/filepath"

	"github.com/looprun/looprun/core"
)

// glanceSize is how much of the end of a journal is looked at, in bytes.
const glanceSize = 16 << 10

// glance fills in the summary from the last events of the journal; false: they
// do not say enough, or something is wrong with them.
func (s *Summary) glance(dir string) bool {
	events := LastEvents(dir)
	if len(events) == 0 {
		return false
	}
	s.Runtime = (&core.State{Elapsed: events[len(events)-1].Elapsed}).Result().RuntimeSeconds
	counted, settled, waiting := false, false, false
	for i := len(events) - 1; i >= 0 && !counted; i-- {
		switch d := events[i].Data.(type) {
		case core.RunFinished, core.RunPaused, core.RunResumed, core.ActionApplied:
			return false // rare enough to be read properly
		case core.IterationFinished:
			if d.Iteration == 0 || d.RunsAgain() {
				return false
			}
			counted = true
			s.Iterations, s.Signature, s.Says = d.Iteration, d.Signature.Label, d.Says()
		case core.QuestionAsked:
			if !settled { // no later event says otherwise
				settled, waiting = true, true
			}
		case core.QuestionAnswered, core.QuestionClosed, core.IterationStarted:
			settled = true
		}
	}
	s.Status = unended(s.Alive, waiting)
	return counted
}

// LastEvents are the events in the last 16 KiB of a run's journal, oldest first; none
// when any but the last record is broken.
func LastEvents(dir string) []core.Event {
	f, err := openRegular(filepath.Join(dir, journalName))
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	b := make([]byte, min(info.Size(), glanceSize))
	n, err := f.ReadAt(b, info.Size()-int64(len(b)))
	if err != nil && err != io.EOF {
		return nil
	}
	lines := bytes.Split(b[:n], []byte{'\n'})
	lines = lines[:len(lines)-1] // what follows the last line break
	if info.Size() > glanceSize && len(lines) > 0 {
		lines = lines[1:] // cut somewhere in its middle
	}
	var events []core.Event
	for _, line := range lines {
		if len(line) == 0 {
			continue
		}
		e, err := decode(dir, line)
		if err != nil {
			return nil
		}
		events = append(events, e)
	}
	return events
}
