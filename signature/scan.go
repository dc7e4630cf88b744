package signature

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// scanner finds the noise in a line. It walks the bytes once, eight at a time, stops only at
// bytes that can start noise, and meanwhile builds the line's hashes without the noise.
type scanner struct {
	dir string // absolute path of the checkout, without a trailing slash; "" none
	// dirStem is dir up to the first word with a digit; "" if there is none.
	dirStem string
}

func newScanner(dir string) scanner {
	sc := scanner{dir: strings.TrimRight(dir, "/")}
	if i := strings.IndexAny(sc.dir, "0123456789"); i >= 0 {
		for i > 0 && word(sc.dir[i-1]) {
			i--
		}
		sc.dirStem = sc.dir[:i]
	}
	return sc
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080

	mulA = 0xa0761d6478bd642f
	mulB = 0xe7037ed1a0b428db

	markMasked = 0x9e3779b97f4a7c15
	markNumber = 0xc2b2ae3d27d4eb4f
	markLength = 0x165667b19e3779f9
)

// mix folds one word into a running hash.
func mix(h, w uint64) uint64 {
	hi, lo := bits.Mul64(h^w^mulA, mulB)
	return hi ^ lo
}

// triggers marks, in the high bit of each byte of w, the digits, '/' and '\\'. Bytes above the
// lowest that is marked may be marked too.
func triggers(w uint64) uint64 {
	x := w &^ highs
	d := (x + (0x80-0x2f)*ones) &^ (x + (0x80-0x3a)*ones) &^ w
	y := w ^ 0x5c*ones
	return (d | (y-ones)&^y) & highs
}

// trigger returns the index of the first trigger byte of b at or after i, or len(b).
func trigger(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := triggers(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	if i == len(b) {
		return i
	}
	if from := len(b) - 8; from >= 0 { // the last eight bytes, those before i left out
		w := binary.LittleEndian.Uint64(b[from:])
		if m := triggers(w >> (8 * (i - from))); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		return len(b)
	}
	for ; i < len(b); i++ {
		if c := b[i]; c-0x2f < 11 || c == '\\' {
			return i
		}
	}
	return len(b)
}

// mixText folds b into h: equal texts give equal results at any alignment.
func mixText(h uint64, b []byte) uint64 {
	h += uint64(len(b)) * markLength
	for len(b) > 8 {
		h = mix(h, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	return mix(h, upToEight(b))
}

// upToEight loads the bytes of b, at most eight.
func upToEight(b []byte) uint64 {
	switch n := len(b); {
	case n == 8:
		return binary.LittleEndian.Uint64(b)
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*(n-4))
	case n > 0:
		return uint64(b[0]) | uint64(b[n>>1])<<(8*(n>>1)) | uint64(b[n-1])<<(8*(n-1))
	}
	return 0
}

// lineHash is the scanner's result for a line: loose omits every number, strict keeps those
// that mean something. Lines that differ only in noise have equal hashes.
type lineHash struct{ loose, strict uint64 }

// hash scans one line, without its line end. It records what it found in found, which may be
// nil.
func (sc *scanner) hash(b []byte, found *knownLine) lineHash {
	h, nums := uint64(0), uint64(0)
	pos, i := 0, 0
	inMask := false
	for {
		k := trigger(b, i)
		if k == len(b) {
			break
		}
		s, e, kd := sc.token(b, pos, k)
		if kd == plain {
			i = e
			continue
		}
		t := s
		for t > pos && b[t-1] == ' ' {
			t--
		}
		if t > pos {
			h = mixText(h, b[pos:t])
			found.text(h, b, pos, t)
			inMask = false
		}
		if kd == number {
			nums = mixText(nums+markNumber, b[s:e])
			found.number(s, e)
		}
		if kd != rootDir && !inMask {
			h = mix(h, markMasked)
			found.mask(h)
			inMask = true
		}
		e = runOf(b, e, isSpace)
		pos, i = e, e
	}
	if pos < len(b) {
		h = mixText(h, b[pos:])
		found.text(h, b, pos, len(b))
	}
	return lineHash{loose: h, strict: mix(h, nums)}
}

// maskText holds the names of the masks in the text form.
var maskText = [...]string{number: "<n>", masked: "<n>", moment: "<time>", span: "<dur>", amount: "<size>", ident: "<n>", tempDir: "<tmp>", rootDir: ""}

// text appends the masked form of a line to dst: the spans of hash, with a named mask for
// each. With loose, numbers are masked too. A number directly next to noise is examined again
// without the noise, so that masking twice gives the same result as masking once.
func (sc *scanner) text(dst, b []byte, loose bool) []byte {
	from := len(dst)
	for {
		dst = sc.mask(dst[:from], b, func(_, _ int, kd kind) bool { return kd == number && !loose })
		dst = words(dst, from)
		if bytes.Equal(dst[from:], b) {
			return dst
		}
		b = bytes.Clone(dst[from:])
	}
}

// mask appends a line to dst, with a mask for each span except those that stay.
func (sc *scanner) mask(dst, b []byte, stays func(s, e int, kd kind) bool) []byte {
	pos, i := 0, 0
	for {
		k := trigger(b, i)
		if k == len(b) {
			return append(dst, b[pos:]...)
		}
		s, e, kd := sc.token(b, pos, k)
		if kd == plain || stays(s, e, kd) {
			i = max(e, k+1)
			continue
		}
		dst = append(dst, b[pos:s]...)
		dst = append(dst, maskText[kd]...)
		pos, i = e, e
	}
}
