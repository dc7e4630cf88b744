//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// make build and a plain go build make the same program, but for the stamp.
func TestMakeBuildsWhatGoBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds looprun twice")
	}
	t.Parallel()
	const stamp = " -X main.stamp=1.2.3 -X main.commit=0123abc -X main.date=2026-01-02T03:04:05Z"
	root, dir := filepath.Join("..", ".."), t.TempDir()
	made, built := filepath.Join(dir, "bin", "looprun"), filepath.Join(dir, "looprun")
	for _, args := range [][]string{
		{"make", "build", "BIN=" + made, "VERSION=1.2.3", "COMMIT=0123abc", "DATE=2026-01-02T03:04:05Z"},
		{"go", "build", "-trimpath", "-ldflags", "-s -w" + stamp, "-o", built, "./cmd/looprun"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
	one, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one, two) {
		t.Errorf("make build wrote %d bytes, go build %d, and they differ", len(one), len(two))
	}
}
