//go:build !torture

package main

// mutantStep is how many of the changed files are left out between two that are
// looked at: 40,000 are for the long form.
const mutantStep = 41
