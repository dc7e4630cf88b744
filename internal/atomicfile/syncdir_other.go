//go:build !unix

package atomicfile

// SyncDir does nothing: the system keeps names by itself.
func SyncDir(string) error { return nil }
