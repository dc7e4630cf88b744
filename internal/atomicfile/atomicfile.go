// Package atomicfile writes files atomically: a reader sees either the old content or the new,
// never half of it, even if the writer is killed.
package atomicfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrInUse is returned by [Write] on Windows while somebody has the file open: a file in use
// cannot be replaced there.
var ErrInUse = errors.New("somebody has it open")

// Mode is the mode of files that only their owner may access.
const Mode = 0o600

// Write replaces the file's content with data, with mode [Mode]. If durable is set, the file
// also survives a power loss once Write has returned. The folder must exist. Write replaces
// anything that is not a regular file, such as a link, instead of writing through it.
func Write(name string, data []byte, durable bool) error {
	return write(name, data, Mode, durable)
}

func write(name string, data []byte, mode fs.FileMode, durable bool) (err error) {
	f, err := create(name, mode)
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
	if !durable {
		return replace(f.Name(), name)
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(name))
}

const suffix = ".tmp"

// create creates a file with a new name next to the one to be written.
func create(name string, mode fs.FileMode) (*os.File, error) {
	dir, base := filepath.Split(name)
	for {
		temp := dir + "." + base + "." + strconv.FormatUint(uint64(rand.Uint32()), 36) + suffix
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Sweep removes files that killed writers left in a folder. Nobody may be writing there. For a
// folder that does not exist it does nothing.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if n := e.Name(); e.Type().IsRegular() && strings.HasPrefix(n, ".") && strings.HasSuffix(n, suffix) {
			if err := os.Remove(filepath.Join(dir, n)); err != nil {
				return err
			}
		}
	}
	return nil
}
