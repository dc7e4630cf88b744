// Package ascii says what stands at a place of a text, in bytes: what tools print
// between words is ASCII, whatever the words are.
package ascii

// Digit reports whether c is one of 0 to 9.
func Digit(c byte) bool { return c-'0' < 10 }

// Letter reports whether c is one of A to Z, small or not.
func Letter(c byte) bool { return c|0x20-'a' < 26 }

// Digits returns the end of the digits that begin at i; i where there are none.
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

// Lowered is a word in small letters, nil for one that is longer than to: than any word of a
// list that it is looked up in.
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

// Marked has the high bit of each of eight bytes that is a digit.
func Marked(w uint64) uint64 {
	x := w ^ ones*'0' // 0 to 9 for digits
	return ^(x&^highs + (0x80-10)*ones | x) & highs
}

// Zeroed is w, eight bytes, with 0 for each digit.
func Zeroed(w uint64) uint64 {
	d := Marked(w)
	return w &^ (d>>3 - d>>7)
}

const ones, highs = 0x0101010101010101, 0x8080808080808080
