package atomicfile

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

func TestWrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"one", "two is longer", ""} {
		for _, durable := range []bool{false, true} {
			if err := Write(name, []byte(text), durable); err != nil {
				t.Fatal(err)
			}
			want(t, name, text)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != Mode {
		t.Errorf("mode %v, %v; want %o", info.Mode(), err, Mode)
	}
	onlyFiles(t, filepath.Dir(name), "f")
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
	onlyFiles(t, dir, "taken")
}

func TestWriteReplacesALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	put(t, target, "old")
	symlink(t, target, link)
	if err := Write(link, []byte("new"), false); err != nil {
		t.Fatal(err)
	}
	want(t, target, "old")
	want(t, link, "new")
}

func TestExportFollowsALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	put(t, target, "old")
	symlink(t, target, link)
	if err := Export(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	want(t, target, "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
}

func TestExportWritesToADevice(t *testing.T) {
	if err := Export(os.DevNull, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%s is %v, %v", os.DevNull, info.Mode(), err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	name := filepath.Join("/dev/fd", strconv.Itoa(int(w.Fd())))
	if _, err := os.Stat(name); err != nil {
		t.Skip("no /dev/fd here:", err)
	}
	if err := Export(name, []byte("through a pipe")); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if b, err := io.ReadAll(r); err != nil || string(b) != "through a pipe" {
		t.Errorf("read %q, %v", b, err)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	f, err := create(name, Mode) // as a writer that is killed leaves it
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	put(t, name, "kept")
	put(t, filepath.Join(dir, ".hidden"), "kept")
	if err := Sweep(dir); err != nil {
		t.Fatal(err)
	}
	onlyFiles(t, dir, ".hidden", "f")
	if err := Sweep(filepath.Join(dir, "none")); err != nil {
		t.Error(err)
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
}

func want(t *testing.T, name, text string) {
	t.Helper()
	if b, err := os.ReadFile(name); err != nil || string(b) != text {
		t.Errorf("%s holds %q, %v; want %q", filepath.Base(name), b, err, text)
	}
}

func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) {
		t.Errorf("the folder holds %q, want %q", got, names)
	}
}
