package workspace

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/signature"
)

// Fingerprint is the state of a work tree at one moment. The zero value means unknown, which
// is neither a change nor the lack of one.
//
// A guard that checks whether anything was done compares the whole fingerprint: a commit
// counts, even if it is empty. A guard that checks whether the tree has returned to an earlier
// state compares only Content: a revert makes a new commit, but the files are the old ones all
// the same.
type Fingerprint struct {
	// Content is the hash of the names, modes and contents of all files. It does not depend on
	// whether they are committed, staged, changed or untracked, except for files that git
	// converts (line ends, LFS): for those an uncommitted state differs from the same state
	// committed.
	Content signature.Hash
	// Commit is the full id of the commit that is checked out, on a branch or not. It is empty
	// before the first commit and without git.
	Commit string
	Git    bool // it is of a git work tree
}

// MaxFiles is how many files are examined: in a git work tree those that differ from the last
// commit, elsewhere all.
const MaxFiles = 100_000

// ErrTooManyFiles is returned if more than [MaxFiles] files would have to be examined.
var ErrTooManyFiles = errors.New("too many files to look at")

// The modes that git gives files, and our own for files for which git has none.
const (
	modeAbsent     = "000000"
	modeFile       = "100644"
	modeExecutable = "100755"
	modeLink       = "120000"
	modeRepository = "160000"
	modeOther      = "other" // a directory that cannot be read, a pipe, a socket, a device
	modeFound      = "found" // that of the file, whatever it is
)

// sum is a hash of a set of files that supports adding and removing a file. That makes it
// possible to hash a large tree by examining only what differs from a known one.
type sum uint64

// add adds a file; object is git's id of its content. For a missing file it adds nothing.
func (s *sum) add(path, mode, object string) {
	if mode != modeAbsent {
		*s += sum(entry(path, mode, object))
	}
}

// remove removes a file that was added.
func (s *sum) remove(path, mode, object string) {
	if mode != modeAbsent {
		*s -= sum(entry(path, mode, object))
	}
}

func entry(path, mode, object string) uint64 {
	var short [256]byte
	b := append(short[:0], mode...)
	b = append(b, ' ')
	b = append(b, object...)
	b = append(b, '\t')
	b = append(b, path...)
	return xxhash.Sum64(b)
}

// digest turns a sum into a hash: the sum of no files is zero, but a zero hash means unknown.
func (s sum) digest() signature.Hash {
	d := signature.Hash(xxhash.Sum64(binary.LittleEndian.AppendUint64([]byte("work tree "), uint64(s))))
	return max(d, 1)
}
