//go:build torture

package main

// mutantStep: the long form looks at every changed file.
const mutantStep = 1
