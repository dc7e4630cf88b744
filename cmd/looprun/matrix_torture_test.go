//go:build unix && torture

package main

// everyCombination: go test -tags torture. An assistant that fails or hangs is
// asked again after 1, 2 and 4 seconds, which makes these squares slow.
const everyCombination = true
