package main

// origin is where an answer comes from. Only who is known to be outside of the run
// may answer: its own command would answer itself.
type origin int

const (
	originUnknown origin = iota // the system does not say, or the process has gone
	originInside                // a process that the run has started
	originOutside
)
