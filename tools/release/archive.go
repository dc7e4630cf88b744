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
	"strings"
)

// archive writes a target's archives: a .tar.gz for all, since the GitHub action unpacks that
// on each system, and also a .zip for Windows. The times and the modes of the files are the
// release's, regardless of those on disk.
func (r *release) archive(t target) {
	var tarred, zipped bytes.Buffer
	g := must(gzip.NewWriterLevel(&tarred, gzip.BestCompression))
	a, z := tar.NewWriter(g), zip.NewWriter(&zipped)
	check(fs.WalkDir(os.DirFS(r.stage(t)), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, mode := load(filepath.Join(r.stage(t), name)), fs.FileMode(0o644)
		for _, p := range programs {
			if strings.TrimSuffix(name, ".exe") == p.name {
				mode = 0o755
			}
		}
		// ustar has no fields that differ from builder to builder.
		check(a.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: name, Mode: int64(mode), Size: int64(len(text)), ModTime: r.time, Format: tar.FormatUSTAR,
		}))
		must(a.Write(text))
		if t.os == "windows" {
			h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: r.time}
			h.SetMode(mode)
			must(must(z.CreateHeader(h)).Write(text))
		}
		return nil
	}))
	check(errors.Join(a.Close(), g.Close(), z.Close()))
	put(filepath.Join(r.out, r.base(t)+".tar.gz"), tarred.Bytes())
	if t.os == "windows" {
		put(filepath.Join(r.out, r.base(t)+".zip"), zipped.Bytes())
	}
}

// checksums writes checksums.txt, in the format of sha256sum -c.
func (r *release) checksums() map[string]string {
	sums := map[string]string{}
	var text bytes.Buffer
	for _, file := range r.made("looprun_" + r.version + "_*") {
		name := filepath.Base(file)
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(load(file)))
		fmt.Fprintf(&text, "%s  %s\n", sums[name], name)
	}
	put(filepath.Join(r.out, "checksums.txt"), text.Bytes())
	return sums
}
