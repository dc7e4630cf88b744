//go:build linux && torture

package main

// The long form of the tests of what fails: every point of the disk and every system
// call, with each error, once and for good.
const (
	faultStep = 1
	callStep  = 1
)
