package signature

import (
	"encoding/binary"

	"github.com/looprun/looprun/internal/ascii"
	"github.com/looprun/looprun/internal/datetime"
)

// kind is the kind of a span that the scanner found in a line.
type kind byte

const (
	plain   kind = iota // text, stays
	number              // a number that stays in the strict form and is masked in the loose one
	masked              // a number, id, address, position: noise
	moment              // a date or time of day
	span                // a duration
	amount              // a size in bytes
	ident               // UUID, hash, hex address, random id
	tempDir             // a path below a temporary directory
	rootDir             // the directories of an absolute path
)

// token examines the trigger byte b[k] (a digit, '/' or '\\') and returns the span around it:
// b[s:e] of kind kd. The span starts at or after from. For plain text, e is where to continue.
// A number that stays as it is has numberKind.
func (sc *scanner) token(b []byte, from, k int) (s, e int, kd kind) {
	switch b[k] {
	case '/':
		return sc.path(b, from, k)
	case '\\':
		return windowsPath(b, from, k)
	}
	s = k
	for s > from && classOf[b[s-1]]&wordMask != 0 {
		s--
	}
	if s == k {
		return numeric(b, from, k)
	}
	return identifier(b, from, s, k)
}

// wordShape counts the kinds of characters in a word.
type wordShape struct {
	digits, hex, other, changes int
	run                         int // longest run of digits
	runAt                       int // where it starts
}

func shapeOf(w []byte) (sh wordShape) {
	run := 0
	for i, c := range w {
		cl := classOf[c]
		if cl&isDigit != 0 {
			sh.digits++
			if run == 0 && i > 0 {
				sh.changes++
			}
			run++
			if run > sh.run {
				sh.run, sh.runAt = run, i-run+1
			}
			continue
		}
		if run > 0 {
			sh.changes++
			run = 0
		}
		if cl&isHex != 0 {
			sh.hex++
		} else {
			sh.other++
		}
	}
	return sh
}

// identifier handles a word with letters before its first digit at k.
func identifier(b []byte, from, s, k int) (int, int, kind) {
	e := runOf(b, k+1, wordMask)
	w := b[s:e]
	sh := shapeOf(w)
	if s, e, ok := id(b, from, s, e, sh); ok {
		return s, e, ident
	}
	if len(w) == 5 && sh.run == 4 && sh.runAt == 1 && datetime.Clock(b, e+1) > 0 { // I1121 09:12:05.7
		return s + 1, datetime.Clock(b, e+1), moment
	}
	if sh.run >= 6 {
		return s + sh.runAt, s + sh.runAt + sh.run, masked
	}
	if datetime.Month(b, s) == k { // Nov21
		return s, e, moment
	}
	for i := k; i < e; i++ { // rdd_42: a number in a name, but not the one of a code (E501)
		if ascii.Digit(b[i]) && (b[i-1] == '_' || b[i-1]-'a' < 26) {
			return i, ascii.Digits(b, i), number
		}
	}
	return s, e, plain
}

// id reports whether and where the word b[s:e] contains an id: a UUID, a hash, or a string
// that looks random.
func id(b []byte, from, s, e int, sh wordShape) (int, int, bool) {
	if n := uuidAt(b, s); n > 0 {
		return s, s + n, true
	}
	if s, e, ok := podSpan(b, from, s, e); ok {
		return s, e, true
	}
	if n := e - s; sh.other == 0 && (n >= 8 || n >= 6 && sh.digits > 1 || n == 7 && !ascii.Digit(b[e-1])) {
		return s, e, true
	}
	return randomSpan(b, from, s, e)
}

// uuidAt returns the length of a UUID at s, or 0.
func uuidAt(b []byte, s int) int {
	if s+36 > len(b) {
		return 0
	}
	const (
		dash   = uint64('-')
		first  = 0xff | 0xff<<40 // in -xxxx-xx
		second = 0xff<<16 | 0xff<<56
	)
	u := b[s : s+36]
	v, w := binary.LittleEndian.Uint64(u[8:]), binary.LittleEndian.Uint64(u[16:])
	if v&first != dash|dash<<40 || w&second != dash<<16|dash<<56 {
		return 0
	}
	v, w = v&^first|first&(ones*'0'), w&^second|second&(ones*'0')
	if hexDigits(binary.LittleEndian.Uint64(u))&hexDigits(v)&hexDigits(w)&hexDigits(binary.LittleEndian.Uint64(u[24:]))&hexDigits(binary.LittleEndian.Uint64(u[28:])) != highs {
		return 0
	}
	if s+36 < len(b) && word(b[s+36]) {
		return 0
	}
	return 36
}

// numeric handles a word that starts with the digit at k.
func numeric(b []byte, from, k int) (int, int, kind) {
	n := ascii.Digits(b, k)
	if e := datetime.From(b, k, n); e > 0 {
		return datetime.WithMonth(b, from, k), e, moment
	}
	if n < len(b) && classOf[b[n]]&(isAlpha|isUnder) != 0 {
		if s, e, kd, ok := mixedWord(b, from, k, n); ok {
			return s, e, kd
		}
	}
	if n-k <= 2 && k > from+3 && b[k-1] == ' ' {
		if s := datetime.WithMonth(b, from, k); s < k {
			return s, datetime.YearAfter(b, n), moment
		}
	}
	if n-k == 8 {
		if e := uuidAt(b, k); e > 0 {
			return k, k + e, ident
		}
	}
	e, digits, parts := wholeNumber(b, k, n)
	if parts == 4 {
		if ascii.At(b, e) == ':' && ascii.Digit(ascii.At(b, e+1)) {
			e = ascii.Digits(b, e+1)
		}
		return k, e, masked // an IPv4 address
	}
	if parts == 3 {
		return k, e, plain // a version
	}
	if u, kd := unitAt(b, e); kd == amount && ofWork(b) {
		return k, e, number
	} else if kd != plain {
		return k, u, kd
	}
	if e < len(b) && word(b[e]) { // 2nd, 3x
		e = runOf(b, e, wordMask)
		return k, e, plain
	}
	kd := numberKind(b, k, e, digits)
	if kd == masked && k > from && b[k-1] == '-' && (k-1 == from || !letter(b[k-2]) && !ascii.Digit(b[k-2])) {
		return k - 1, e, masked // a sign
	}
	return k, e, kd
}

// mixedWord handles a word of digits first and letters after: 12ms, 0x7f, 5f2e9c1a.
func mixedWord(b []byte, from, k, n int) (s, e int, kd kind, ok bool) {
	e = n
	e = runOf(b, e, wordMask)
	w := b[k:e]
	if w[0] == '0' && len(w) > 2 && (w[1] == 'x' || w[1] == 'X') {
		return k, e, ident, true
	}
	if u, uk := unitAt(b, n); uk == amount && ofWork(b) {
		return k, n, number, true
	} else if uk != plain {
		return k, u, uk, true
	}
	sh := shapeOf(w)
	if len(w) >= 15 && n-k == 8 && b[n] == 'T' && ascii.Digits(b, n+1) == n+7 { // 20261121T091205Z
		return k, e, moment, true
	}
	if s, e, ok := id(b, from, k, e, sh); ok {
		return s, e, ident, true
	}
	if sh.run >= 6 {
		return k + sh.runAt, k + sh.runAt + sh.run, masked, true
	}
	return k, e, plain, true
}

// wholeNumber extends the digits b[k:n] over thousands separators and dotted parts. It returns
// the end, the number of digits and the number of dotted parts.
func wholeNumber(b []byte, k, n int) (e, digits, parts int) {
	e, digits, parts = n, n-k, 1
	for n-k <= 3 && ascii.At(b, e) == ',' && ascii.Digits(b, e+1) == e+4 {
		e, digits = e+4, digits+3
	}
	for parts < 4 && ascii.At(b, e) == '.' && ascii.Digit(ascii.At(b, e+1)) {
		f := ascii.Digits(b, e+1)
		digits += f - e - 1
		e, parts = f, parts+1
	}
	return e, digits, parts
}
