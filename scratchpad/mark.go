package scratchpad

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/xdg"
)

// Each record of a run ends with a mark, before its checksum: part of a keyed hash over the
// record and all earlier ones. The checksum detects damage; the mark proves who wrote the
// record: the key is in the user's own state folder, where neither a repository nor an archive
// can put one.
const (
	markField = `,"mark":"`
	markBytes = 16
	keyName   = "key"
	keySize   = 32
)

// markSize is the number of bytes that a mark adds to a record, at 6 bits a character.
const markSize = len(markField) + (8*markBytes+5)/6 + len(`"`)

// marker marks records; it holds the keyed hash up to the last of them. Without a key it marks
// nothing.
type marker struct {
	key   []byte
	link  [sha256.Size]byte
	keyed hash.Hash // of the key, for the next record
}

// digest is what a mark covers: the hashes of a record and of its detail file.
type digest struct{ body, detail [sha256.Size]byte }

// digestOf expects an object without its closing brace.
func digestOf(body, detail []byte) digest {
	return digest{sha256.Sum256(body), sha256.Sum256(detail)}
}

// next returns the marker after one more record.
func (m marker) next(d digest) marker {
	if m.key == nil {
		return m
	}
	if m.keyed == nil {
		m.keyed = hmac.New(sha256.New, m.key)
	}
	m.keyed.Reset()
	m.keyed.Write(m.link[:])
	m.keyed.Write(d.body[:])
	m.keyed.Write(d.detail[:])
	m.keyed.Sum(m.link[:0])
	return m
}

// mark returns the field that ends the last record; empty without a key.
func (m marker) mark() string {
	if m.key == nil {
		return ""
	}
	return markField + base64.RawURLEncoding.EncodeToString(m.link[:markBytes]) + `"`
}

// unmark removes the mark from a record without its closing brace; mark is nil if there is
// none.
func unmark(body []byte) (rest, mark []byte) {
	if at := len(body) - markSize; at > 0 && bytes.HasPrefix(body[at:], []byte(markField)) {
		return body[:at], body[at:]
	}
	return body, nil
}

// proven is what the marks of a journal prove, up to its first damaged record.
type proven struct {
	marker  marker // after the last of them
	records int64
	marked  bool   // some record has a mark
	begun   bool   // the first has the right one
	mine    bool   // the last has: it and all before it were written, or agreed to, with the key
	last    []byte // the last one's mark, or none
}

// prove reads the marks of a run.
func prove(dir string, key []byte) (proven, error) {
	f, err := openRegular(filepath.Join(dir, journalName))
	if err != nil {
		return proven{marker: marker{key: key}}, err
	}
	defer f.Close()
	p := proven{marker: marker{key: key}}
	err = eachLine(bufio.NewReaderSize(f, blockSize), func(line []byte) error { return p.add(dir, line) })
	if errors.Is(err, errNoRecord) {
		err = nil
	}
	p.mine = p.right()
	return p, err
}

// errNoRecord ends a proof at a torn end or at damage.
var errNoRecord = errors.New("it is no whole record")

// add adds the mark of the next line.
func (p *proven) add(dir string, line []byte) error {
	line, ended := bytes.CutSuffix(line, []byte{'\n'})
	switch {
	case len(line) == 0: // padding
		return nil
	case !ended:
		return errNoRecord
	}
	body, err := sealed(line)
	if err != nil {
		return errNoRecord
	}
	detail, err := detailOf(dir, body)
	if err != nil {
		return errNoRecord
	}
	body, mark := unmark(body)
	p.records++
	p.marker = p.marker.next(digestOf(body, detail))
	p.marked = p.marked || mark != nil
	p.last = append(p.last[:0], mark...) // the reader uses the line's memory again
	if p.records == 1 {
		p.begun = p.right()
	}
	return nil
}

// right reports whether the last record has the correct mark.
func (p *proven) right() bool {
	return len(p.last) > 0 && hmac.Equal(p.last, []byte(p.marker.mark()))
}

// ownKey returns the user's key. If making is set, it creates a missing one.
func ownKey(making bool) ([]byte, error) {
	dir := xdg.State()
	if dir == "" {
		return nil, errors.New("there is no home directory for your key")
	}
	if making {
		if err := os.MkdirAll(dir, dirMode); err != nil {
			return nil, fmt.Errorf("your key cannot be kept: %w", err)
		}
	}
	if info, err := os.Stat(dir); err == nil && (foreign(info) || modesHold && info.Mode().Perm()&0o022 != 0) {
		return nil, fmt.Errorf("%s belongs to somebody else, or others can write to it, so your key is not kept there; make it yours, with mode 700", dir)
	}
	name := filepath.Join(dir, keyName)
	key, err := readKey(name)
	if making && errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(name); err == nil {
			key, err = readKey(name) // of two that made one at once the first counts
		}
	}
	if err != nil {
		return nil, fmt.Errorf("your key cannot be used: %w", err)
	}
	return key, nil
}

// Keyed returns a hash of data, in hexadecimal, that only somebody with the user's own key can
// make. It creates a missing key.
func Keyed(data []byte) (string, error) {
	key, err := ownKey(true)
	if err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// readKey rejects a key that somebody else may know.
func readKey(name string) ([]byte, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if foreign(info) || modesHold && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is not yours alone (mode %04o); remove it", name, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, readLimit))
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("%s holds no key; remove it", name)
	}
	return key, nil
}

// makeKey writes a new key under that name, unless another process was faster.
func makeKey(name string) (err error) {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails
	f, err := os.CreateTemp(filepath.Dir(name), "."+keyName+".*.tmp")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(hex.EncodeToString(key) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), name)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil: // a file system without second names
		if err = os.Rename(f.Name(), name); err != nil {
			return err
		}
	}
	return atomicfile.SyncDir(filepath.Dir(name))
}
