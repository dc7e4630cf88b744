//go:build unix

package config

import (
	"os"
	"syscall"
)

// onlyMine reports whether nobody but the user can write to the folder.
func onlyMine(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
