package workspace

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/signature"
)

// Fingerprint is the state of a work tree at one moment. The zero value means that
// it is not known: that is neither a change nor the lack of one.
//
// A guard that asks whether anything was done compares the whole of it: a commit is
// something that was done, also when it is empty. A guard that asks whether the
// tree is back where it was compares Content alone: a revert makes a new commit,
// and the files are the old ones all the same.
type Fingerprint struct {
	// Content is the hash of the names, modes and contents of all files. Whether
	// they are committed, staged, changed or untracked makes no difference, except
	// for files that git converts (line ends, LFS): of those an uncommitted state
	// differs from the same state committed.
	Content signature.Hash
	// Commit is the full id of the commit that is checked out, on a branch or not.
	// It is empty before the first commit and where there is no git.
	Commit string
	Git    bool // it is of a git work tree
}

// MaxFiles is how many files are looked at: of a git work tree those that differ
// from the last commit, elsewhere all.
const MaxFiles = 100_000

// ErrTooManyFiles is returned when more than [MaxFiles] files would have to be
// looked at.
var ErrTooManyFiles = errors.New("too many files to look at")

// The modes that git gives to files, and ours for what git has none for.
const (
	modeAbsent     = "000000"
	modeFile       = "100644"
	modeExecutable = "100755"
	modeLink       = "120000"
	modeRepository = "160000"
	modeOther      = "other" // a directory that cannot be read, a pipe, a socket, a device
	modeFound      = "found" // that of the file, whatever it is
)

// sum is a hash of a set of files that a file can be added to and taken from. Only
// so can a large tree be hashed by looking at what differs from a known one.
type sum uint64

// add adds a file: object is the id that git gives to its content. Nothing is added
// for a file that is not there.
func (s *sum) add(path, mode, object string) {
	if mode != modeAbsent {
		*s += sum(entry(path, mode, object))
	}
}

// remove takes a file out that was added.
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

// digest makes a sum look like a hash: the sum of no files is zero, and zero is
// unknown.
func (s sum) digest() signature.Hash {
	d := signature.Hash(xxhash.Sum64(binary.LittleEndian.AppendUint64([]byte("work tree "), uint64(s))))
	return max(d, 1)
}
