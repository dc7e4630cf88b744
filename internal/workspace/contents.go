package workspace

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// largest is the maximum size of a file that is read completely, in bytes.
	largest = 64 << 20
	// sample is how much is read of the beginning and of the end of a larger file.
	sample = 1 << 20
	// granule is how far apart two changes must be so that the file's times distinguish them,
	// on the coarsest file system (FAT) and with its clock slightly behind ours.
	granule = 2 * time.Second
)

// contents caches the contents of the files below a root. It drops those that were not
// requested between begin and end.
type contents struct {
	root      string
	known     map[string]content
	now       map[string]content
	hash256   bool // the repository names objects by SHA-256
	readFiles int  // how many were read, for tests
	own       []fs.FileInfo
}

// content is what a file contained when it had that stat.
type content struct {
	stat   stat
	object string
	young  bool // it was changed so shortly before that it may change unseen
}

// stat is everything that reveals a changed file without reading it.
type stat struct {
	mode         fs.FileMode
	size         int64
	mtime, ctime int64 // in nanoseconds; ctime is 0 where there is none
	dev, ino     uint64
}

func newContents(root string) *contents { return &contents{root: root} }

func (c *contents) begin() { c.now = make(map[string]content, len(c.known)) }
func (c *contents) end()   { c.known, c.now = c.now, nil }

// addTo adds the file as it is now. Of git's mode only the executable bit counts, which the
// file itself does not have on all systems.
func (c *contents) addTo(d *sum, path, mode string) {
	name := filepath.Join(c.root, filepath.FromSlash(path))
	if c.isOwn(name) {
		return
	}
	st, err := statOf(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return // gone since
	case err != nil:
		d.add(path, modeOther, "unreadable")
		return
	case st.mode&fs.ModeSymlink != 0:
		mode = modeLink
	case !st.mode.IsRegular():
		d.add(path, modeOther, st.mode.Type().String())
		return
	case mode != modeFile && mode != modeExecutable:
		if mode = modeFile; st.mode&0o100 != 0 {
			mode = modeExecutable
		}
	}
	d.add(path, mode, c.object(path, name, st))
}

// isOwn reports whether looprun itself writes to the file.
func (c *contents) isOwn(name string) bool {
	if len(c.own) == 0 {
		return false
	}
	info, err := os.Lstat(name)
	return err == nil && slices.ContainsFunc(c.own, func(own fs.FileInfo) bool { return os.SameFile(own, info) })
}

// object returns the id that git would give the file.
func (c *contents) object(path, name string, st stat) string {
	if was, ok := c.known[path]; ok && was.stat == st && !was.young {
		c.now[path] = was
		return was.object
	}
	c.readFiles++
	// Read the clock before the file: anything written meanwhile also counts as young.
	young := st.changed().After(time.Now().Add(-granule))
	object, err := c.read(name, st)
	if err != nil {
		object = fmt.Sprintf("unreadable %d %d", st.size, st.mtime)
	}
	if after, err := statOf(name); err != nil || after != st {
		young = true
	}
	c.now[path] = content{stat: st, object: object, young: young}
	return object
}

// changed returns when the file, or its metadata, last changed.
func (s stat) changed() time.Time { return time.Unix(0, max(s.mtime, s.ctime)) }

func (c *contents) read(name string, st stat) (string, error) {
	if st.mode&fs.ModeSymlink != 0 {
		target, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		h := c.blob(int64(len(target)))
		_, _ = io.WriteString(h, target) // a hash never fails
		return hex.EncodeToString(h.Sum(nil)), nil
	}
	f, err := os.OpenFile(name, os.O_RDONLY|noWaiting, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file any longer")
	}
	h := c.blob(st.size)
	if st.size > largest {
		fmt.Fprintf(h, "large %d ", st.mtime)
		_, err = io.Copy(h, io.NewSectionReader(f, 0, sample))
		if err == nil {
			_, err = io.Copy(h, io.NewSectionReader(f, st.size-sample, sample))
		}
	} else {
		_, err = io.Copy(h, io.LimitReader(f, st.size+1)) // one that grows without end is cut
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// blob begins the hash of a file of n bytes as git does, so that a file has the same id before
// and after it is committed.
func (c *contents) blob(n int64) hash.Hash {
	h := sha1.New()
	if c.hash256 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", n)
	return h
}
