package signature

import (
	"bytes"
	"encoding/binary"

	"github.com/looprun/looprun/internal/ascii"
)

const (
	knownLines  = 1024 // places for lines that are known by their outlines
	knownPieces = 12   // pieces of a line that differ between lines of one outline
	knownAfter  = 64   // so many lines are read before any is remembered
)

// known remembers by their outlines what the scanner found in lines. Most lines of a
// long log are like lines before, with other numbers: there its answer is put together
// from the places where they stand.
//
// The zero value is ready. Memory is bounded, and taken with the first lines that are
// remembered. What is remembered holds for a scanner as long as it lives.
type known struct {
	lines []knownLine // by outline
	ids   []idPlaces  // by length, begin and end of a line
	count int         // lines read before, up to knownAfter
	luck  int         // how much looking up has paid of late
	rest  int         // so many lines are not looked up, since it has not
}

// What a look-up costs and brings, in luck. Where less than a quarter of the lines is
// known it costs more than it saves, and is tried again later.
const (
	luckOfHit  = 3
	mostLuck   = 512
	restLines  = 4096
	firstTries = 128 // misses in a row after a rest
)

// knownLine is what the scanner found in a line.
type knownLine struct {
	outline uint64 // 0: none
	loose   uint64 // the loose hash up to the first piece of text or mask
	pieces  [knownPieces]piece
	n       int8 // how many of them; -1: more than there is room for
	folded  bool // a piece of text or mask is among them
}

// piece is a part of a line that the hashes need.
type piece struct {
	from, to uint16
	kind     pieceKind
}

type pieceKind uint8

const (
	numberPiece pieceKind = iota // a number that the strict hash has
	textPiece                    // text with digits in it
	maskPiece                    // a mask behind such text
	dirPiece                     // the checkout's path stands here
)

// hash is scanner.hash, from memory where it can be.
func (k *known) hash(sc *scanner, b []byte) lineHash {
	switch {
	case len(b) < 8 || len(b) > maxOutline:
		return sc.hash(b, nil)
	case k.rest > 0:
		k.rest--
		return sc.hash(b, nil)
	case k.lines == nil && k.count < knownAfter:
		k.count++
		return sc.hash(b, nil)
	case k.lines == nil:
		k.lines, k.ids, k.luck = make([]knownLine, knownLines), make([]idPlaces, knownLines), mostLuck
	}
	// The ids are most likely where they were in a line of that length that begins and
	// ends like this one.
	ends := mix(ascii.Zeroed(binary.LittleEndian.Uint64(b))^uint64(len(b)), ascii.Zeroed(binary.LittleEndian.Uint64(b[len(b)-8:])))
	ids := &k.ids[ends%knownLines]
	if h, ok := k.recall(sc, b, outlineWith(b, ids)); ok {
		return h
	}
	id := outlineOf(b, ids)
	if h, ok := k.recall(sc, b, id); ok {
		return h
	}
	if k.luck--; k.luck < 0 {
		k.luck, k.rest = firstTries, restLines
	}
	if id == 0 {
		return sc.hash(b, nil)
	}
	l := &k.lines[id%knownLines]
	*l = knownLine{}
	h := sc.hash(b, l)
	if l.n >= 0 && l.dir(sc, b) {
		l.outline = id
	}
	return h
}

// recall returns the hashes of a line with an outline that is known.
func (k *known) recall(sc *scanner, b []byte, outline uint64) (lineHash, bool) {
	l := &k.lines[outline%knownLines]
	if l.outline != outline || outline == 0 {
		return lineHash{}, false
	}
	h, ok := l.hash(sc, b)
	if ok {
		k.luck = min(k.luck+luckOfHit, mostLuck)
	}
	return h, ok
}

// hash puts the hashes of a line together; false where its outline does not decide.
func (l *knownLine) hash(sc *scanner, b []byte) (lineHash, bool) {
	h, nums := l.loose, uint64(0)
	for _, p := range l.pieces[:l.n] {
		switch p.kind {
		case numberPiece:
			nums = mixText(nums+markNumber, b[p.from:p.to])
		case textPiece:
			h = mixText(h, b[p.from:p.to])
		case maskPiece:
			h = mix(h, markMasked)
		case dirPiece:
			if !bytes.HasPrefix(b[p.from:], []byte(sc.dir)) {
				return lineHash{}, false
			}
		}
	}
	return lineHash{loose: h, strict: mix(h, nums)}, true
}

// text notes a text that the hash h takes in last.
func (l *knownLine) text(h uint64, b []byte, from, to int) {
	if l == nil {
		return
	}
	if !l.folded && digitCount(b[from:to]) > 0 {
		l.folded = true
	}
	if !l.folded {
		l.loose = h
		return
	}
	l.add(textPiece, from, to)
}

// mask notes that the hash h takes a mask in last.
func (l *knownLine) mask(h uint64) {
	switch {
	case l == nil:
	case l.folded:
		l.add(maskPiece, 0, 0)
	default:
		l.loose = h
	}
}

// number notes a number.
func (l *knownLine) number(from, to int) {
	if l != nil {
		l.add(numberPiece, from, to)
	}
}

func (l *knownLine) add(kind pieceKind, from, to int) {
	if l.n < 0 || l.n == knownPieces {
		l.n = -1
		return
	}
	l.pieces[l.n] = piece{uint16(from), uint16(to), kind}
	l.n++
}

// dir notes where the checkout's path stands, when it has digits, since the outline
// does not tell those from others. It returns false for a line that may have other
// digits in their place.
func (l *knownLine) dir(sc *scanner, b []byte) bool {
	if sc.dirStem == "" {
		return true
	}
	for i := 0; ; i++ {
		n := bytes.Index(b[i:], []byte(sc.dirStem))
		if n < 0 {
			return l.n >= 0
		}
		if i += n; !bytes.HasPrefix(b[i:], []byte(sc.dir)) {
			return false
		}
		l.add(dirPiece, i, i)
	}
}
