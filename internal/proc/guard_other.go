//go:build !linux

package proc

// IsGuardian is false: there are guardians on Linux only.
func IsGuardian() bool { return false }

// Ready is nil: nothing is needed where there are no guardians.
func Ready() error { return nil }

// GuardianMain is for Linux only.
func GuardianMain() int { return 1 }

// DismissGuardians has nothing to do: there are guardians on Linux only.
func DismissGuardians() {}

// CloseGuardians closes what is kept for the next command: there are guardians on
// Linux only.
func CloseGuardians() { closePipes() }
