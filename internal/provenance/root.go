package provenance

import (
	"os"
	"path/filepath"
)

// Root returns the nearest folder, from start upwards, for which itself returns true or that
// is the root of a git repository; start if there is none. A repository that another user
// planted in a world-writable place does not count.
func Root(start string, itself func(dir string) bool) string {
	for dir := start; ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		if itself(dir) || Exists(git) && !Planted(git) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return start
		}
	}
}

// Exists reports whether anything has that name.
func Exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
