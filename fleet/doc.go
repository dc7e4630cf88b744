// Package fleet runs loops on many machines. A loop is a workflow of a Temporal server: the
// workflow takes the steps of [core.Driver], and workers run its iterations. Nothing is
// decided here that a run on one machine would decide otherwise.
//
// Who may start a workflow in a namespace runs commands on all of its workers: a
// namespace is the border of trust.
package fleet
