//go:build unix && !torture

package main

// everyCombination says that the slow squares of the matrix are tested for every
// guard, and not for the first alone: see matrix_torture_test.go.
const everyCombination = false
