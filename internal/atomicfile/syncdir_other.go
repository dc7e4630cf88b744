//go:build !unix

package atomicfile

// SyncDir does nothing: the system makes names durable by itself.
func SyncDir(string) error { return nil }
