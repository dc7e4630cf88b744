package provenance

import (
	"os"
	"path/filepath"
)

// Root is the nearest folder, from start upwards, that is one by itself or is the root of a
// git repository; start where there is none. A repository that another user planted where
// everyone can write does not count.
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

// Exists reports whether the name is taken, by whatever.
func Exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
