// Package atomicfile writes whole files or none: a reader sees the old content
// or the new one, never half of it, whatever kills the writer.
package atomicfile

import (
	"os"
	"path/filepath"
)

// Mode is the mode of the files: for their owner alone.
const Mode = 0o600

// Write replaces the file by data. When durable is set it also survives a power
// loss once Write has returned. The folder must exist.
func Write(name string, data []byte, durable bool) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name()) // err says what went wrong
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if durable {
		if err = f.Sync(); err != nil {
			return err
		}
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return err
	}
	if durable {
		return SyncDir(filepath.Dir(name))
	}
	return nil
}
