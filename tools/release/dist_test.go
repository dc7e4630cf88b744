package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestVersionOfTheSource(t *testing.T) {
	dir := t.TempDir()
	do := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.test", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-01-02T03:04:05+01:00", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(version, epoch, wantVersion, wantCommit, wantDate string) {
		t.Helper()
		s := sourceOf(dir, version, epoch)
		head, _ := git(dir, "rev-parse", "HEAD")
		want := strings.NewReplacer("HEAD", head, "SHORT", head[:min(12, len(head))])
		if s.version != want.Replace(wantVersion) || s.commit != want.Replace(wantCommit) || s.date != wantDate {
			t.Errorf("%+v; want %s %s %s", s, want.Replace(wantVersion), want.Replace(wantCommit), wantDate)
		}
	}
	do("init", "-q")
	write("one")
	do("add", "file")
	do("commit", "-qm", "one")
	expect("", "", "0.0.0-dev.1.gSHORT", "HEAD", "2026-01-02T02:04:05Z")
	do("tag", "v1.2.3")
	expect("", "", "1.2.3", "HEAD", "2026-01-02T02:04:05Z")
	expect("v2.0.0-rc.1", "0", "2.0.0-rc.1", "HEAD", "1970-01-01T00:00:00Z")
	write("two") // a changed tree is not what the tag names
	expect("", "", "0.0.0-dev.1.gSHORT.dirty", "HEAD-dirty", "2026-01-02T02:04:05Z")
	do("commit", "-qam", "two")
	expect("", "", "0.0.0-dev.2.gSHORT", "HEAD", "2026-01-02T02:04:05Z")

	for version, epoch := range map[string]string{"1.2": "", "01.2.3": "", "1.2.3+x": "", "1.2.3 x": "", "1.2.3-": "", "../1.2.3": "", "1.2.3": "-1", "1.2.4": "now"} {
		if attempt(func() { sourceOf(dir, version, epoch) }) == nil {
			t.Errorf("%q and %q are taken", version, epoch)
		}
	}
}

func TestVersionWithoutGit(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	for _, given := range [][2]string{{"", ""}, {"1.2.3", ""}, {"", "7"}} {
		if attempt(func() { sourceOf(dir, given[0], given[1]) }) == nil {
			t.Errorf("%v is enough", given)
		}
	}
	if s := sourceOf(dir, "1.2.3", "7"); s.version != "1.2.3" || s.commit != "" || s.date != "1970-01-01T00:00:07Z" {
		t.Errorf("%+v", s)
	}
}

func TestTargets(t *testing.T) {
	if targets := choose(""); len(targets) != 6 {
		t.Errorf("%v", targets)
	}
	if targets := choose("linux/arm64,windows/amd64"); len(targets) != 2 || targets[1] != (target{"windows", "amd64"}) {
		t.Errorf("%v", targets)
	}
	for _, wrong := range []string{"linux", "plan9/amd64", "linux/amd64,"} {
		if attempt(func() { choose(wrong) }) == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// TestArchives are the same whenever they are made, by whomever: the order, times
// and modes of the files on the disk are not in them.
func TestArchives(t *testing.T) {
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	windows := target{"windows", "amd64"}
	pack := func(order []string, mode fs.FileMode, modified, at time.Time) map[string]string {
		r := &release{source: source{version: "1.2.3", time: at}, out: t.TempDir(), work: t.TempDir()}
		for _, name := range order {
			file := filepath.Join(r.stage(windows), filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte("this is "+name), mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, modified, modified); err != nil {
				t.Fatal(err)
			}
		}
		r.archive(windows)
		return map[string]string{"tar": read(t, r.out, r.base(windows)+".tar.gz"), "zip": read(t, r.out, r.base(windows)+".zip")}
	}
	a := pack([]string{"looprun.exe", "man/man1/looprun.1", "LICENSE"}, 0o600, when, when)
	b := pack([]string{"LICENSE", "man/man1/looprun.1", "looprun.exe"}, 0o755, when.Add(time.Hour), when)
	c := pack([]string{"looprun.exe", "man/man1/looprun.1", "LICENSE"}, 0o600, when, when.Add(2*time.Second))
	for _, format := range []string{"tar", "zip"} {
		if a[format] != b[format] {
			t.Errorf("%s: other times, modes and order give another archive", format)
		}
		if a[format] == c[format] {
			t.Errorf("%s: the date is not in the archive", format)
		}
		got := unpack(t, format, []byte(a[format]))
		if len(got) != 3 || got["looprun.exe"] != "-rwxr-xr-x this is looprun.exe" || got["man/man1/looprun.1"] != "-rw-r--r-- this is man/man1/looprun.1" {
			t.Errorf("%s: %q", format, got)
		}
	}
}

// unpack is the mode and the text of each member.
func unpack(t *testing.T, format string, archive []byte) map[string]string {
	t.Helper()
	got := map[string]string{}
	if format == "zip" {
		z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			text, err := fs.ReadFile(z, f.Name)
			if err != nil {
				t.Fatal(err)
			}
			got[f.Name] = f.Mode().String() + " " + string(text)
		}
		return got
	}
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" {
			t.Errorf("%s belongs to somebody", h.Name)
		}
		got[h.Name] = fs.FileMode(h.Mode).String() + " " + string(text)
	}
}
