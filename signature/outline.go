package signature

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/looprun/looprun/internal/ascii"
)

const (
	knownLines  = 1024 // places for lines that are known by their outlines
	knownPieces = 12   // pieces of a line that differ between lines of one outline
	knownAfter  = 64   // so many lines are read before any is remembered
)

// known caches, by outline, what the scanner found in lines. Most lines of a long log are like
// earlier ones, with other numbers: for those it assembles the answer from the positions of
// the pieces.
//
// The zero value is ready to use. Memory use is bounded, and allocated with the first lines
// that are cached. The cache is valid for one scanner, for as long as it lives.
type known struct {
	lines []knownLine // by outline
	ids   []idPlaces  // by length, begin and end of a line
	count int         // lines read before, up to knownAfter
	luck  int         // how much looking up has paid of late
	rest  int         // so many lines are not looked up, since it has not
}

// The cost and benefit of a look-up, in luck. If less than a quarter of the lines are known,
// look-ups cost more than they save, so they pause and are tried again later.
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

// piece is a part of a line that goes into the hashes.
type piece struct {
	from, to uint16
	kind     pieceKind
}

type pieceKind uint8

const (
	numberPiece pieceKind = iota // a number that the strict hash has
	textPiece                    // text with digits in it
	maskPiece                    // a mask behind such text
)

// hash is scanner.hash, from the cache if possible.
func (k *known) hash(sc *scanner, b []byte) lineHash {
	switch {
	case len(b) < 8 || len(b) > maxOutline || sc.dirStem != "" && bytes.Contains(b, []byte(sc.dirStem)):
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
	// The ids are most likely at the same positions as in the last line with the same length,
	// beginning and end.
	ends := mix(ascii.Zeroed(binary.LittleEndian.Uint64(b))^uint64(len(b)), ascii.Zeroed(binary.LittleEndian.Uint64(b[len(b)-8:])))
	ids := &k.ids[ends%knownLines]
	if h, ok := k.recall(b, outlineWith(b, ids)); ok {
		return h
	}
	id := outlineOf(b, ids)
	if h, ok := k.recall(b, id); ok {
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
	if l.n >= 0 {
		l.outline = id
	}
	return h
}

// recall returns the hashes of a line if its outline is cached.
func (k *known) recall(b []byte, outline uint64) (lineHash, bool) {
	l := &k.lines[outline%knownLines]
	if l.outline != outline || outline == 0 {
		return lineHash{}, false
	}
	k.luck = min(k.luck+luckOfHit, mostLuck)
	return l.hash(b), true
}

// hash assembles the hashes of a line.
func (l *knownLine) hash(b []byte) lineHash {
	h, nums := l.loose, uint64(0)
	for _, p := range l.pieces[:l.n] {
		switch p.kind {
		case numberPiece:
			nums = mixText(nums+markNumber, b[p.from:p.to])
		case textPiece:
			h = mixText(h, b[p.from:p.to])
		case maskPiece:
			h = mix(h, markMasked)
		}
	}
	return lineHash{loose: h, strict: mix(h, nums)}
}

// text records a text that was just folded into the hash h.
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

// mask records that a mask was just folded into the hash h.
func (l *knownLine) mask(h uint64) {
	switch {
	case l == nil:
	case l.folded:
		l.add(maskPiece, 0, 0)
	default:
		l.loose = h
	}
}

// number records a number.
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

// maxOutline is the maximum length of a line that has an outline, in bytes.
const maxOutline = 1024

const (
	markHex  = 0x8cb92ba72f3d8dd7
	markUUID = 0xa24baed4963ee407
)

// An outline is a hash of a line in which each digit counts as 0, and hexadecimal ids count
// only by position and length. In two lines with the same outline the scanner finds the same
// things at the same positions: it distinguishes digits from other bytes but never one digit
// from another (except for 0x), and the outline includes
// everything that it examines in an id.
//
// outlineOf returns the outline, and the positions of the ids; it returns 0 for a line without
// an outline.
func outlineOf(b []byte, ids *idPlaces) uint64 {
	h := uint64(len(b)) * markLength
	ids.n = 0
	for from := 0; ; {
		id := nextID(b, from)
		if id.end < 0 || id.mark != 0 && ids.n == len(ids.at) {
			return 0
		}
		h = mixZeroed(h, b[from:id.start])
		if id.mark == 0 {
			return max(h, 1)
		}
		ids.at[ids.n] = idPlace{uint16(id.start), uint16(id.end)}
		ids.n++
		h = mixID(h, id)
		from = id.end
	}
}

// outlineWith is outlineOf for ids at the given positions, which is faster; it returns 0 if
// they are not there.
func outlineWith(b []byte, ids *idPlaces) uint64 {
	h, from := uint64(len(b))*markLength, 0
	for _, at := range ids.at[:ids.n] {
		if int(at.end) > len(b) {
			return 0
		}
		id := idAt(b, int(at.start))
		if id.end != int(at.end) || id.mark == 0 {
			return 0
		}
		h = mixID(mixZeroed(h, b[from:id.start]), id)
		from = id.end
	}
	return max(mixZeroed(h, b[from:]), 1)
}

// idPlaces holds the positions of a line's ids.
type idPlaces struct {
	at [4]idPlace
	n  int
}

type idPlace struct{ start, end uint16 }

func mixID(h uint64, id lineID) uint64 {
	return mix(h, id.mark^uint64(id.start)<<32^uint64(id.end))
}

// mixZeroed folds b into h, with 0 for every digit. The last words may overlap.
func mixZeroed(h uint64, b []byte) uint64 {
	last := len(b) - 8
	if last < 0 {
		return mix(h, ascii.Zeroed(upToEight(b)))
	}
	for i := 0; i < last-8; i += 16 {
		h = mixTwo(h, b[i:], b[i+8:])
	}
	return mixTwo(h, b[max(0, last-8):], b[last:])
}

func mixTwo(h uint64, b, c []byte) uint64 {
	v, w := ascii.Zeroed(binary.LittleEndian.Uint64(b)), ascii.Zeroed(binary.LittleEndian.Uint64(c))
	hi, lo := bits.Mul64(h^v^mulA, w^mulB)
	return hi ^ lo
}

// aToF marks a to f in x, which has no high bits and only lower-case letters.
func aToF(x uint64) uint64 {
	return (x + (0x80-'a')*ones) &^ (x + (0x80-'f'-1)*ones)
}

// hexLetters marks a to f and x, in either case.
func hexLetters(w uint64) uint64 {
	x := w&^highs | 0x20*ones
	return (aToF(x) | ^((x ^ 'x'*ones) + 0x7f*ones)) &^ w & highs
}

// hexDigits marks the hexadecimal digits.
func hexDigits(w uint64) uint64 {
	x := w&^highs | 0x20*ones
	return (ascii.Marked(w) | aToF(x)&^w) & highs
}

// lineID is an id in a line, or a word that is not one.
type lineID struct {
	start, end int    // the end is below 0 where the line can have no outline
	mark       uint64 // 0 for no id
}

// nextID finds the next id at or after from. If there is none, the result starts at the end of
// the line.
func nextID(b []byte, from int) lineID {
	lastD := uint64(0)
	for i := from; i < len(b); {
		var w uint64
		if i+8 <= len(b) {
			w = binary.LittleEndian.Uint64(b[i:])
		} else {
			w = upToEight(b[i:])
		}
		d := ascii.Marked(w)
		if d|lastD != 0 {
			l, lastL := hexLetters(w), uint64(0)
			if i > from {
				lastL = hexLetters(uint64(b[i-1])) & 0x80
			}
			if mixed := (d<<8|lastD)&l | (l<<8|lastL)&d; mixed != 0 {
				id := hexID(b, from, i+bits.TrailingZeros64(mixed)>>3)
				if id.mark != 0 || id.end < 0 {
					return id
				}
				i, lastD = id.end, 0
				continue
			}
		}
		lastD = d >> 56
		i += 8
	}
	return lineID{start: len(b), end: len(b)}
}

// hexID examines the word around b[p], which has both a digit and one of a to f or x.
func hexID(b []byte, from, p int) lineID {
	for p > from && word(b[p-1]) {
		p--
	}
	return idAt(b, p)
}

// idAt examines the word that starts at s. It is an id if the scanner masks it as a whole,
// whatever else it contains.
func idAt(b []byte, s int) lineID {
	if s+36 <= len(b) && b[s+8] == '-' && uuidAt(b, s) > 0 {
		d := ascii.Marked(binary.LittleEndian.Uint64(b[s:]))
		lead := bits.TrailingZeros64(^d&highs) >> 3
		if d != 0 && startsAlone(b, s, lead) && (lead != 7 || b[s+7] != 'd' && b[s+7] != 'B') {
			return lineID{s, s + 36, markUUID ^ endOf(b, s+36)}
		}
	}
	lead := ascii.Digits(b, s) - s
	if lead == 1 && ascii.At(b, s+1)|0x20 == 'x' { // 0x1f is an id, 3x1f is not
		e := hexFrom(b, s+2)
		if b[s] != '0' || e == s+2 || word(ascii.At(b, e)) || !startsAlone(b, s, lead) {
			return lineID{end: -1}
		}
		return lineID{s, e, markHex ^ endOf(b, e)}
	}
	alone := startsAlone(b, s, lead)
	e := hexFrom(b, s)
	hex := !word(ascii.At(b, e))
	e = runOf(b, e, wordMask)
	n, d := e-s, 0
	if hex && alone && n >= 6 {
		d = digitCount(b[s:e])
	}
	if d == 0 || d == n || d == 1 && n < 8 || lead > 0 && daysIn(b, s+lead, e) {
		return lineID{start: s, end: e}
	}
	return lineID{s, e, markHex ^ endOf(b, e)}
}

// daysIn reports whether the text after the first digits of a word, at i, may be the unit of
// days, with more of the duration after it: 1234567d 5s, 12d345.5s.
func daysIn(b []byte, i, e int) bool { return b[i] == 'd' && ascii.Digits(b, i+1) == e }

func digitCount(b []byte) int {
	n := 0
	for _, c := range b {
		if ascii.Digit(c) {
			n++
		}
	}
	return n
}

// startsAlone reports whether a word at s, with lead leading digits, is independent of the
// text before it: nothing that the scanner finds before the word can end within it or depend
// on how it begins.
func startsAlone(b []byte, s, lead int) bool {
	if s == 0 {
		return true
	}
	switch b[s-1] {
	case '=', '"', '\'', '`', '(', '[', '{', '<', '|', '#', '@':
		return true
	case ' ':
		return lead != 4 // the year in Nov 21 2026ab
	case ':', '/', '-', '.', ',':
		return lead != 4 && s > 1 && letter(b[s-2]) // 21-Nov-2026ab
	}
	return false
}

// endOf encodes what the scanner may examine of an id that ends at e when it classifies the
// text after it: the letters fd make a following number a descriptor, and a digit precedes a
// line number or a fraction.
func endOf(b []byte, e int) uint64 {
	end := uint64(0)
	if lower(b[e-1]) == 'd' && lower(b[e-2]) == 'f' && !letter(b[e-3]) {
		end = 1 << 62
	}
	if c := ascii.At(b, e); (c == ':' || c == '/' || c == ' ' && ascii.At(b, e+1) == 'o') && ascii.Digit(b[e-1]) {
		end |= 1 << 61
	}
	return end
}

func hexFrom(b []byte, i int) int { return runOf(b, i, isDigit|isHex) }
