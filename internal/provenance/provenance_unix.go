//go:build unix

package provenance

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Doubt returns why a file may be somebody else's: it, or its directory, belongs to a user who
// is neither this one nor root, or others can write to the directory. It is empty if only this
// user and root could have put the file there. A link itself is examined, not its target.
func Doubt(file string) string {
	info, err := os.Lstat(file)
	if err != nil {
		return "it cannot be looked at: " + err.Error()
	}
	if of, strange := stranger(info); strange {
		return "it belongs to " + of
	}
	dir, err := os.Stat(filepath.Dir(file))
	if err != nil {
		return "its directory cannot be looked at: " + err.Error()
	}
	if of, strange := stranger(dir); strange {
		return "its directory belongs to " + of
	}
	if open(dir, accounts) {
		return fmt.Sprintf("others can write to its directory (%s)", dir.Mode().Perm())
	}
	return ""
}

// Planted reports whether another user put the file into a directory that
// everyone can write to.
func Planted(file string) bool {
	info, err := os.Lstat(file)
	if err != nil {
		return false
	}
	dir, err := os.Stat(filepath.Dir(file))
	_, strange := stranger(info)
	return strange && (err != nil || dir.Mode().Perm()&0o002 != 0)
}

// Mine reports whether the file is this user's.
func Mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(st.Uid) == int64(os.Geteuid())
}

// stranger returns the owner's name if that is neither this user nor root.
func stranger(info fs.FileInfo) (of string, strange bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "nobody knows whom", true
	case st.Uid == 0 || int64(st.Uid) == int64(os.Geteuid()):
		return "", false
	}
	return fmt.Sprintf("another user (uid %d)", st.Uid), true
}

// open reports whether anybody besides its owner and root can write to the directory. The
// sticky bit changes nothing: a new file can still be put there.
func open(dir fs.FileInfo, of database) bool {
	st, ok := dir.Sys().(*syscall.Stat_t)
	switch mode := dir.Mode().Perm(); {
	case !ok || mode&0o002 != 0:
		return true
	case mode&0o020 != 0:
		return !of.private(uint64(st.Uid), uint64(st.Gid))
	}
	return false
}
