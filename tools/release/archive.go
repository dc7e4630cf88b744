package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
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
func (r *release) members(dir string) (list []member) {
	r.check(func() error {
		return fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			mode := fs.FileMode(0o644)
			if base := strings.TrimSuffix(e.Name(), ".exe"); base == "looprun" || base == "looprun-serve" {
				mode = 0o755
			}
			text, err := os.ReadFile(filepath.Join(dir, name))
			list = append(list, member{name, text, mode})
			return err
		})
	})
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return list
}

// archive writes a target's archives: a .tar.gz for all, since the GitHub action
// unpacks that on each system, and a .zip too for Windows.
func (r *release) archive(t target) {
	list := r.members(r.stage(t))
	r.check(func() error {
		packed, err := tarOf(list, r.time)
		r.write(r.base(t)+".tar.gz", packed)
		return err
	})
	if t.os == "windows" {
		r.check(func() error {
			packed, err := zipOf(list, r.time)
			r.write(r.base(t)+".zip", packed)
			return err
		})
	}
}

// tarOf packs files. A writer's errors stay, so that the last call has them.
func tarOf(list []member, modified time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, m := range list {
		// ustar has no fields for what differs from builder to builder.
		err = errors.Join(err, t.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: m.name, Mode: int64(m.mode), Size: int64(len(m.text)),
			ModTime: modified.Truncate(time.Second), Format: tar.FormatUSTAR,
		}))
		_, _ = t.Write(m.text)
	}
	err = errors.Join(err, t.Close(), z.Close())
	return b.Bytes(), err
}

func zipOf(list []member, modified time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range list {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: modified.UTC().Truncate(time.Second)}
		h.SetMode(m.mode)
		f, err := z.CreateHeader(h)
		if err == nil {
			_, err = f.Write(m.text)
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// checksums writes checksums.txt, as sha256sum -c reads it.
func (r *release) checksums() map[string]string {
	sums := map[string]string{}
	var text bytes.Buffer
	slices.Sort(r.made)
	for _, name := range r.made {
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(r.read(filepath.Join(r.out, name))))
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	r.write("checksums.txt", text.Bytes())
	return sums
}
