// Package ascii examines single bytes of a text: what tools print between words is ASCII,
// whatever the words are.
package ascii

// Digit reports whether c is one of 0 to 9.
func Digit(c byte) bool { return c-'0' < 10 }

// Letter reports whether c is one of A to Z, in either case.
func Letter(c byte) bool { return c|0x20-'a' < 26 }

// Digits returns the end of the digits that begin at i, or i if there are none.
func Digits(b []byte, i int) int {
	for i < len(b) && Digit(b[i]) {
		i++
	}
	return i
}

// At returns b[i], or 0 outside of b.
func At(b []byte, i int) byte {
	if uint(i) < uint(len(b)) {
		return b[i]
	}
	return 0
}

// Lowered returns a word in lower case. It returns nil for a word longer than to, which is
// longer than any word in the lists that it is looked up in.
func Lowered(to *[24]byte, w []byte) []byte {
	if len(w) > len(to) {
		return nil
	}
	for i, c := range w {
		if c-'A' < 26 {
			c |= 0x20
		}
		to[i] = c
	}
	return to[:len(w)]
}

// Marked returns w with the high bit set for each of its eight bytes that is a digit, and all
// other bits clear.
func Marked(w uint64) uint64 {
	x := w ^ ones*'0' // 0 to 9 for digits
	return ^(x&^highs + (0x80-10)*ones | x) & highs
}

// Zeroed returns w, eight bytes, with 0 in place of each digit.
func Zeroed(w uint64) uint64 {
	d := Marked(w)
	return w &^ (d>>3 - d>>7)
}

const ones, highs = 0x0101010101010101, 0x8080808080808080
