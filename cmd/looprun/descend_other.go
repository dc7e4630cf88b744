//go:build !linux

package main

// descendsFrom cannot be known here; looprun answer refuses by its environment.
func descendsFrom(int, int) bool { return false }
