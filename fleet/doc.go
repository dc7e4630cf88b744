// Package fleet runs loops on many machines. A loop is a workflow on a Temporal server: the
// workflow takes the steps of [core.Driver], and workers run its iterations. No decision here
// differs from that of a run on one machine.
//
// Anybody who may start a workflow in a namespace can run commands on all of its workers: a
// namespace is the trust boundary.
package fleet
