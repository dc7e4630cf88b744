//go:build unix

package atomicfile

import "os"

// SyncDir makes the names in a folder survive a power loss.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
