package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
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

// A link is the system's to follow: the file that it leads to stays the same one,
// and nothing is made beside it.
func TestExportFollowsALink(t *testing.T) {
	dir := t.TempDir()
	theirs := filepath.Join(dir, "theirs")
	if err := os.Mkdir(theirs, 0o700); err != nil {
		t.Fatal(err)
	}
	target, link := filepath.Join(theirs, "target"), filepath.Join(dir, "link")
	put(t, target, "the old text is longer")
	symlink(t, target, link)
	before, err := os.Stat(target)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(CheckExport(link), Export(link, []byte("new"))); err != nil {
		t.Fatal(err)
	}
	want(t, target, "new")
	onlyFiles(t, theirs, "target")
	if after, err := os.Stat(target); err != nil || !os.SameFile(before, after) {
		t.Errorf("another file was put in the place of the target: %v", err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
}

// A link to what is not there yet makes it, as for any program.
func TestExportThroughALinkToNothing(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	symlink(t, target, link)
	if err := CheckExport(link); err != nil {
		t.Fatal(err)
	}
	onlyFiles(t, dir, "link")
	if err := Export(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	want(t, target, "new")
}

// A check finds what would fail, and leaves everything as it was.
func TestCheckExport(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	put(t, file, "old")
	for _, name := range []string{file, filepath.Join(dir, "new"), os.DevNull} {
		if err := CheckExport(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{dir, filepath.Join(dir, "none", "file"), filepath.Join(file, "below")} {
		if CheckExport(name) == nil || Export(name, []byte("x")) == nil {
			t.Errorf("%s can be written", name)
		}
	}
	want(t, file, "old")
	onlyFiles(t, dir, "file")
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

// A reader always finds the file, and one version of it whole.
func TestAReaderSeesOneVersion(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page")
	version := func(n int) []byte { return bytes.Repeat([]byte{byte('a' + n%26)}, 1000+n%5000) }
	if err := Write(name, version(0), false); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := Write(name, version(n), false); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 2000 {
		b, err := os.ReadFile(name)
		if err != nil || len(b) < 1000 || len(bytes.Trim(b, string(b[0]))) != 0 {
			t.Errorf("read %d bytes, %v", len(b), err)
			break
		}
	}
	close(stop)
	writer.Wait()
	if entries, err := os.ReadDir(filepath.Dir(name)); err != nil || len(entries) != 1 {
		t.Errorf("left %v, %v", entries, err)
	}
}

// A folder is not taken away.
func TestWriteLeavesAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "page")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, durable := range []bool{false, true} {
		if err := Write(dir, []byte("text"), durable); err == nil {
			t.Errorf("durable %v: no error", durable)
		}
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		t.Error("the folder is gone")
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
		t.Errorf("left %v, %v", entries, err)
	}
}
