//go:build !unix

package session

// Self does nothing: there are no signals to end by.
func (r Raise) Self() {}

func keepPipes() {}

func (s *Session) catchStops() {}
