//go:build !linux

package proc

// IsGuardian returns false: guardians exist only on Linux.
func IsGuardian() bool { return false }

// Ready returns nil: without guardians nothing is needed.
func Ready() error { return nil }

// GuardianMain is only for Linux.
func GuardianMain() int { return 1 }

// DismissGuardians does nothing: guardians exist only on Linux.
func DismissGuardians() {}

// CloseGuardians does nothing: guardians exist only on Linux.
func CloseGuardians() {}
