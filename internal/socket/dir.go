package socket

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/provenance"
)

const (
	// longestPath is the length that fits into sockaddr_un everywhere: 104 bytes on the BSDs
	// and macOS, 108 on Linux and Windows, with a NUL at the end.
	longestPath = 103
	socketName  = "socket"
)

// DirPattern matches the names of directories with sockets. The star becomes at most 10 digits.
const DirPattern = "looprun-*"

// makeDir creates a directory for the socket that only this user can enter: in a temporary
// directory, or else in own, if given. It tries own first if that is to last.
func makeDir(own string, lasting bool) (string, error) {
	var failures []string
	all := parents()
	switch {
	case lasting:
		all = slices.Insert(all, 0, own)
	case own != "":
		all = append(all, own)
	}
	for _, parent := range slices.Compact(all) {
		if len(parent)+len("/")+len(DirPattern)+9+len("/")+len(socketName) > longestPath {
			failures = append(failures, parent+" is too long a path for a socket")
			continue
		}
		dir, err := os.MkdirTemp(parent, DirPattern)
		if err == nil {
			return dir, nil
		}
		if perr, ok := errors.AsType[*os.PathError](err); ok {
			err = fmt.Errorf("%s: %w", parent, perr.Err)
		}
		failures = append(failures, err.Error())
	}
	return "", fmt.Errorf("the socket of the run cannot be made: %s; set TMPDIR to a directory with a short path in which you can write", strings.Join(failures, ", "))
}

// parents returns the directories to try, in order.
func parents() []string {
	var out []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		info, err := os.Stat(dir)
		if err == nil && info.Mode().Perm() == 0o700 && provenance.Mine(info) {
			out = append(out, filepath.Clean(dir))
		}
	}
	if dir, err := filepath.Abs(os.TempDir()); err == nil {
		out = append(out, dir)
	}
	if os.PathSeparator == '/' {
		out = append(out, "/tmp")
	}
	return out
}
