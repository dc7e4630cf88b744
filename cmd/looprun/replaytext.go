package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/signature"
)

// replaySchema names the form of what replay prints in JSON: one object with
// the schema, the iterations and the trips, in this order.
const replaySchema = "looprun.dev/replay/v1"

// replayedStep is one iteration.
type replayedStep struct {
	Iteration int             `json:"iteration"`
	File      string          `json:"file,omitempty"`
	ExitCode  int             `json:"exit_code"`
	Outcome   looprun.Outcome `json:"outcome"`
	Hash      signature.Hash  `json:"hash"`
	Label     string          `json:"label"`
}

// replayedTrip says where a guard first trips.
type replayedTrip struct {
	Guard looprun.GuardID `json:"guard"`
	// At is the iteration after which it first trips, 0 for never.
	At     int    `json:"at"`
	Period int    `json:"period,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// replayWriter prints a replay while it goes on. It keeps nothing of it.
type replayWriter interface {
	step(replayedStep) error
	// end prints where the guards trip; cut leaves the rest out, since the replay
	// cannot go on.
	end([]replayedTrip) error
	cut() error
}

func newReplayWriter(w io.Writer, format string) replayWriter {
	if format == "json" {
		return &replayJSON{w: bufio.NewWriter(w)}
	}
	return &replayText{w: bufio.NewWriter(w)}
}

// replayText is for people: the first iterations, and where the guards trip.
type replayText struct {
	w     *bufio.Writer
	steps int
}

// replayLines is how many iterations are listed for people.
const replayLines = 200

func (t *replayText) step(s replayedStep) error {
	if t.steps++; t.steps > replayLines {
		return nil
	}
	_, err := fmt.Fprintf(t.w, "%4d  %-16s  exit %-3d  %s  %s\n", s.Iteration, s.Hash, s.ExitCode, short(s.Label, 60), s.File)
	return err
}

func (t *replayText) end(trips []replayedTrip) error {
	if t.steps > replayLines {
		fmt.Fprintf(t.w, "and %d more\n", t.steps-replayLines)
	}
	for _, g := range trips {
		switch {
		case g.At == 0:
			fmt.Fprintf(t.w, "%s: does not trip\n", g.Guard)
		case g.Period > 1:
			fmt.Fprintf(t.w, "%s: trips after iteration %d, period %d: %s\n", g.Guard, g.At, g.Period, g.Reason)
		default:
			fmt.Fprintf(t.w, "%s: trips after iteration %d: %s\n", g.Guard, g.At, g.Reason)
		}
	}
	return t.w.Flush() // it remembers the first error
}

func (t *replayText) cut() error { return t.w.Flush() }

// replayJSON writes the object member by member. When the replay cannot go on
// the object is not closed: nobody takes it for a whole one.
type replayJSON struct {
	w     *bufio.Writer
	steps int
}

func (j *replayJSON) step(s replayedStep) error {
	lead := ",\n    "
	if j.steps++; j.steps == 1 {
		fmt.Fprintf(j.w, "{\n  \"schema\": %q,\n  \"iterations\": [", replaySchema)
		lead = lead[1:]
	}
	line, err := json.MarshalIndent(s, "    ", "  ")
	if err != nil {
		return err
	}
	_, _ = j.w.WriteString(lead) // the next write has its error
	_, err = j.w.Write(line)
	return err
}

func (j *replayJSON) end(trips []replayedTrip) error {
	list, err := json.MarshalIndent(trips, "  ", "  ")
	if err != nil {
		return err
	}
	if j.steps == 0 { // a run without an iteration
		fmt.Fprintf(j.w, "{\n  \"schema\": %q,\n  \"iterations\": []", replaySchema)
	} else {
		fmt.Fprint(j.w, "\n  ]")
	}
	fmt.Fprintf(j.w, ",\n  \"trips\": %s\n}\n", list)
	return j.w.Flush()
}

func (j *replayJSON) cut() error { return j.w.Flush() }
