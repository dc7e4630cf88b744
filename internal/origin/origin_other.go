//go:build !linux

package origin

import "net/netip"

// Known reports whether this system can identify where requests come from.
const Known = false

// Below is not supported here: a process that leaves its session is no longer a descendant.
func Below(int, func(int) bool) Origin { return Unknown }

// Process is not supported here.
func Process(int) Origin { return Unknown }

// Connection is not supported here.
func Connection(_, _ netip.AddrPort) Origin { return Unknown }

// Admit rejects nobody here, for the same reason.
func Admit(int) error { return nil }
