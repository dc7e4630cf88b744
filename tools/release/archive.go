package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// member is a file of an archive.
type member struct {
	name string // with slashes
	text []byte
	mode fs.FileMode
}

// members are the files below a folder, in the order of their names, so that
// archives do not depend on that of a file system. Modes do not depend on the
// builder's umask.
func members(dir string) (list []member) {
	check(fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		mode := fs.FileMode(0o644)
		if base := strings.TrimSuffix(e.Name(), ".exe"); base == "looprun" || base == "looprun-serve" {
			mode = 0o755
		}
		list = append(list, member{name, load(filepath.Join(dir, name)), mode})
		return nil
	}))
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return list
}

// archive writes a target's archives: a .tar.gz for all, since the GitHub action
// unpacks that on each system, and a .zip too for Windows.
func (r *release) archive(t target) {
	list := members(r.stage(t))
	r.write(r.base(t)+".tar.gz", tarOf(list, r.time))
	if t.os == "windows" {
		r.write(r.base(t)+".zip", zipOf(list, r.time))
	}
}

func tarOf(list []member, modified time.Time) []byte {
	var b bytes.Buffer
	z := must(gzip.NewWriterLevel(&b, gzip.BestCompression))
	t := tar.NewWriter(z)
	for _, m := range list {
		// ustar has no fields for what differs from builder to builder.
		check(t.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: m.name, Mode: int64(m.mode), Size: int64(len(m.text)),
			ModTime: modified.Truncate(time.Second), Format: tar.FormatUSTAR,
		}))
		must(t.Write(m.text))
	}
	check(t.Close())
	check(z.Close())
	return b.Bytes()
}

func zipOf(list []member, modified time.Time) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range list {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: modified.UTC().Truncate(time.Second)}
		h.SetMode(m.mode)
		must(must(z.CreateHeader(h)).Write(m.text))
	}
	check(z.Close())
	return b.Bytes()
}

// checksums writes checksums.txt, as sha256sum -c reads it.
func (r *release) checksums() map[string]string {
	sums := map[string]string{}
	var text bytes.Buffer
	slices.Sort(r.made)
	for _, name := range r.made {
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(load(filepath.Join(r.out, name))))
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	r.write("checksums.txt", text.Bytes())
	return sums
}
