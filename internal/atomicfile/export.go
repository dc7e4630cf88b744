package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/looprun/looprun/internal/inputfile"
)

// exportMode is the mode that other programs give a file, before the umask.
const exportMode = 0o666

// readerPatience is how long the reader of a pipe may take.
const readerPatience = 10 * time.Second

// Export writes a file that the user named, with the mode that other programs would give it.
// It replaces a regular file as [Write] does or, if the folder does not allow that, overwrites
// it. It writes to anything else, such as a link, /dev/stdout or a pipe: the system decides
// where a link leads and whether it may be followed. A pipe must have a reader.
func Export(name string, data []byte) error {
	if replaceable(name) {
		if err := write(name, data, exportMode, true); !overwritten(err) {
			return err
		}
	}
	f, err := openExport(name)
	if err != nil {
		return err
	}
	_ = f.SetWriteDeadline(time.Now().Add(readerPatience)) // where it can be set
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// CheckExport returns an error if [Export] could not write the file now. It changes nothing.
func CheckExport(name string) error {
	info, missing := os.Stat(name)
	if missing == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return nil // its reader would take an end for that of the text
	}
	if replaceable(name) {
		f, err := create(name, exportMode)
		if err == nil {
			return errors.Join(f.Close(), os.Remove(f.Name()))
		}
		if missing != nil || !overwritten(err) {
			if at, ok := errors.AsType[*fs.PathError](err); ok {
				at.Path = name // and not that of the file that takes its place
			}
			return err
		}
	} else if errors.Is(missing, fs.ErrNotExist) {
		return nil // a link to what will be made
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// replaceable reports whether the name does not exist yet, or is a file and not a link to one.
func replaceable(name string) bool {
	if inputfile.Opened(name) {
		return false
	}
	info, err := os.Lstat(name)
	return err != nil || info.Mode().IsRegular()
}

// overwritten reports whether a file that cannot be replaced, because of its folder or because
// it is a mount point, can still be overwritten.
func overwritten(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBUSY)
}

func openExport(name string) (*os.File, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if inputfile.Opened(name) { // it may be a regular file: what was printed to it must stay
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return os.OpenFile(name, flags, exportMode)
	}
	f, err := os.OpenFile(name, flags|syscall.O_NONBLOCK, exportMode) // else it waits for a reader
	if errors.Is(err, syscall.ENXIO) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is a pipe, and nobody reads it")}
	}
	return f, err
}
