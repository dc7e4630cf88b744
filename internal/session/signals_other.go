//go:build !unix

package session

// Self does nothing: this system has no signals to end with.
func (r Raise) Self() {}

func keepPipes() {}

func (s *Session) catchStops() {}
