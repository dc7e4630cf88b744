// Package tty lets a program talk to the person at its controlling terminal
// and leave that terminal as it was.
//
// A [Terminal] reads key by key and can be ended from another goroutine while
// it waits: neither a read nor a write blocks for ever. The terminal's state is
// saved by [Terminal.Raw] and put back by [Terminal.Restore]; [RestoreAll] does
// that for every terminal of the process, for use right before it ends.
//
// Where the platform has no Unix terminals, [Open] fails with
// [errors.ErrUnsupported].
package tty
