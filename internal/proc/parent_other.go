//go:build unix && !linux

package proc

// Parent returns nothing: there is no system call for the parent of another process.
func Parent(int) (parent int, known bool) { return 0, false }

// StandsStill returns false: the state is unknown.
func StandsStill(int) bool { return false }
