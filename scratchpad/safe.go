package scratchpad

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/looprun/looprun/internal/atomicfile"
)

// ErrUnsafe is returned by [Open] and [OpenTrusted] if a run's directory is a link or another
// user's. [Create] returns it for a state directory that others could modify.
var ErrUnsafe = errors.New("the directory is not safe to use")

// makePrivate restricts the directory of a run to its owner, since a clone or an archive
// leaves it open.
func makePrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil || !modesHold || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(dir, dirMode)
}

// checkOwner rejects a run's directory that is a link or another user's.
func checkOwner(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%w: %s is a symbolic link; name the directory that holds the run itself", ErrUnsafe, dir)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case foreign(info):
		return fmt.Errorf("%w: %s belongs to another user; continue the run as that user", ErrUnsafe, dir)
	}
	return nil
}

// openRegular opens a regular file for reading, and nothing that only looks like one: a pipe
// would block forever, and a link leads elsewhere.
func openRegular(name string) (*os.File, error) {
	return openPlain(name, os.O_RDONLY|readFlags)
}

// openPlain opens a file with the flags, and rejects anything that is not a regular file.
func openPlain(name string, flags int) (*os.File, error) {
	f, err := os.OpenFile(name, flags, atomicfile.Mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = irregular(name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func irregular(name string) error {
	return &fs.PathError{Op: "open", Path: name, Err: errors.New("it is not a regular file")}
}

// readStart reads the beginning of a regular file. most is the limit, in bytes.
func readStart(name string, most int64) ([]byte, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// readWithin reads a regular file of a run's directory. It follows no link, neither the file
// itself nor its folder: a run can come from elsewhere, and the command may have put anything
// there.
func readWithin(dir, name string) ([]byte, error) {
	f, err := OpenWithin(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// OpenWithin opens a regular file of a run's directory, such as [OutputFile], for reading. It
// follows no link below that directory.
func OpenWithin(dir, name string) (*os.File, error) {
	if folder := filepath.Dir(name); folder != filepath.Clean(dir) {
		if info, err := os.Lstat(folder); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: folder, Err: errors.New("it is not a folder")}
		}
	}
	return openRegular(name)
}

// ensureDir creates a folder in a run's directory if it is missing. It replaces a link, which
// would redirect writes elsewhere.
func ensureDir(name string) (made bool, err error) {
	info, err := os.Lstat(name)
	switch {
	case err == nil && info.IsDir():
		return false, nil
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		err = os.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	err = os.Mkdir(name, dirMode)
	return err == nil, err
}
