//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package tty

// Ours is false: nothing is drawn beside other programs.
func Ours(uintptr) bool { return false }

// Columns is not known.
func Columns(uintptr) int { return 80 }

// Rows is not known.
func Rows(uintptr) int { return 24 }
