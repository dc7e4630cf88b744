// Package tty lets a program talk to the person at its controlling terminal and leave that
// terminal as it was.
//
// A [Terminal] is read key by key, and another goroutine can interrupt a wait: neither a read
// nor a write blocks forever. [Terminal.Raw] saves the terminal's state and [Terminal.Restore]
// restores it; [RestoreAll] does that for every terminal of the process, for use right before
// it ends.
//
// On a platform without Unix terminals, [Open] fails with [errors.ErrUnsupported].
package tty
