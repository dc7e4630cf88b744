//go:build linux && torture

package main

// The long form of the disk tests: every point, with both errors, once and for
// good.
const faultStep = 1
