package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Beside finds a program that belongs to this one: next to it or on the PATH.
func Beside(name string) (string, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if runtime.GOOS == "windows" {
			beside += ".exe"
		}
		if program, err := exec.LookPath(beside); err == nil {
			return program, nil
		}
	}
	return exec.LookPath(name)
}
