//go:build unix && !linux

package proc

// Parent says nothing: there is no system call for the parent of another process.
func Parent(int) (parent int, known bool) { return 0, false }

// StandsStill is false: nothing is known.
func StandsStill(int) bool { return false }
