//go:build !unix

package main

// self does nothing: there are no signals to end by.
func (r raise) self() {}

func keepPipes() {}

func (s *session) watchStops() (stop func()) { return func() {} }
