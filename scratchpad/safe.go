package scratchpad

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/looprun/looprun/internal/atomicfile"
)

// ErrUnsafe is returned by [Open] when a run's directory is not what looprun
// made: somebody else could have made it, or could change what is in it. A run
// that is resumed runs the commands of its journal. [Create] returns it for a
// state directory in which others could do so.
var ErrUnsafe = errors.New("the directory is not safe to use")

// checkRunDir refuses the directory of a run that looprun did not make so:
// one that another user made, or that came out of an archive or a repository.
func checkRunDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%w: %s is a symbolic link; name the directory that holds the run itself", ErrUnsafe, dir)
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	case foreign(info):
		return fmt.Errorf("%w: %s belongs to another user; go on with the run as that one", ErrUnsafe, dir)
	case modesHold && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%w: %s is open to others (mode %04o), and looprun makes it 0700: it came from somewhere else. "+
			"Resuming it runs the commands of its journal; if you trust them, run chmod 700 on it", ErrUnsafe, dir, info.Mode().Perm())
	}
	return nil
}

// openRegular opens a file for reading, and nothing that only looks like one: a
// pipe would wait for ever, a link leads elsewhere.
func openRegular(name string) (*os.File, error) {
	return openPlain(name, os.O_RDONLY|readFlags)
}

// openPlain opens a file with the flags, and refuses what is no regular one.
func openPlain(name string, flags int) (*os.File, error) {
	f, err := os.OpenFile(name, flags, atomicfile.Mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("it is no regular file")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readPlain reads a file, or the one that a link leads to. The command may have
// put anything in its place: a pipe would wait for ever, a device never end.
func readPlain(name string) ([]byte, error) {
	f, err := openPlain(name, os.O_RDONLY|noWaiting)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
