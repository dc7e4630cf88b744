package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"one", "two is longer", ""} {
		for _, durable := range []bool{false, true} {
			if err := Write(name, []byte(text), durable); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(name); err != nil || string(b) != text {
				t.Errorf("read %q, %v; want %q", b, err, text)
			}
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != Mode {
		t.Errorf("mode %v, %v; want %o", info.Mode(), err, Mode)
	}
}

func TestAFailureLeavesTheOldFileAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "taken") // a folder cannot be replaced by a file
	if err := os.MkdirAll(filepath.Join(name, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(name, []byte("x"), true); err == nil {
		t.Fatal("a folder was replaced")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
