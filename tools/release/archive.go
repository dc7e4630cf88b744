package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
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
	file string
	mode fs.FileMode
}

// members are the files below a folder, in the order of their names, so that
// archives do not depend on that of a file system. Modes do not depend on the
// builder's umask.
func members(dir string) ([]member, error) {
	var list []member
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if base := strings.TrimSuffix(e.Name(), ".exe"); base == "looprun" || base == "looprun-serve" {
			mode = 0o755
		}
		list = append(list, member{filepath.ToSlash(name), path, mode})
		return nil
	})
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return list, err
}

// archive writes a target's archives: a .tar.gz for all, since the GitHub action
// unpacks that on each system, and a .zip too for Windows.
func (r *release) archive(t target) error {
	list, err := members(r.stage(t))
	if err != nil {
		return err
	}
	if err := r.write(r.base(t)+".tar.gz", func(w io.Writer) error { return writeTar(w, list, r.time) }); err != nil {
		return err
	}
	if t.os != "windows" {
		return nil
	}
	return r.write(r.base(t)+".zip", func(w io.Writer) error { return writeZip(w, list, r.time) })
}

// write makes a file of the release.
func (r *release) write(name string, content func(io.Writer) error) error {
	f, err := os.OpenFile(filepath.Join(r.out, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	r.made = append(r.made, name)
	return errors.Join(content(f), f.Close())
}

func writeTar(w io.Writer, list []member, modified time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, m := range list {
		text, err := os.ReadFile(m.file)
		if err != nil {
			return err
		}
		// ustar has no fields for what differs from builder to builder.
		err = t.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: m.name, Mode: int64(m.mode), Size: int64(len(text)),
			ModTime: modified.Truncate(time.Second), Format: tar.FormatUSTAR,
		})
		if err != nil {
			return err
		}
		if _, err := t.Write(text); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func writeZip(w io.Writer, list []member, modified time.Time) error {
	z := zip.NewWriter(w)
	for _, m := range list {
		text, err := os.ReadFile(m.file)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: modified.UTC().Truncate(time.Second)}
		h.SetMode(m.mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(text); err != nil {
			return err
		}
	}
	return z.Close()
}

// checksums writes checksums.txt, as sha256sum -c reads it.
func (r *release) checksums() (map[string]string, error) {
	sums := map[string]string{}
	var text strings.Builder
	slices.Sort(r.made)
	for _, name := range slices.Clone(r.made) {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return nil, err
		}
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(content))
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	return sums, r.write("checksums.txt", func(w io.Writer) error {
		_, err := io.WriteString(w, text.String())
		return err
	})
}
